package validate

import (
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

// header is the header line of a table with every column.
func header() string {
	names := columns()
	for _, m := range Metrics() {
		names = append(names, m.String())
	}
	return strings.Join(names, ",")
}

// tableOf returns a table whose rows have the given fields, by column.
func tableOf(rows ...map[string]string) string {
	var b strings.Builder
	b.WriteString(header() + "\n")
	for _, r := range rows {
		var fields []string
		for _, c := range strings.Split(header(), ",") {
			f := r[c]
			if strings.ContainsAny(f, ",\"") {
				f = `"` + strings.ReplaceAll(f, `"`, `""`) + `"`
			}
			fields = append(fields, f)
		}
		b.WriteString(strings.Join(fields, ",") + "\n")
	}
	return b.String()
}

// chat is a row that can be simulated, with changes.
func chat(changes map[string]string) map[string]string {
	r := map[string]string{
		"id": "a", "split": "heldout", "model": "llama-3.1-8b", "gpu": "H100", "tp": "1", "ep": "1",
		"weight_dtype": "bf16", "kv_dtype": "bf16", "engine": "vllm", "engine_version": "0.11.0", "load": "closed",
		"isl": "100", "osl": "20", "len_dist": "fixed", "concurrency": "2", "ttft_ok": "1", "source": "x",
		"ttft_mean_ms": "10", "tpot_mean_ms": "5.5",
	}
	for k, v := range changes {
		r[k] = v
	}
	return r
}

// rowsOf reads a table of rows.
func rowsOf(t *testing.T, rows ...map[string]string) []Row {
	t.Helper()
	list, err := Read(strings.NewReader(tableOf(rows...)), "t.csv")
	if err != nil {
		t.Fatal(err)
	}
	return list
}

func TestRead(t *testing.T) {
	want := Row{
		Line: 2, ID: "a", Source: "x", Split: HeldOut, Model: "llama-3.1-8b", GPU: "H100", Engine: "vllm", Version: "0.11.0",
		TP: 1, EP: 1, Weights: "bf16", KV: "bf16", Load: Closed, Prompt: 100, Output: 20, Lengths: "fixed", Concurrency: 2, TTFTTrusted: true,
	}
	want.Measured[TTFTMean], want.Measured[TPOTMean] = 10, 5.5
	if d := cmp.Diff([]Row{want}, rowsOf(t, chat(nil))); d != "" {
		t.Error(d)
	}
}

func TestReadFaults(t *testing.T) {
	for _, c := range []struct{ name, text, want string }{
		{"nothing", "", "t.csv: empty"},
		{"no columns", "id,split\na,heldout\n", "t.csv: line 1: the header lacks note, model, gpu"},
		{"no metric", strings.Join(columns(), ",") + "\n", "the header lacks at least one metric"},
		{"split", tableOf(chat(map[string]string{"split": "test"})), `line 2: column split: found "test"; it must be calibration, heldout or excluded`},
		{"number", tableOf(chat(map[string]string{"tpot_mean_ms": "fast"})), `line 2: column tpot_mean_ms: found "fast"`},
		{"negative", tableOf(chat(map[string]string{"isl": "-4"})), `line 2: column isl: found "-4"`},
		{"not whole", tableOf(chat(map[string]string{"tp": "1.5"})), `line 2: column tp: found "1.5"; it must be a whole number`},
		{"infinite", tableOf(chat(map[string]string{"ttft_mean_ms": "+Inf"})), `column ttft_mean_ms: found "+Inf"`},
		{"trust", tableOf(chat(map[string]string{"ttft_ok": "yes"})), `line 2: column ttft_ok: found "yes"`},
		{"two of one name", tableOf(chat(nil), chat(nil)), `line 3: column id: found "a", the id of line 2`},
		{"no name", tableOf(chat(map[string]string{"id": ""})), "line 2: column id: empty"},
		{"two at once", tableOf(chat(map[string]string{"split": "?", "osl": "x"})), `column osl: found "x"`},
		{"ragged", header() + "\na,b\n", "t.csv: line 2: found 2 fields; give it 30, one for each column of the header"},
	} {
		_, err := Read(strings.NewReader(c.text), "t.csv")
		if err == nil || !strings.Contains(err.Error(), c.want) {
			t.Errorf("%s: error is %v; want one with %q", c.name, err, c.want)
		}
	}
}

// TestReadTellsTwenty holds that a table of which every line is wrong is told in
// a page.
func TestReadTellsTwenty(t *testing.T) {
	text := header() + "\n" + strings.Repeat(strings.Repeat("x,", len(columns())+metricCount-1)+"x\n", 50)
	_, err := Read(strings.NewReader(text), "t.csv")
	if lines := strings.Split(err.Error(), "\n"); len(lines) != maxFaults+1 || !strings.Contains(lines[maxFaults], "faults more") {
		t.Errorf("%d lines, the last is %q", len(lines), lines[len(lines)-1])
	}
}
