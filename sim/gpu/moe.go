package gpu

import (
	"iter"
	"math"
	"slices"
)

// MoE is the coefficients of a fused layer of experts for m tokens, h hidden
// elements, experts f wide, of which topk compute each token:
//
//	active = E·(1-(1-topk/E)^m)
//	t = fixed + perExpert·active
//	  + √((3·active·h·f·bytes/(weight bytes/s))² + (6·m·topk·h·f/(flop/s))²)
//	  + 2·(m·topk·(2h+3f) + m·h)/(activation bytes/s)
//
// active is the expected number of experts that any token chose, if choices are
// uniform. The layer replaces the two GEMMs of a dense MLP.
type MoE struct {
	FixedS            float64    `toml:"fixed_s" want:"span"`
	PerExpertS        float64    `toml:"per_expert_s" want:"span"`
	FlopPerS          float64    `toml:"flop_per_s" want:"rate"`
	WeightBytesPerS   float64    `toml:"weight_bytes_per_s" want:"rate"`
	ActivationBytesPS float64    `toml:"activation_bytes_per_s" want:"rate,optional"` // 0: takes no time
	Fit               Provenance `toml:"fit" want:"optional"`
}

// MoEShape is the experts of one layer on one GPU: Experts of them, of which
// PerToken compute each token, each Width wide, over Hidden elements, with
// weights of WeightBytes bytes each.
type MoEShape struct {
	Hidden, Width, Experts, PerToken int64
	WeightBytes                      float64
}

// Seconds returns the time of one layer for tokens tokens, in seconds.
func (c MoE) Seconds(s MoEShape, tokens int64) float64 {
	active := 0.0
	for n, e := range experts(s.Experts, s.PerToken) {
		active = e
		if n == tokens {
			break
		}
	}
	return c.of(s).at(tokens, active)
}

// moe is the expert layer of one model and layout.
type moe struct {
	fixed     float64   // s
	perExpert float64   // s, of an active one
	weights   float64   // s, of an active one
	compute   float64   // s per token
	input     float64   // s per token
	active    []float64 // by number of tokens; the last stands for all above
}

func (c MoE) of(s MoEShape) moe {
	h, f, k := float64(s.Hidden), float64(s.Width), float64(s.PerToken)
	x := moe{
		fixed:     c.FixedS,
		perExpert: c.PerExpertS,
		weights:   3 * h * f * s.WeightBytes / c.WeightBytesPerS,
		compute:   6 * k * h * f / c.FlopPerS,
	}
	if c.ActivationBytesPS > 0 {
		x.input = 2 * (float64(k*(float64(2*h)+float64(3*f))) + h) / c.ActivationBytesPS
	}
	return x
}

// experts yields the expected number of experts that n tokens choose, for n from
// 0 up to where it no longer changes. Repeated multiplication, unlike a power,
// cannot shrink by rounding.
func experts(experts, perToken int64) iter.Seq2[int64, float64] {
	return func(yield func(int64, float64) bool) {
		e := float64(experts)
		idle := 1 - float64(perToken)/e
		n := int64(0)
		for q := 1.0; q > 1e-12; q *= idle {
			if !yield(n, e*(1-q)) {
				return
			}
			n++
		}
		yield(n, e)
	}
}

// activeExperts returns the table of experts; its last entry stands for all above.
func activeExperts(s MoEShape) []float64 {
	var table []float64
	for _, e := range experts(s.Experts, s.PerToken) {
		table = append(table, e)
	}
	return slices.Clip(table)
}

// seconds is the time of one layer for m tokens.
func (x moe) seconds(m int64) float64 { return x.at(m, x.activeFor(m)) }

// at is the time of one layer for m tokens that activate so many experts.
func (x moe) at(m int64, active float64) float64 {
	w, c := x.weights*active, x.compute*float64(m)
	return x.fixed + float64(x.perExpert*active) + math.Sqrt(float64(w*w)+float64(c*c)) + float64(x.input*float64(m))
}

// activeFor returns the expected number of experts that m tokens choose.
func (x moe) activeFor(m int64) float64 { return x.active[min(m, int64(len(x.active)-1))] }

// work is what the layer computes for m tokens and must read from memory: the
// weights of the experts that are active.
func (s MoEShape) work(m int64, active float64) (flops, bytes float64) {
	hf := float64(s.Hidden) * float64(s.Width)
	return float64(6 * float64(m) * float64(s.PerToken) * hf), float64(3 * active * hf * s.WeightBytes)
}
