package validate

import (
	"bytes"
	"encoding/json"
	"math"
	"slices"
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"
)

// TestCellByHand: errors of -10, +20, 0, +40 and -30 % have absolute values 0, 10,
// 20, 30, 40, whose median is 20 and whose 90th percentile is 30 + 0.6·10.
func TestCellByHand(t *testing.T) {
	got := sumUp(Key{}, []float64{-10, 20, 0, 40, -30})
	if d := cmp.Diff(Cell{N: 5, Median: 20, P90: 36, Bias: 4}, got); d != "" {
		t.Error(d)
	}
}

// Laws: median and P90 lie among the absolute errors, P90 is not below the median,
// and the bias is at most the largest error.
func TestCellLaws(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		errors := rapid.SliceOfN(rapid.Float64Range(-100, 1000), 1, 40).Draw(t, "errors")
		c := sumUp(Key{}, errors)
		most, least := 0.0, math.Inf(1)
		for _, e := range errors {
			most, least = max(most, math.Abs(e)), min(least, math.Abs(e))
		}
		if c.N != len(errors) || c.Median < least || c.P90 < c.Median || c.P90 > most || math.Abs(c.Bias) > most*(1+1e-12) {
			t.Fatalf("%+v of %v", c, errors)
		}
	})
}

// sample is a few rows of each split, one of which cannot be simulated.
func sample(t *testing.T) *Report {
	t.Helper()
	return NewReport(simulated(t, Options{},
		chat(nil),
		chat(map[string]string{"id": "b", "split": "calibration", "gpu": "B200", "out_tok_s": "100"}),
		chat(map[string]string{"id": "c", "split": "excluded", "ttft_ok": "0"}),
		chat(map[string]string{"id": strings.Repeat("long-", 30), "engine": "trtllm", "gpu": "H200"}),
		chat(map[string]string{"id": "e", "model": "gpt-2"}),
	))
}

// TestEveryLineIsInOneCell holds that each table of a split sums up every figure
// once, and that splits do not mix.
func TestEveryLineIsInOneCell(t *testing.T) {
	r := sample(t)
	for _, p := range r.Splits {
		n := 0
		for _, l := range r.Lines {
			if l.Row.Split == p.Split && l.Skipped == "" {
				n++
			}
		}
		for by, cells := range p.Cells {
			sum := 0
			for _, c := range cells {
				sum += c.N
				if c.Split != p.Split {
					t.Errorf("%s: a cell of %s", p.Split, c.Split)
				}
			}
			if sum != n {
				t.Errorf("%s by %s: %d figures in cells, want %d", p.Split, by, sum, n)
			}
			if !slices.IsSortedFunc(cells, func(a, b Cell) int { return a.compare(b.Key) }) {
				t.Errorf("%s by %s: cells are out of order", p.Split, by)
			}
		}
	}
}

func TestReport(t *testing.T) {
	r := sample(t)
	if len(r.Splits) != 3 || r.Splits[0].Split != HeldOut || r.Splits[0].Rows != 3 || r.Splits[0].Simulated != 2 {
		t.Errorf("splits are %+v", r.Splits)
	}
	if d := cmp.Diff([]Count{{"no model gpt-2", 1}}, r.Splits[0].Skipped); d != "" {
		t.Error(d)
	}
	if d := cmp.Diff([]Count{{untrustedTTFT, 1}}, r.Splits[2].Figures); d != "" {
		t.Error(d)
	}
	var text, markdown, machine bytes.Buffer
	if err := Text(&text, r); err != nil {
		t.Fatal(err)
	}
	for i, line := range strings.Split(text.String(), "\n") {
		if utf8.RuneCountInString(line) > width {
			t.Errorf("line %d of the text has %d columns: %s", i+1, utf8.RuneCountInString(line), line)
		}
	}
	if err := Markdown(&markdown, r); err != nil {
		t.Fatal(err)
	}
	for _, want := range []string{"Held-out rows", "no model gpt-2", "tpot_mean_ms"} {
		if !strings.Contains(text.String(), want) || !strings.Contains(markdown.String(), want) {
			t.Errorf("text or Markdown lacks %q", want)
		}
	}
	if err := JSON(&machine, r); err != nil {
		t.Fatal(err)
	}
	var top struct {
		Kind   string
		Splits []struct{ Cells []map[string]any }
	}
	if err := json.Unmarshal(machine.Bytes(), &top); err != nil || top.Kind != "servesim-validate" || len(top.Splits) != 3 || len(top.Splits[0].Cells) == 0 {
		t.Errorf("JSON: %v, %+v", err, top)
	}
}

func TestWriteCSV(t *testing.T) {
	rows := rowsOf(t, chat(nil))
	lines := []Line{
		{Row: &rows[0], Metric: TTFTMean, Measured: 10, Simulated: 12.5, Saturated: true},
		{Row: &rows[0], Metric: TPOTMean, Measured: 5.5, Simulated: math.NaN(), Skipped: "why, indeed"},
	}
	var b bytes.Buffer
	if err := WriteCSV(&b, lines); err != nil {
		t.Fatal(err)
	}
	want := `id,split,gpu,engine,model,metric,measured,simulated,error_pct,saturated,skipped_reason
a,heldout,H100,vllm,llama-3.1-8b,ttft_mean_ms,10,12.5000,25.00,1,
a,heldout,H100,vllm,llama-3.1-8b,tpot_mean_ms,5.5,,,0,"why, indeed"
`
	if d := cmp.Diff(want, b.String()); d != "" {
		t.Error(d)
	}
}
