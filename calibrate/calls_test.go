package calibrate

import (
	"context"
	"maps"
	"math"
	"math/rand/v2"
	"testing"

	"servesim/analysis/transcript"
	"servesim/sim"
	"servesim/sim/engine"
	"servesim/sim/gpu"
	"servesim/sim/observe"
	"servesim/sim/scheduler"
	"servesim/sim/workload"
)

// server is Llama-3.1-8B on one H100 under vLLM 0.20, scheduling synchronously.
func server(t *testing.T, p *gpu.Profile) (gpu.Setup, scheduler.Config) {
	t.Helper()
	m, err := gpu.LoadModel("Llama-3.1-8B")
	if err != nil {
		t.Fatal(err)
	}
	preset, err := scheduler.FindPreset("vllm@0.20")
	if err != nil {
		t.Fatal(err)
	}
	c := preset.Config
	c.MaxNumBatchedTokens, c.MaxNumSeqs, c.MaxModelLen, c.BlockSize, c.NumGPUBlocks = 8192, 1024, 16384, 16, 24000
	c.EnableChunkedPrefill, c.AsyncScheduling = true, false
	return gpu.Setup{Profile: p, Model: m, TP: 1, Weights: gpu.BF16, KV: gpu.BF16, Engine: "vllm"}, c
}

// recorder is a sink that keeps what a client sees.
type recorder struct{ calls []transcript.Call }

func (r *recorder) Step(*observe.StepRun) error { return nil }

func (r *recorder) Request(q *observe.Request) error {
	r.calls = append(r.calls, transcript.Call{ID: q.ID, Scheduled: q.Arrival, Sent: q.Arrival, Closed: q.Last, Prompt: q.Prompt, Output: q.Output,
		Wanted: q.Wanted, Cached: transcript.Unknown, Outcome: q.Outcome,
		Chunks: []transcript.Chunk{{At: q.First, Tokens: 1}, {At: q.Last, Tokens: q.Output - 1}}})
	return nil
}

// facts are what such calls know.
func facts() transcript.Facts {
	return transcript.Facts{Clock: true, First: true, Prompts: true, Outputs: true}
}

// poisson is n requests of drawn lengths at each rate.
func poisson(n int64, rates ...float64) []workload.Spec {
	low, high, few, many := int64(200), int64(6000), int64(20), int64(300)
	var out []workload.Spec
	for _, rate := range rates {
		out = append(out, workload.Spec{Requests: &n, Arrival: &workload.ArrivalSpec{Process: "poisson", RatePerS: &rate},
			Prompt: &workload.LengthSpec{Dist: "uniform", Min: &low, Max: &high}, Output: &workload.LengthSpec{Dist: "uniform", Min: &few, Max: &many}})
	}
	return out
}

// closed is n requests of one length from each number of users, who call as one.
func closed(n int64, users ...int64) []workload.Spec {
	prompt, output := int64(1000), int64(100)
	var out []workload.Spec
	for _, u := range users {
		out = append(out, workload.Spec{Requests: &n, ClosedLoop: &workload.ClosedLoopSpec{Users: &u},
			Prompt: &workload.LengthSpec{Dist: "constant", Value: &prompt}, Output: &workload.LengthSpec{Dist: "constant", Value: &output}})
	}
	return out
}

// measure simulates workloads under the constants of p. Instants of a client jitter
// by a part noise of TTFT and a fifth of that of the rest.
func measure(t *testing.T, p *gpu.Profile, seed sim.Seed, noise float64, specs []workload.Spec) []MeasuredRun {
	t.Helper()
	var out []MeasuredRun
	for i, spec := range specs {
		setup, config := server(t, p)
		cost, err := gpu.NewCost(setup)
		if err != nil {
			t.Fatal(err)
		}
		source, err := spec.Source(seed + sim.Seed(i))
		if err != nil {
			t.Fatal(err)
		}
		delay, err := constant(p.Engine["vllm"].RequestS)
		if err != nil {
			t.Fatal(err)
		}
		var r recorder
		if err := engine.Run(context.Background(), engine.Config{Scheduler: config, Cost: cost, Source: source, Sink: &r, RequestDelay: delay}); err != nil {
			t.Fatal(err)
		}
		draw := rand.New((seed + sim.Seed(i)).Stream("jitter"))
		for k := range r.calls {
			c := &r.calls[k]
			first, last := c.Chunks[0].At, c.Chunks[1].At
			ttft := float64(first-c.Sent) * (1 + float64(noise*draw.NormFloat64()))
			rest := float64(last-first) * (1 + float64(noise/5*draw.NormFloat64()))
			c.Chunks[0].At = c.Sent + sim.Time(max(1, ttft))
			c.Chunks[1].At = c.Chunks[0].At + sim.Time(max(1, rest))
		}
		out = append(out, MeasuredRun{Name: "run", Calls: r.calls, Facts: facts(), Setup: setup, Scheduler: config})
	}
	return out
}

// TestReplayOfUsersWhoCallAsOne: at the truth every figure of a closed loop comes out
// as measured, though the replay knows instants only: calls that were sent together
// stay together, and those that met nobody come when they came. Of 32 users, whose
// prompts take four steps, some call while others run, and half a step moves them.
func TestReplayOfUsersWhoCallAsOne(t *testing.T) {
	p, err := gpu.LoadProfile("h100")
	if err != nil {
		t.Fatal(err)
	}
	for users, most := range map[int64]float64{1: 0.001, 8: 0.001, 32: 0.1} {
		data, _, err := NewCalls(measure(t, p, 1, 0, closed(64, users)), nil)
		if err != nil {
			t.Fatal(err)
		}
		figures, err := data.Figures(context.Background(), p)
		if err != nil {
			t.Fatal(err)
		}
		for _, f := range figures {
			if math.Abs(f.Log) > most {
				t.Errorf("%d users: %s is off by %+.1f %%", users, f.Metric, 100*f.Log)
			}
		}
		if len(figures) == 0 || data.Parts() != 2 {
			t.Errorf("%d users: %d figures in %d parts", users, len(figures), data.Parts())
		}
	}
}

// TestFitFindsTheTruth is the law of a round trip: constants drawn about those that
// ship are found again from what clients of simulated servers saw, jitter and all.
// Of the constants that the runs are said to tell, those within their intervals of
// 95 % must be at least 80 of 100, and none may be beyond three standard errors.
func TestFitFindsTheTruth(t *testing.T) {
	if testing.Short() {
		t.Skip("the fits take some seconds")
	}
	shipped, err := gpu.LoadProfile("h100")
	if err != nil {
		t.Fatal(err)
	}
	told, inside := 0, 0
	for seed := range sim.Seed(4) {
		draw := rand.New(seed.Stream("truth"))
		p := *shipped
		p.Engine = maps.Clone(shipped.Engine)
		e := p.Engine["vllm"]
		e.LayerS += 5e-6 * draw.NormFloat64()
		e.FlopEfficiency *= 0.9 + 0.15*draw.Float64()
		e.KVBF16Efficiency *= 0.85 + 0.1*draw.Float64()
		e.StepS += 1e-3 * draw.Float64()
		e.SeqS += 30e-6 * draw.Float64()
		e.RequestS = 5e-3 + 20e-3*draw.Float64()
		p.Engine["vllm"] = e
		data, left, err := NewCalls(measure(t, &p, seed, 0.05, poisson(200, 0.5, 3, 7)), nil)
		if err != nil || len(left) > 0 {
			t.Fatal(left, err)
		}
		r, err := Fit(context.Background(), data, shipped, "vllm", data.Parts())
		if err != nil {
			t.Fatal(err)
		}
		for _, c := range r.Constants {
			truth := c.Of(&e)
			low, high := c.Interval()
			t.Logf("seed %d: %-20s %10.4g in [%10.4g, %10.4g], truth %10.4g, told %.2f", seed, c.Key, c.Value, low, high, truth, c.Told)
			if c.Told < toldBarely {
				continue
			}
			told++
			if low <= truth && truth <= high {
				inside++
			} else if d := math.Abs(c.Value - truth); d > 3*c.Error {
				t.Errorf("seed %d: %s is %.4g ± %.2g, the truth is %.4g", seed, c.Key, c.Value, c.Error, truth)
			}
		}
		for _, e := range r.Errors {
			t.Logf("seed %d: %s n %d median %.2f held out %.2f", seed, e.Metric, e.N, e.Median, e.HeldOutMedian)
			if !(e.HeldOutMedian < 6) {
				t.Errorf("seed %d: held out, %s is %.1f %% off", seed, e.Metric, e.HeldOutMedian)
			}
		}
	}
	if told < 15 || 100*inside < 80*told {
		t.Errorf("of %d constants told, %d are within their intervals", told, inside)
	}
}
