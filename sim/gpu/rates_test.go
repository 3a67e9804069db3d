package gpu

import (
	"maps"
	"testing"

	"pgregory.net/rapid"

	"servesim/sim"
)

// cloned returns a copy of p that shares nothing that a test writes to.
func (p *Profile) cloned() *Profile {
	c := *p
	c.Engine, c.Kernels = maps.Clone(p.Engine), maps.Clone(p.Kernels)
	for name, k := range c.Kernels {
		k.GEMM, k.AllReduce, k.MoE = maps.Clone(k.GEMM), maps.Clone(k.AllReduce), maps.Clone(k.MoE)
		k.AttnPrefill = KernelsPrefill{maps.Clone(k.AttnPrefill.D128), maps.Clone(k.AttnPrefill.D64), maps.Clone(k.AttnPrefill.Window)}
		k.AttnDecode = KernelsDecode{maps.Clone(k.AttnDecode.D128), maps.Clone(k.AttnDecode.D64)}
		c.Kernels[name] = k
	}
	return &c
}

// change applies f to one entry of m.
func change[V any](m map[string]V, key string, f func(*V)) {
	if v, ok := m[key]; ok {
		f(&v)
		m[key] = v
	}
}

// faster returns, by name, what makes one rate of p, as s uses it, by times as high.
func faster(p *Profile, s Setup, by float64) map[string]func() {
	k := p.Kernels[p.Engine[s.Engine].Kernels]
	linear, kv := string(s.Weights.outsideExperts()), string(s.KV)
	gemm := func(rate func(*GEMM) *float64) func() {
		return func() {
			change(k.GEMM, linear, func(c *GEMM) { *rate(c) *= by })
		}
	}
	prefill := func(rate func(*AttnPrefill) *float64) func() {
		return func() {
			for _, t := range k.AttnPrefill.tables() {
				change(t.byFormat, kv, func(c *AttnPrefill) { *rate(c) *= by })
			}
		}
	}
	moe := func(rate func(*MoE) *float64) func() {
		return func() { change(k.MoE, string(s.Weights), func(c *MoE) { *rate(c) *= by }) }
	}
	return map[string]func(){
		"gemm flop":       gemm(func(c *GEMM) *float64 { return &c.FlopPerS }),
		"gemm weights":    gemm(func(c *GEMM) *float64 { return &c.WeightBytesPerS }),
		"gemm input":      gemm(func(c *GEMM) *float64 { return &c.InputBytesPerS }),
		"gemm output":     gemm(func(c *GEMM) *float64 { return &c.OutputBytesPerS }),
		"prefill flop":    prefill(func(c *AttnPrefill) *float64 { return &c.FlopPerS }),
		"prefill queries": prefill(func(c *AttnPrefill) *float64 { return &c.BytesPerS }),
		"prefill KV":      prefill(func(c *AttnPrefill) *float64 { return &c.KVBytesPerS }),
		"decode": func() {
			change(k.AttnDecode.Of(s.Model.HeadDim), kv, func(c *AttnDecode) { c.BytesPerS *= by })
		},
		"all-reduce": func() {
			for _, tp := range sortedKeys(k.AllReduce) {
				change(k.AllReduce, tp, func(c *AllReduce) { c.BytesPerS *= by })
			}
		},
		"experts flop":        moe(func(c *MoE) *float64 { return &c.FlopPerS }),
		"experts weights":     moe(func(c *MoE) *float64 { return &c.WeightBytesPerS }),
		"experts activations": moe(func(c *MoE) *float64 { return &c.ActivationBytesPS }),
		"elementwise":         func() { p.Fitted.Elementwise.BytesPerS *= by },
	}
}

// Law: with any rate of a profile higher, no step takes longer. The price of a
// context token is a whole number of picoseconds and hops, right to slopeError
// and half a hop, so that a rate of decode attention is raised by more than that
// and a step may be longer by a hop for each kind of layer. Decode over latents
// computes at the rate of prefill attention, so that goes for this rate too.
func TestAFasterGPUIsNeverSlower(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		s := aCost(t).setup
		before := mustCostOf(t, s)
		p := s.Profile.cloned()
		by := rapid.Float64Range(1+4*slopeError, 4).Draw(t, "by")
		rates := faster(p, s, by)
		name := rapid.SampledFrom(sortedKeys(rates)).Draw(t, "rate")
		rates[name]()
		s.Profile = p
		after := mustCostOf(t, s)
		slack := sim.Duration(0)
		if name == "decode" || name == "prefill flop" && s.Model.KVRank > 0 {
			slack = 2 * hop
		}
		for range 10 {
			w := aWork(t)
			if a, b := after.Step(w), before.Step(w); a > b+slack {
				t.Fatalf("%s times %.4f: %+v takes %v instead of %v", name, by, w, a, b)
			}
		}
	})
}

func mustCostOf(t *rapid.T, s Setup) *StepTime {
	c, err := NewCost(s)
	if err != nil {
		t.Fatal(err)
	}
	return c
}

// Law: with the same coefficients, more bytes a weight or a cached element never
// make an operator faster. Coefficients of different formats are different
// measurements: kernels for narrow formats start more slowly, and small products
// are measured to take longer with them.
func TestAWiderFormatIsNeverFaster(t *testing.T) {
	widths := []float64{FP4.BytesPerWeight(), FP8.BytesPerWeight(), BF16.BytesPerWeight()}
	rapid.Check(t, func(t *rapid.T) {
		s := aCost(t).setup
		c, err := s.Profile.coefficients(s)
		if err != nil {
			t.Fatal(err)
		}
		i := rapid.IntRange(0, 1).Draw(t, "width")
		size := rapid.OneOf(rapid.Int64Range(1, 512), rapid.Int64Range(1, 1<<17))
		m, n, k := size.Draw(t, "m"), size.Draw(t, "n"), size.Draw(t, "k")
		if a, b := c.gemm.Seconds(GEMMShape{m, n, k, widths[i]}), c.gemm.Seconds(GEMMShape{m, n, k, widths[i+1]}); b < a {
			t.Fatalf("%d x %d x %d takes %g s with %g bytes a weight, and %g s with %g", m, n, k, a, widths[i], b, widths[i+1])
		}
		stage, l, err := s.layout()
		if err != nil {
			t.Fatal(err)
		}
		s.Model = stage
		narrow, wide := s, s
		narrow.KV, wide.KV = FP8, BF16
		if a, b := c.prefill.of(l.attn(stage, FP8), 1).seconds(m, m*n), c.prefill.of(l.attn(stage, BF16), 1).seconds(m, m*n); b < a {
			t.Fatalf("prefill attention takes %g s over fp8 and %g s over bf16", a, b)
		}
		if a, b := narrow.contextSeconds(l, c), wide.contextSeconds(l, c); b < a {
			t.Fatalf("a token of context takes %g s over fp8 and %g s over bf16", a, b)
		}
		if s.Model.Experts > 0 {
			x := l.experts(s.Model, s.Weights)
			x.WeightBytes = widths[i]
			y := x
			y.WeightBytes = widths[i+1]
			if a, b := c.moe.Seconds(x, m), c.moe.Seconds(y, m); b < a {
				t.Fatalf("experts take %g s with %g bytes a weight, and %g s with %g", a, widths[i], b, widths[i+1])
			}
		}
	})
}

// Law: a step with wider weights is at least as long, but for what is measured to take
// longer with narrow ones: the start of each matrix product and the quantising of its
// input, which grows with its rows. Kernels for fp8 start more slowly, so that at small
// m of small products bf16 is faster, and no more so than by that.
func TestNarrowWeightsCostAtMostTheirStart(t *testing.T) {
	for _, profile := range ProfileNames() {
		for _, model := range []string{"Llama-3.1-8B", "Qwen3-32B", "Llama-3.3-70B"} {
			base := mustSetup(t, profile, model, 1, BF16, BF16, "")
			for _, engine := range sortedKeys(base.Profile.Engine) {
				for _, tp := range []int{1, 8} {
					s := base
					s.Engine, s.TP = engine, tp
					wide := mustCost(t, s)
					s.Weights = FP8
					narrow := mustCost(t, s)
					for _, w := range gridOfWork() {
						a, b := wide.Step(w), narrow.Step(w)
						if most := a + picoseconds(slowerStart(wide, narrow, w)) + 2; b > most {
							t.Errorf("%s %s %s tp%d: %+v takes %v with bf16 weights and %v with fp8, more than starts explain, %v", profile, model, engine, tp, w, a, b, most)
						}
					}
				}
			}
		}
	}
}

// slowerStart returns by how many seconds the products of narrow start later than those
// of wide, and quantise longer, in all layers of a step of w.
func slowerStart(wide, narrow *StepTime, w Work) float64 {
	m, s := float64(w.PrefillTokens+w.DecodeSeqs), 0.0
	add := func(layers float64, a, b []product) {
		for i := range a {
			s += layers * (max(0, b[i].fixed-a[i].fixed) + max(0, b[i].rows-a[i].rows)*m)
		}
	}
	add(wide.layers, wide.attention, narrow.attention)
	for i := range wide.mlps {
		add(wide.mlps[i].layers, wide.mlps[i].gemms, narrow.mlps[i].gemms)
	}
	return s
}

// Narrow weights pay where streaming or computing them dominates: in a 70B model
// on up to four GPUs, no step with bf16 weights is shorter than with fp8.
func TestNarrowWeightsPayInLargeModels(t *testing.T) {
	for _, profile := range ProfileNames() {
		base := mustSetup(t, profile, "Llama-3.3-70B", 1, BF16, BF16, "")
		for _, engine := range sortedKeys(base.Profile.Engine) {
			for _, tp := range []int{1, 2, 4} {
				s := base
				s.Engine, s.TP = engine, tp
				wide := mustCost(t, s)
				s.Weights = FP8
				narrow := mustCost(t, s)
				for _, w := range gridOfWork() {
					if a, b := wide.Step(w), narrow.Step(w); a < b {
						t.Errorf("%s %s tp%d: %+v takes %v with bf16 weights and %v with fp8", profile, engine, tp, w, a, b)
					}
				}
			}
		}
	}
}
