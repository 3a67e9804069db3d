package export

import (
	"encoding/json"
	"math"
	"math/big"
	"os"
	"slices"
	"strings"
	"testing"

	"servesim/analysis"
	"servesim/analysis/dialect"
	"servesim/analysis/transcript"
)

// measuredRuns are four runs of vLLM 0.19 that LLMServingSim's authors recorded.
func measuredRuns() []string {
	return []string{"RTX4090-Llama-3.1-8B", "RTXPRO6000-Llama-3.1-8B", "RTXPRO6000-Qwen3-30B-A3B-Instruct-2507", "RTXPRO6000-Qwen3-32B"}
}

// byHand reads a run with encoding/json, and returns TTFT and the mean time per
// token after the first of each of its requests, in ms, with exact subtraction.
func byHand(t *testing.T, path string) (ttft, tpot []float64) {
	data, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	for line := range strings.Lines(string(data)) {
		var r struct {
			Output int64       `json:"output_toks"`
			Queued json.Number `json:"queued_ts"`
			First  json.Number `json:"first_token_ts"`
			Last   json.Number `json:"last_token_ts"`
		}
		if err := json.Unmarshal([]byte(line), &r); err != nil {
			t.Fatal(err)
		}
		ms := func(a, b json.Number, n int64) float64 {
			from, _ := new(big.Rat).SetString(a.String())
			to, _ := new(big.Rat).SetString(b.String())
			d := to.Sub(to, from)
			f, _ := d.Mul(d, big.NewRat(1000, n)).Float64()
			return f
		}
		ttft = append(ttft, ms(r.Queued, r.First, 1))
		tpot = append(tpot, ms(r.First, r.Last, r.Output-1))
	}
	return ttft, tpot
}

// meanAndP99 returns the mean of values and their P99 between neighbours, as
// numpy has it.
func meanAndP99(values []float64) (mean, p99 float64) {
	values = slices.Sorted(slices.Values(values))
	for _, v := range values {
		mean += v / float64(len(values))
	}
	at := 0.99 * float64(len(values)-1)
	i := int(at)
	return mean, values[i] + (at-float64(i))*(values[i+1]-values[i])
}

// TestMeasuredRunsEqualTheirArithmetic analyses four measured runs and compares
// with the figures worked out another way. Gaps aren't recorded: the ITL of a
// request is its mean, in the dialects that mean that; pooled gaps are refused.
func TestMeasuredRunsEqualTheirArithmetic(t *testing.T) {
	ds, err := dialect.Parse("vllm,aiperf")
	if err != nil {
		t.Fatal(err)
	}
	p99, err := analysis.ParsePercentiles("99")
	if err != nil {
		t.Fatal(err)
	}
	for _, name := range measuredRuns() {
		t.Run(name, func(t *testing.T) {
			src := fileSource(t, "traces/llmservingsim/"+name+"/requests.jsonl")
			f, err := Read(src)
			if err != nil {
				t.Fatal(err)
			}
			var sink *dialect.Sink
			err = f.Replay(func(r *Run) (transcript.Sink, error) {
				sink = dialect.New(ds, dialect.Options{Facts: r.Facts, Percentiles: p99})
				return sink, nil
			})
			if err != nil || f.Runs[0].Calls != 300 || f.Runs[0].Completed != 300 || len(f.Runs[0].Counts) != 0 {
				t.Fatalf("%+v, %v", f.Runs[0], err)
			}
			results := sink.Results()
			ttft, tpot := byHand(t, src.Name)
			same := func(d int, name dialect.Name, values []float64) {
				v, ok := results[d].Value(name)
				if !ok || v.Need != "" || !v.OK {
					t.Fatalf("%s of %s: %+v", name, ds[d].Name, v)
				}
				mean, p := meanAndP99(values)
				near(t, ds[d].Name+" mean "+string(name), v.Mean.Milliseconds(), mean)
				near(t, ds[d].Name+" p99 "+string(name), v.Quantiles[0].Value.Milliseconds(), p)
			}
			same(0, dialect.TTFT, ttft)
			same(0, dialect.TPOT, tpot)
			same(1, dialect.TTFT, ttft)
			same(1, dialect.ITL, tpot)
			if v, _ := results[0].Value(dialect.ITL); !strings.Contains(v.Need, "instant of each chunk") {
				t.Errorf("vLLM's ITL pools gaps, which the file doesn't have: %+v", v)
			}
		})
	}
}

// near fails unless got is within a billionth of want.
func near(t *testing.T, what string, got, want float64) {
	t.Helper()
	if !(math.Abs(got-want) <= 1e-9*want) {
		t.Errorf("%s: %.12g, want %.12g", what, got, want)
	}
}
