package workload_test

import (
	"encoding/csv"
	"math"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"servesim/internal/strict"
	"servesim/sim/workload"
)

// facts reads a table of the shared workload statistics, without its head,
// keyed by column.
func facts(t *testing.T, name string) []map[string]string {
	t.Helper()
	dir, err := os.Getwd()
	if err != nil {
		t.Fatal(err)
	}
	for !exists(filepath.Join(dir, "go.mod")) {
		if dir == filepath.Dir(dir) {
			t.Fatal("no go.mod above the test")
		}
		dir = filepath.Dir(dir)
	}
	path := filepath.Join(dir, "..", "shared", "workloads", name)
	if !exists(path) {
		t.Skipf("%s, the statistics that presets are checked against, is not here", path)
	}
	file, err := os.Open(path)
	if err != nil {
		t.Fatal(err)
	}
	defer file.Close()
	rows, err := csv.NewReader(file).ReadAll()
	if err != nil {
		t.Fatal(err)
	}
	var list []map[string]string
	for _, row := range rows[1:] {
		m := map[string]string{}
		for i, cell := range row {
			m[rows[0][i]] = cell
		}
		list = append(list, m)
	}
	return list
}

func exists(path string) bool {
	_, err := os.Stat(path)
	return err == nil
}

func number(t *testing.T, s string) float64 {
	t.Helper()
	v, err := strconv.ParseFloat(s, 64)
	if err != nil {
		t.Fatal(err)
	}
	return v
}

// sampleSize is the number of requests drawn from each preset: at 100,000,
// sampling alone moves a distribution function by 1.95/sqrt(n) = 0.0062 with
// probability 0.001.
const sampleSize = 100_000

func sampling(n int) float64 { return 1.95 / math.Sqrt(float64(n)) }

// draw returns the requests of a preset that are of a class.
func draw(t *testing.T, preset, class string) []workload.Request {
	t.Helper()
	all := drawAll(t, `preset = "`+preset+`"`+"\nrequests = "+strconv.Itoa(sampleSize), 21)
	return slices.DeleteFunc(all, func(r workload.Request) bool { return r.Class != class })
}

// beyond returns how far the share of sample is from the p that value v has as
// its nearest-rank quantile: F(v) must be at least p, and F just below v at
// most p.
func beyond(sample []int32, p, v float64) float64 {
	var under, upTo int
	for _, x := range sample {
		if float64(x) < v {
			under++
		}
		if float64(x) <= v {
			upTo++
		}
	}
	n := float64(len(sample))
	return max(0, p-float64(upTo)/n, float64(under)/n-p)
}

// TestPresetsFollowTheirTraces measures the Kolmogorov distance between draws
// and the published quantiles. Prompts, and outputs without bins, are drawn
// from those very knots, so only sampling may part them. Outputs drawn by bin
// of the prompt add what 15 quantiles a bin lose; the statistics give it for
// each trace ("Generator check").
func TestPresetsFollowTheirTraces(t *testing.T) {
	for _, c := range []struct {
		preset, class, trace string
		bins                 float64
	}{
		{"azure-chat", "", "azure2023_conv", 0.014},
		{"chat-with-long-prompts", "chat", "azure2023_conv", 0.014},
		{"azure-code", "", "azure2023_code", 0},
		{"mooncake-chat", "", "mooncake_conversation", 0},
		{"document-qa", "", "mooncake_synthetic", 0.017},
		{"reasoning", "", "servegen_deepseek_r1", 0},
		{"arxiv-summarization", "", "vidur_arxiv_summarization", 0.008},
	} {
		t.Run(c.preset, func(t *testing.T) {
			rows := facts(t, "knots.csv")
			all := draw(t, c.preset, c.class)
			prompts, outputs := make([]int32, len(all)), make([]int32, len(all))
			for i, r := range all {
				prompts[i], outputs[i] = r.Prompt, r.Output
			}
			for _, f := range []struct {
				name   string
				sample []int32
				bound  float64
			}{{"prompt", prompts, sampling(len(all))}, {"output", outputs, sampling(len(all)) + c.bins}} {
				knots, worst := 0, 0.0
				for _, row := range rows {
					if row["trace"] == c.trace && row["field"] == f.name {
						knots++
						worst = max(worst, beyond(f.sample, number(t, row["p"])/100, number(t, row["value"])))
					}
				}
				t.Logf("%s: distance %.4f over %d knots, bound %.4f", f.name, worst, knots, f.bound)
				if knots != 51 || worst > f.bound {
					t.Errorf("%s: distance %.4f over %d knots; want at most %.4f over 51", f.name, worst, knots, f.bound)
				}
			}
		})
	}
}

// TestOutputsFollowPrompts checks the median output in each tenth of the
// prompts. A bin knows the quantiles 0.40, 0.50 and 0.60, and a tenth is two
// bins; so its median may be off by a tenth at most, and by sampling.
func TestOutputsFollowPrompts(t *testing.T) {
	for preset, trace := range map[string]string{
		"azure-chat": "azure2023_conv", "document-qa": "mooncake_synthetic", "arxiv-summarization": "vidur_arxiv_summarization",
	} {
		rows := facts(t, "output_by_prompt_decile.csv")
		all := draw(t, preset, "")
		slices.SortStableFunc(all, func(a, b workload.Request) int { return int(a.Prompt) - int(b.Prompt) })
		tenth, seen := len(all)/10, 0
		for _, row := range rows {
			if row["trace"] != trace {
				continue
			}
			seen++
			i := int(number(t, row["decile"])) * tenth
			outputs := make([]int32, tenth)
			for j := range outputs {
				outputs[j] = all[i+j].Output
			}
			if d := beyond(outputs, 0.5, number(t, row["output_p50"])); d > 0.1+sampling(tenth) {
				t.Errorf("%s, tenth %s: the trace's median output is %.2f away from being the median", preset, row["decile"], d)
			}
		}
		if seen != 10 {
			t.Errorf("%s: %d tenths in the statistics, want 10", preset, seen)
		}
	}
}

// TestPresetRates compares mean rates with those of the traces. The mean of
// whole minutes differs from the trace's by under 1 %, and the sample's error
// is 1/sqrt(n) = 0.3 %, so 2 % holds. TestOnOffRate has azure-code.
func TestPresetRates(t *testing.T) {
	for _, c := range []struct {
		preset string
		want   float64
	}{{"azure-chat", 5.530}, {"mooncake-chat", 3.401}, {"document-qa", 3.906}, {"chat-with-long-prompts", 5.530}} {
		all := drawAll(t, `preset = "`+c.preset+`"`+"\nrequests = 100000", 21)
		got := float64(len(all)) / all[len(all)-1].Arrival.Seconds()
		if math.Abs(got/c.want-1) > 0.02 {
			t.Errorf("%s: %.3f requests/s, want %.3f", c.preset, got, c.want)
		}
	}
}

// TestLongPromptsAreFew pins what makes chat-with-long-prompts: one prompt in a
// hundred has 8k to 32k tokens, by class and by length.
func TestLongPromptsAreFew(t *testing.T) {
	long := draw(t, "chat-with-long-prompts", "long")
	for _, r := range long {
		if r.Prompt < 8192 || r.Prompt > 32768 {
			t.Fatalf("a long prompt has %d tokens", r.Prompt)
		}
	}
	// The count is binomial: four standard deviations about 1 in 100.
	want := sampleSize / 100.0
	if got := float64(len(long)); math.Abs(got-want) > 4*math.Sqrt(want) {
		t.Errorf("%g of %d prompts are long, want %g", got, sampleSize, want)
	}
}

func TestPresets(t *testing.T) {
	var names []string
	for _, p := range workload.Presets() {
		names = append(names, p.Name)
		if p.Description == "" || len(p.Description) > 100 || !strings.HasSuffix(p.Description, ".") {
			t.Errorf("%s: description %q; want one sentence of at most 100 characters", p.Name, p.Description)
		}
		head, _, _ := strings.Cut(p.Text, "\nrequests")
		if !strings.Contains(head, "CC-BY-4.0") && !strings.Contains(head, "Apache-2.0") && !strings.Contains(head, "MIT") {
			t.Errorf("%s: no licence in the comment", p.Name)
		}
		for _, over := range []string{"", "rate_per_s = 3.5\n", "requests = 7\n", "duration = \"1m\"\n", `output = { dist = "constant", value = 9 }` + "\nclasses = []\n"} {
			spec, err := workload.ParseSpec("spec.toml", over+`preset = "`+p.Name+`"`)
			if err != nil {
				t.Fatal(err)
			}
			if faults := spec.Check(); len(faults) > 0 {
				t.Errorf("%s with %q: %v", p.Name, over, faults)
			}
		}
	}
	want := []string{"arxiv-summarization", "azure-chat", "azure-code", "chat-with-long-prompts", "document-qa", "llmperf", "mooncake-chat", "reasoning"}
	if !slices.Equal(names, want) {
		t.Errorf("presets %q, want %q", names, want)
	}
}

func TestKeysReplaceThoseOfAPreset(t *testing.T) {
	base := drawAll(t, `preset = "azure-chat"`, 3)
	if len(base) != 10_000 {
		t.Fatalf("%d requests, want 10000", len(base))
	}
	fast := drawAll(t, "preset = \"azure-chat\"\nrate_per_s = 1000", 3)
	if !slices.EqualFunc(base, fast, func(a, b workload.Request) bool { return a.Prompt == b.Prompt && a.Output == b.Output }) {
		t.Error("another rate gave other requests")
	}
	if got := 10_000 / fast[9999].Arrival.Seconds(); got < 560 || got > 640 {
		// The first 10 s are within the first minute, whose rate is 3.183/5.54 of the mean.
		t.Errorf("rate %.0f in the first minute, want 1000*3.183/5.54 = 575 within 4 %%", got)
	}
	timed := drawAll(t, "preset = \"azure-chat\"\nduration = \"30s\"", 3)
	if n := len(timed); n == 0 || n > 300 || timed[n-1].Arrival.Seconds() >= 30 {
		t.Errorf("%d requests in 30 s", n)
	}
	short := drawAll(t, "preset = \"azure-chat\"\nrequests = 20\noutput = { dist = \"constant\", value = 9 }", 3)
	for i, r := range short {
		if r.Output != 9 || r.Prompt != base[i].Prompt || r.Arrival != base[i].Arrival {
			t.Errorf("request %d is %+v, of the preset %+v", i, r, base[i])
		}
	}
}

// TestPresetsReadBack: a resolved preset, written as TOML, is the same Spec.
func TestPresetsReadBack(t *testing.T) {
	for _, p := range workload.Presets() {
		spec, err := workload.Spec{Preset: p.Name}.Resolve()
		if err != nil {
			t.Fatal(err)
		}
		again, err := workload.ParseSpec(p.Name, strict.Encode(spec))
		if err != nil {
			t.Fatal(err)
		}
		if diff := cmp.Diff(spec, again); diff != "" {
			t.Errorf("%s:\n%s", p.Name, diff)
		}
	}
}
