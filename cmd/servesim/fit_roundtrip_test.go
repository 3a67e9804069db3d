package main

import (
	"context"
	"encoding/json"
	"fmt"
	"math/rand/v2"
	"os"
	"strings"
	"testing"

	"servesim/analysis/transcript"
	"servesim/scenario"
	"servesim/sim"
	"servesim/sim/gpu"
	"servesim/sim/observe"
)

// measuredServer is the scenario of a server that is measured at a rate.
const measuredServer = `schema = 1
name = "measured"
seed = %d

[workload]
requests = 200
arrival = { process = "poisson", rate_per_s = %g }
prompt = { dist = "uniform", min = 100, max = 6000 }
output = { dist = "uniform", min = 20, max = 300 }

[engine]
policy = "vllm@0.11"
max_model_len = 16384

[hardware]
gpu = "%s"

[model]
name = "Llama-3.1-8B"
dtype = "bf16"

[network]
request = { dist = "constant", value = "%.6fms" }
`

// kept is a sink that keeps calls.
type kept struct{ calls []transcript.Call }

// Call implements transcript.Sink.
func (k *kept) Call(c *transcript.Call) error {
	x := *c
	x.Chunks = append([]transcript.Chunk(nil), c.Chunks...)
	k.calls = append(k.calls, x)
	return nil
}

// benchmark simulates a scenario and writes what vLLM's benchmark with
// --save-detailed would have: instants in seconds, jittering by a part noise.
func benchmark(t *testing.T, text, path string, noise float64, draw *rand.Rand) {
	t.Helper()
	p, err := scenario.Load(scenario.Source{Path: "server.toml", Content: text})
	if err != nil {
		t.Fatal(err)
	}
	var k kept
	calls := transcript.NewCoarse(&k)
	if _, err := p.Simulate(context.Background(), scenario.Options{Sinks: []observe.Sink{calls}}); err != nil {
		t.Fatal(err)
	}
	if err := calls.Close(); err != nil {
		t.Fatal(err)
	}
	var prompts, outputs []int32
	var ttfts, starts []float64
	var itls [][]float64
	var texts, errors []string
	for i := range k.calls {
		c := &k.calls[i]
		first, last := c.Chunks[0].At, c.Chunks[len(c.Chunks)-1].At
		ttft := first.Sub(c.Sent).Seconds() * (1 + noise*draw.NormFloat64())
		rest := last.Sub(first).Seconds() * (1 + noise/5*draw.NormFloat64())
		gaps := []float64{}
		for range c.Output - 1 {
			gaps = append(gaps, rest/float64(c.Output-1))
		}
		prompts, outputs = append(prompts, c.Prompt), append(outputs, c.Output)
		ttfts, itls, starts = append(ttfts, ttft), append(itls, gaps), append(starts, 1000+c.Sent.Seconds())
		texts, errors = append(texts, "x"), append(errors, "")
	}
	b, err := json.Marshal(struct {
		Backend        string      `json:"backend"`
		Model          string      `json:"model_id"`
		Prompts        int         `json:"num_prompts"`
		Rate           string      `json:"request_rate"`
		Completed      int         `json:"completed"`
		InputLens      []int32     `json:"input_lens"`
		OutputLens     []int32     `json:"output_lens"`
		TTFTs          []float64   `json:"ttfts"`
		ITLs           [][]float64 `json:"itls"`
		StartTimes     []float64   `json:"start_times"`
		GeneratedTexts []string    `json:"generated_texts"`
		Errors         []string    `json:"errors"`
	}{"vllm", "m", len(k.calls), "inf", len(k.calls), prompts, outputs, ttfts, itls, starts, texts, errors})
	must(err)
	must(os.WriteFile(path, b, 0o666))
}

// TestFitRoundTrip: servers are simulated with drawn constants, their benchmarks'
// exports fitted, and the constants found again within the intervals of 95 % that
// the written profile states: nearly all of them, and each to 1.5 times the interval.
// The step times of the fitted profile are those of the server to 5 %.
func TestFitRoundTrip(t *testing.T) {
	inside, all := 0, 0
	for seed := range sim.Seed(2) {
		inFolder(t, nil)
		draw := rand.New(seed.Stream("round trip"))
		truth := map[string]float64{
			"flop_efficiency": 0.8 + 0.15*draw.Float64(), "kv_bf16_efficiency": 0.85 + 0.15*draw.Float64(),
			"step_s": 0.2e-3 + 0.6e-3*draw.Float64(), "seq_s": 5e-6 + 30e-6*draw.Float64(), "layer_s": 5e-6 + 8e-6*draw.Float64(),
			"weight_efficiency": 0.97 + 0.06*draw.Float64(),
		}
		request := 5e-3 + 15e-3*draw.Float64()
		text := "schema = 1\nname = \"truth\"\nbase = \"h100\"\n[engine.vllm]\n"
		for _, key := range []string{"flop_efficiency", "kv_bf16_efficiency", "step_s", "seq_s", "layer_s", "weight_efficiency"} {
			text += fmt.Sprintf("%s = %g\n", key, truth[key])
		}
		must(os.WriteFile("truth.toml", []byte(text), 0o666))
		args := "fit"
		for i, rate := range []float64{1, 7} {
			name := fmt.Sprintf("rate%d.json", i)
			benchmark(t, fmt.Sprintf(measuredServer, 10*int(seed)+i, rate, "truth.toml", 1e3*request), name, 0.05, draw)
			args += " " + name
		}
		must(os.WriteFile("server.toml", fmt.Appendf(nil, measuredServer, 1, 1.0, "h100", 10.0), 0o666))
		out := ok(t, strings.Fields(args+" --scenario server.toml --output mine.toml")...)
		if !strings.Contains(out, "200 of 200 calls used") || !strings.Contains(out, "[network]\nrequest = { dist = \"constant\"") {
			t.Error(out)
		}
		p, err := gpu.LoadProfile("mine.toml")
		if err != nil {
			t.Fatal(err)
		}
		truth["request_s"] = request
		for _, c := range p.Origin.Constants {
			want, known := truth[c.Key]
			if !known {
				continue
			}
			all++
			half := (c.High - c.Low) / 2
			switch middle := (c.High + c.Low) / 2; {
			case c.Low <= want && want <= c.High:
				inside++
			case want < middle-1.5*half || want > middle+1.5*half:
				t.Errorf("seed %d: %s is in [%g, %g], the truth is %g", seed, c.Key, c.Low, c.High, want)
			}
		}
		for _, w := range []gpu.Work{{DecodeSeqs: 8, DecodeKV: 16000, Samples: 8}, {DecodeSeqs: 64, DecodeKV: 128000, Samples: 64}, {PrefillTokens: 3000, PrefillSeqs: 1, PrefillPairs: 4501500, Samples: 1}} {
			var times [2]float64
			for i, name := range []string{"mine.toml", "truth.toml"} {
				plan, err := scenario.Load(scenario.Source{Path: "server.toml", Content: fmt.Sprintf(measuredServer, 1, 1.0, name, 10.0)})
				if err != nil {
					t.Fatal(err)
				}
				times[i] = plan.Cost.Step(w).Seconds()
			}
			if r := times[0] / times[1]; r < 0.95 || r > 1.05 {
				t.Errorf("seed %d: a step of %+v takes %.4g s, the truth is %.4g s", seed, w, times[0], times[1])
			}
		}
	}
	if all < 12 || 100*inside < 85*all {
		t.Errorf("%d of %d constants are within their intervals", inside, all)
	}
}
