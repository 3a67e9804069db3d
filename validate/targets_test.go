package validate

import (
	"strings"
	"testing"
)

// A target is met at its bounds; above one it says which. Saturated runs count for
// none, and a metric without a target is left out.
func TestTargets(t *testing.T) {
	cell := func(m Metric, median, p90 float64, saturated bool) Cell {
		return Cell{Key: Key{GPU: "H100", Engine: "vllm", Model: "m", Weights: "fp8", Metric: m, Saturated: saturated}, N: 2, Median: median, P90: p90}
	}
	var b strings.Builder
	markdownTargets(&b, []Cell{
		cell(TPOTMean, 3, 10, false), cell(TTFTMean, 6.1, 18.1, false), cell(TTFTMean, 90, 90, true),
		cell(OutputRate, 4.5, 90, false), cell(E2EMean, 90, 90, false),
	})
	var got []string
	for line := range strings.Lines(b.String()) {
		if strings.HasPrefix(line, "| H100") {
			got = append(got, strings.TrimSpace(line))
		}
	}
	want := []string{
		"| H100 | vllm | m | fp8 | tpot_mean_ms | 3 / 10 | 2 | 3.0 / 10.0 | no |",
		"| H100 | vllm | m | fp8 | ttft_mean_ms | 6 / 18 | 2 | 6.1 / 18.1 | median, P90 |",
		"| H100 | vllm | m | fp8 | out_tok_s | 4 | 2 | 4.5 / 90.0 | median |",
	}
	if strings.Join(got, "\n") != strings.Join(want, "\n") || !strings.Contains(b.String(), "1 of 3 are met") {
		t.Errorf("got %s\nof\n%s", strings.Join(got, "\n"), b.String())
	}
}

// vLLM schedules asynchronously from 0.14 on, and before where a start script asks for
// it, in planning and in time alike; so does TensorRT-LLM where its script is known.
func TestAsynchronousByVersion(t *testing.T) {
	for _, c := range []struct {
		engine, version, source string
		want                    bool
	}{
		{"vllm", "0.10.2", "", false}, {"vllm", "0.12.0", "", false}, {"vllm", "0.13.0", "", false}, {"vllm", "0.14.0", "", true},
		{"vllm", "0.18.0", "", true}, {"vllm", "1.0.0", "", true}, {"vllm", "", "", true}, {"vllm", "0.6.3", "", false},
		{"vllm", "2024/25 CI", "", false}, {"trtllm", "1.1.0rc2.post2", "", false},
		{"vllm", "0.10.2", inferenceMAX, true}, {"trtllm", "1.1.0rc2.post2", inferenceMAX, true},
	} {
		r := Row{Model: "llama-3.1-8b", GPU: "H100", TP: 1, Weights: "bf16", KV: "bf16", Engine: c.engine, Version: c.version, Source: c.source, Prompt: 100, Output: 20}
		o := Options{}
		d, err := o.deploy(&r)
		if err != nil {
			t.Fatalf("%s %s: %v", c.engine, c.version, err)
		}
		if d.setup.Async != c.want || d.scheduler.AsyncScheduling != c.want {
			t.Errorf("%s %s: async %v in time, %v in planning; want %v", c.engine, c.version, d.setup.Async, d.scheduler.AsyncScheduling, c.want)
		}
	}
}
