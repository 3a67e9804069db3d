package calibrate

import (
	"context"
	"maps"
	"math"

	"servesim/sim/gpu"
)

// A problem is measurements, and the constants to find.
type problem struct {
	data       Data
	profile    *gpu.Profile // has the kernels' coefficients, and the constants that stay
	engine     string
	parameters []Parameter
	held       func(part int) bool // figures that the loss leaves out; nil for none
	jittery    bool                // figures jitter more than constants move them
}

// bounds returns the range of parameter i: its own, and for an efficiency also
// what the datasheet allows the kernels that it scales.
func (p *problem) bounds(i int) (least, most float64) {
	q := &p.parameters[i]
	limit := p.profile.MostEfficient(p.engine)
	least, most = q.Least, q.Most
	if q.efficiency {
		most = min(most, float64(q.Of(&limit)*(1-1e-9))) // a product with the rate rounds
	}
	return least, max(least, most)
}

// robust returns sign(r)·√ρ(r) with ρ(r) = 2·(√(1+r²)-1), whose square is the
// loss of r.
func robust(r float64) float64 {
	return math.Copysign(math.Sqrt(2*(math.Sqrt(1+float64(r*r))-1)), r)
}

// terms returns the robust residuals at x, whose sum of squares is the loss: those
// of the figures, then those of the priors.
func (p *problem) terms(ctx context.Context, x []float64) ([]float64, error) {
	figures, err := p.data.Figures(ctx, p.with(x))
	if err != nil {
		return nil, err
	}
	out := make([]float64, 0, len(figures)+len(x))
	for _, f := range figures {
		r := 0.0
		if !f.Left && (p.held == nil || !p.held(f.Part)) {
			r = robust(f.Log / f.Spread)
		}
		out = append(out, r)
	}
	for i, q := range p.parameters {
		out = append(out, (x[i]-q.Prior)/q.Width)
	}
	return out, nil
}

// with returns the profile with trial constants, and no mixed_step_s unless
// that is one of them.
func (p *problem) with(x []float64) *gpu.Profile {
	trial := *p.profile
	trial.Engine = maps.Clone(p.profile.Engine)
	e := trial.Engine[p.engine]
	e.MixedStepS = 0
	for i := range p.parameters {
		p.parameters[i].Set(&e, x[i])
	}
	trial.Engine[p.engine] = e
	return &trial
}
