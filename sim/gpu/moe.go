package gpu

import (
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
	FixedS            float64 `toml:"fixed_s" want:"span"`
	PerExpertS        float64 `toml:"per_expert_s" want:"span"`
	FlopPerS          float64 `toml:"flop_per_s" want:"rate"`
	WeightBytesPerS   float64 `toml:"weight_bytes_per_s" want:"rate"`
	ActivationBytesPS float64 `toml:"activation_bytes_per_s" want:"rate"`
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

func (c MoE) of(m *Model, l layout, bytes float64) moe {
	h, f, k := float64(m.Hidden), float64(l.width), float64(m.ExpertsPerToken)
	return moe{
		fixed:     c.FixedS,
		perExpert: c.PerExpertS,
		weights:   3 * h * f * bytes / c.WeightBytesPerS,
		compute:   6 * k * h * f / c.FlopPerS,
		input:     2 * (float64(k*(float64(2*h)+float64(3*f))) + h) / c.ActivationBytesPS,
		active:    activeExperts(m.Experts, m.ExpertsPerToken),
	}
}

// activeExperts returns the expected number of experts that m tokens choose,
// for m from 0 up to where it no longer changes. A table made by repeated
// multiplication, unlike a power, cannot shrink by rounding.
func activeExperts(experts, perToken int64) []float64 {
	e := float64(experts)
	idle := 1 - float64(perToken)/e
	var table []float64
	for q := 1.0; q > 1e-12; q *= idle {
		table = append(table, e*(1-q))
	}
	return append(slices.Clip(table), e)
}

func (x moe) seconds(m int64) float64 {
	active := x.active[min(m, int64(len(x.active)-1))]
	w, c := x.weights*active, x.compute*float64(m)
	return x.fixed + float64(x.perExpert*active) + math.Sqrt(float64(w*w)+float64(c*c)) + float64(x.input*float64(m))
}
