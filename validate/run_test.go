package validate

import (
	"bytes"
	"context"
	"math"
	"strings"
	"testing"

	"servesim/sim"
	"servesim/sim/gpu"

	"github.com/google/go-cmp/cmp"
)

// simulated runs rows.
func simulated(t *testing.T, o Options, rows ...map[string]string) []RowResult {
	t.Helper()
	results, err := Run(context.Background(), rowsOf(t, rows...), o)
	if err != nil {
		t.Fatal(err)
	}
	return results
}

// TestOneUserByHand holds that a closed loop of one user sees what the cost model
// says: TTFT is the request's delay and the step of its prompt, and TPOT the mean
// of the decode steps, whose contexts are 101 to 119 tokens.
func TestOneUserByHand(t *testing.T) {
	r := simulated(t, Options{}, chat(map[string]string{"concurrency": "1"}))[0]
	s, err := Setup(r.Row, Options{})
	if err != nil {
		t.Fatal(err)
	}
	cost, err := gpu.NewCost(s)
	if err != nil {
		t.Fatal(err)
	}
	var w gpu.Work
	w.AddChunk(0, 100, true)
	ttft := sim.Duration(1e12*s.Profile.Engine[s.Engine].RequestS) + cost.Step(w)
	var decode sim.Duration
	for kv := int64(101); kv < 120; kv++ {
		decode += cost.Step(gpu.Work{DecodeSeqs: 1, DecodeKV: kv, Samples: 1})
	}
	for m, want := range map[Metric]float64{
		TTFTMean: ttft.Milliseconds(), TTFTP99: ttft.Milliseconds(), TPOTMean: (decode / 19).Milliseconds(),
		E2EMean: (ttft + decode).Milliseconds(), OutputRate: 20 / (ttft + decode).Seconds(),
	} {
		if got := r.Simulated[m]; math.Abs(got/want-1) > 1e-9 {
			t.Errorf("%v is %v, by hand %v", m, got, want)
		}
	}
	if r.Saturated || r.Skipped != "" {
		t.Errorf("saturated %v, skipped %q", r.Saturated, r.Skipped)
	}
}

func TestSkips(t *testing.T) {
	for _, c := range []struct {
		key, value, want string
	}{
		{"gpu", "A100", "no profile of GPU A100"},
		{"model", "gpt-2", "no model gpt-2"},
		{"weight_dtype", "", "number formats not recorded"},
		{"weight_dtype", "int3", "no coefficients of weight format int3"},
		{"kv_dtype", "fp4", "no coefficients of KV format fp4"},
		{"engine", "tgi", "engine tgi is not one that is modelled"},
		{"load", "open", "arrival rate unknown"},
		{"load", "bursts", "load bursts is not one that can be replayed"},
		{"len_dist", "sharegpt", `length distribution "sharegpt" is not documented`},
		{"isl", "", "lengths not recorded"},
		{"concurrency", "", "concurrency not recorded"},
		{"tp", "", "number of GPUs not recorded"},
		{"model", "llama-3.1-405b", "memory: "},
	} {
		r := simulated(t, Options{}, chat(map[string]string{c.key: c.value}))[0]
		if !strings.HasPrefix(r.Skipped, c.want) {
			t.Errorf("%s %q: skipped is %q, want %q", c.key, c.value, r.Skipped, c.want)
		}
		for _, l := range Lines([]RowResult{r}) {
			if l.Skipped == "" || !math.IsNaN(l.Simulated) {
				t.Errorf("%s %q: line %+v is not skipped", c.key, c.value, l)
			}
		}
	}
}

// TestWorkersDoNotMatter holds that the result is the same however many rows run
// at a time.
func TestWorkersDoNotMatter(t *testing.T) {
	var rows []map[string]string
	for _, id := range []string{"a", "b", "c", "d", "e"} {
		rows = append(rows, chat(map[string]string{"id": id, "concurrency": "3", "len_dist": "uniform[0.8,1]"}))
	}
	rows[2]["gpu"], rows[3]["load"], rows[3]["rate_rps"] = "B200", "open-poisson", "3"
	var text [2]bytes.Buffer
	for i, workers := range []int{1, 4} {
		calls := 0
		if err := WriteCSV(&text[i], Lines(simulated(t, Options{Workers: workers, Done: func() { calls++ }}, rows...))); err != nil {
			t.Fatal(err)
		}
		if calls != len(rows) {
			t.Errorf("Done was called %d times for %d rows", calls, len(rows))
		}
	}
	if d := cmp.Diff(text[0].String(), text[1].String()); d != "" {
		t.Error(d)
	}
}

// TestSaturation: 300 users with 8000-token prompts do not fit in one H100 beside
// an 8B model, 2 do.
func TestSaturation(t *testing.T) {
	few := map[string]string{"isl": "8000", "osl": "100"}
	many := map[string]string{"id": "b", "isl": "8000", "osl": "100", "concurrency": "300", "num_requests": "400"}
	r := simulated(t, Options{}, chat(few), chat(many))
	if r[0].Saturated || !r[1].Saturated {
		t.Errorf("saturated: 2 users %v, 300 users %v", r[0].Saturated, r[1].Saturated)
	}
}

func TestInterrupted(t *testing.T) {
	ctx, cancel := context.WithCancel(context.Background())
	cancel()
	if _, err := Run(ctx, rowsOf(t, chat(nil)), Options{}); err == nil {
		t.Error("no error of a run that was interrupted before it began")
	}
}

func TestPresets(t *testing.T) {
	for _, c := range []struct{ engine, version, preset, note string }{
		{"vllm", "0.10.2", "vllm@0.11", ""},
		{"vllm", "0.11.0", "vllm@0.11", ""},
		{"vllm", "0.12.0", "vllm@0.20", ""},
		{"vllm", "0.6.3", "vllm@0.8-v0", ""},
		{"vllm", "", "vllm@0.20", "not stated"},
		{"vllm", "2023", "vllm@0.8-v0", "V0"},
		{"trtllm", "1.1.0rc2", "vllm@0.20", "not its own"},
	} {
		name, note := presetOf(&Row{Engine: c.engine, Version: c.version})
		if name != c.preset || !strings.Contains(note, c.note) || c.note == "" && note != "" {
			t.Errorf("%s %s: %s, %q; want %s, %q", c.engine, c.version, name, note, c.preset, c.note)
		}
	}
}

// TestCachedPromptsCostLittle holds that a prompt out of the prefix cache costs
// as much as its last tokens.
func TestCachedPromptsCostLittle(t *testing.T) {
	s, err := Setup(&rowsOf(t, chat(nil))[0], Options{})
	if err != nil {
		t.Fatal(err)
	}
	plain, err := gpu.NewCost(s)
	if err != nil {
		t.Fatal(err)
	}
	var whole, last gpu.Work
	whole.AddChunk(0, 1000, true)
	last.AddChunk(996, 4, true)
	if got, want := (cachedCost{plain, 1000}).Step(whole), plain.Step(last); got != want {
		t.Errorf("a cached prompt takes %v, its last 4 tokens %v", got, want)
	}
}
