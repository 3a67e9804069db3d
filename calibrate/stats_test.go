package calibrate

import (
	"context"
	"maps"
	"math"
	"strings"
	"testing"

	"servesim/calibrate/vllmlog"
	"servesim/sim/gpu"
)

// logged is the lines that a server prints every ten seconds which decodes running
// requests of a growing context, by the constants of p.
func logged(t *testing.T, p *gpu.Profile, tokens int64, running []int) ServerLog {
	t.Helper()
	setup, config := server(t, p)
	cost, err := gpu.NewCost(setup)
	if err != nil {
		t.Fatal(err)
	}
	l := ServerLog{Name: "server.log", KVTokens: tokens, MaxNumBatchedTokens: int64(config.MaxNumBatchedTokens)}
	for i, n := range running {
		kv := int64(n) * int64(500+20*i)
		s := vllmlog.Stats{Line: i + 1, Running: n, KVUsage: math.Round(1000*float64(kv)/float64(tokens)) / 1000}
		d := cost.Step(gpu.Work{DecodeSeqs: int64(n), DecodeKV: kv, Samples: int64(n)})
		s.GenerationPerS = math.Round(10*float64(n)/d.Seconds()) / 10
		l.Stats = append(l.Stats, s)
	}
	setup.Profile = nil
	l.Setup = setup
	return l
}

// stretch returns each of levels, n times in a row.
func stretch(n int, levels ...int) []int {
	var out []int
	for _, l := range levels {
		for range n {
			out = append(out, l)
		}
	}
	return out
}

// Lines of constant load tell the time of a decode step, and not how it is made up.
func TestStatsTellStepsAndNotTheirParts(t *testing.T) {
	shipped, err := gpu.LoadProfile("h100")
	if err != nil {
		t.Fatal(err)
	}
	p := *shipped
	p.Engine = maps.Clone(shipped.Engine)
	e := p.Engine["vllm"]
	e.StepS, e.SeqS, e.KVBF16Efficiency = 0.8e-3, 30e-6, 0.95
	p.Engine["vllm"] = e
	data, left, err := NewStats([]ServerLog{logged(t, &p, 400000, stretch(12, 4, 32, 128))})
	if err != nil || len(left) != 1 || left[0].N != 2 {
		t.Fatal(left, err)
	}
	r, err := Fit(context.Background(), data, shipped, "vllm", data.Parts())
	if err != nil {
		t.Fatal(err)
	}
	keys := map[string]Constant{}
	for _, c := range r.Constants {
		keys[c.Key] = c
		if low, high := c.Interval(); c.Of(&e) < low || c.Of(&e) > high {
			t.Errorf("%s is %.4g ± %.2g, the truth is %.4g", c.Key, c.Value, c.Error, c.Of(&e))
		}
	}
	for _, key := range []string{"flop_efficiency", "request_s", "eager_layer_s", "mixed_step_s", "allreduce_skew_s"} {
		if _, ok := keys[key]; ok {
			t.Errorf("%s is fitted, of which the lines say nothing", key)
		}
	}
	if keys["layer_s"].Told > 0.7 || keys["step_s"].Told > 0.7 {
		t.Errorf("layer_s told %.2f, step_s told %.2f, which only their sum can be", keys["layer_s"].Told, keys["step_s"].Told)
	}
	if len(r.Weak) == 0 {
		t.Error("no combination is said to be untold")
	}
	if s := r.Errors[0]; s.Metric != "generation_tok_s" || s.Median > 1.5 || !(s.HeldOutMedian < 2) {
		t.Errorf("%+v", s)
	}
	// The sum is told: a step of 32 requests takes what the server took.
	took := func(p *gpu.Profile) float64 {
		setup, _ := server(t, p)
		c, err := gpu.NewCost(setup)
		if err != nil {
			t.Fatal(err)
		}
		return c.Step(gpu.Work{DecodeSeqs: 32, DecodeKV: 32 * 800, Samples: 32}).Seconds()
	}
	if got, want := took(r.Profile), took(&p); math.Abs(got/want-1) > 0.02 {
		t.Errorf("a step takes %.4g s, the truth is %.4g s", got, want)
	}
}

func TestStatsWithoutConstantLoad(t *testing.T) {
	p, err := gpu.LoadProfile("h100")
	if err != nil {
		t.Fatal(err)
	}
	for want, l := range map[string]ServerLog{
		"server.log: has fewer than two lines of statistics; give the log of some minutes of constant load":                                logged(t, p, 400000, []int{3}),
		"none of its 2 intervals tells the time of a step; 2 in which the number of running requests changed":                              logged(t, p, 400000, []int{3, 9, 100}),
		"server.log: none of its 1 intervals tells the time of a step; 1 in which nothing ran at one end; give the log of some minutes of": logged(t, p, 400000, []int{0, 3}),
	} {
		if _, _, err := NewStats([]ServerLog{l}); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("got %v, want %s", err, want)
		}
	}
}

// Without CUDA graphs the lines tell how long launching a layer takes: small decode
// steps take that and no longer. The interval is a third of the prior's.
func TestStatsTellLaunches(t *testing.T) {
	shipped, err := gpu.LoadProfile("h100")
	if err != nil {
		t.Fatal(err)
	}
	p := *shipped
	p.Engine = maps.Clone(shipped.Engine)
	e := p.Engine["vllm"]
	e.EagerLayerS = 450e-6
	p.Engine["vllm"] = e
	l := logged(t, &p, 400000, stretch(12, 4, 32, 128))
	l.Setup.EnforceEager = true
	setup := l.Setup
	setup.Profile = &p
	cost, err := gpu.NewCost(setup)
	if err != nil {
		t.Fatal(err)
	}
	for i := range l.Stats {
		s := &l.Stats[i]
		s.GenerationPerS = float64(s.Running) / cost.Step(gpu.Work{DecodeSeqs: int64(s.Running), DecodeKV: int64(s.KVUsage * 400000), Samples: int64(s.Running)}).Seconds()
	}
	data, _, err := NewStats([]ServerLog{l})
	if err != nil {
		t.Fatal(err)
	}
	r, err := Fit(context.Background(), data, shipped, "vllm", data.Parts())
	if err != nil {
		t.Fatal(err)
	}
	for i := range r.Constants {
		c := &r.Constants[i]
		if low, high := c.Interval(); c.Key == "eager_layer_s" {
			if c.Told < 0.75 || low > 450e-6 || high < 450e-6 || high-low > 260e-6 {
				t.Errorf("eager_layer_s is in [%.4g, %.4g], told %.2f; the truth is 450e-6", low, high, c.Told)
			}
			return
		}
	}
	t.Error("eager_layer_s is not fitted")
}
