package calibrate

import (
	"context"
	"maps"
	"math"
	"math/rand/v2"
	"testing"

	"servesim/calibrate/vllmlog"
	"servesim/sim"
	"servesim/sim/engine"
	"servesim/sim/gpu"
	"servesim/sim/observe"
	"servesim/sim/workload"
)

// statistician is a sink that prints what a server would every ten seconds.
type statistician struct {
	lines             []vllmlog.Stats
	blocks            int64
	next              sim.Time
	prompt, generated int64
	running           int
	used              int64
}

const statsEvery = 10 * sim.Second

func (s *statistician) Request(*observe.Request) error { return nil }

func (s *statistician) Step(r *observe.StepRun) error {
	at, d := r.Start, r.First
	for range r.Steps {
		at = at.Add(d)
		d += r.Inc
		for at >= s.next.Add(statsEvery) {
			s.next = s.next.Add(statsEvery)
			seconds := statsEvery.Seconds()
			tenth := func(x float64) float64 { return math.Round(10*x) / 10 }
			s.lines = append(s.lines, vllmlog.Stats{Line: len(s.lines) + 1, At: s.next.Seconds(), Running: s.running,
				PromptPerS: tenth(float64(s.prompt) / seconds), GenerationPerS: tenth(float64(s.generated) / seconds),
				KVUsage: math.Round(1000*float64(s.used)/float64(s.blocks-1)) / 1000})
			s.prompt, s.generated = 0, 0
		}
		s.generated += int64(r.Decodes)
	}
	for _, c := range r.Chunks {
		s.prompt += int64(c.Tokens)
	}
	s.running, s.used = int(r.Running), r.BlocksUsed
	return nil
}

// TestStatsOfSimulatedServers is the law of a round trip for logs: servers with drawn
// constants under a constant number of users print statistics, from which the
// constants come out within their intervals, and a decode step to 3 %.
func TestStatsOfSimulatedServers(t *testing.T) {
	shipped, err := gpu.LoadProfile("h100")
	if err != nil {
		t.Fatal(err)
	}
	inside, all := 0, 0
	for seed := range sim.Seed(4) {
		draw := rand.New(seed.Stream("server"))
		p := *shipped
		p.Engine = maps.Clone(shipped.Engine)
		e := p.Engine["vllm"]
		e.KVBF16Efficiency *= 0.85 + 0.1*draw.Float64()
		e.StepS += 0.5e-3 * draw.Float64()
		e.SeqS += 20e-6 * draw.Float64()
		p.Engine["vllm"] = e
		var logs []ServerLog
		for _, users := range []int64{8, 48, 160} {
			setup, config := server(t, &p)
			cost, err := gpu.NewCost(setup)
			if err != nil {
				t.Fatal(err)
			}
			requests, low, high, long := 4*users, int64(100), int64(400), int64(2500)
			spec := workload.Spec{Requests: &requests, ClosedLoop: &workload.ClosedLoopSpec{Users: &users},
				Prompt: &workload.LengthSpec{Dist: "uniform", Min: &low, Max: &high}, Output: &workload.LengthSpec{Dist: "uniform", Min: &high, Max: &long}}
			source, err := spec.Source(seed)
			if err != nil {
				t.Fatal(err)
			}
			s := &statistician{blocks: config.NumGPUBlocks}
			if err := engine.Run(context.Background(), engine.Config{Scheduler: config, Cost: cost, Source: source, Sink: s}); err != nil {
				t.Fatal(err)
			}
			setup.Profile = nil
			logs = append(logs, ServerLog{Name: "log", Stats: s.lines, Setup: setup, KVTokens: (config.NumGPUBlocks - 1) * 16, MaxNumBatchedTokens: 8192})
		}
		data, _, err := NewStats(logs)
		if err != nil {
			t.Fatal(err)
		}
		r, err := Fit(context.Background(), data, shipped, "vllm", data.Parts())
		if err != nil {
			t.Fatal(err)
		}
		for i := range r.Constants {
			c := &r.Constants[i]
			all++
			low, high := c.Interval()
			if v := c.Of(&e); low <= v && v <= high {
				inside++
			} else if math.Abs(v-c.Value) > 3*c.Error {
				t.Errorf("seed %d: %s is %.4g ± %.2g, the truth is %.4g", seed, c.Key, c.Value, c.Error, v)
			}
		}
		for _, n := range []int64{8, 48, 160} {
			w := gpu.Work{DecodeSeqs: n, DecodeKV: n * 1200, Samples: n}
			var d [2]float64
			for i, q := range []*gpu.Profile{r.Profile, &p} {
				setup, _ := server(t, q)
				cost, err := gpu.NewCost(setup)
				if err != nil {
					t.Fatal(err)
				}
				d[i] = cost.Step(w).Seconds()
			}
			if x := d[0] / d[1]; x < 0.97 || x > 1.03 {
				t.Errorf("seed %d: a step of %d takes %.4g s, the truth is %.4g s", seed, n, d[0], d[1])
			}
		}
		t.Logf("seed %d: %+v, used %d %d %d", seed, r.Errors, data.Used(0), data.Used(1), data.Used(2))
	}
	if 100*inside < 85*all {
		t.Errorf("%d of %d constants are within their intervals", inside, all)
	}
}
