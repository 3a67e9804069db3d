package calibrate

import (
	"context"
	"math"

	"servesim/internal/portable"
	"servesim/sim/gpu"
	"servesim/validate"
)

// The spread of the logarithms of what runs measure about what they would have
// with the right constants: noise of the runs and of the model's form.
const (
	tpotSpread = 0.03
	ttftSpread = 0.08
)

// A problem is the rows of one GPU and engine, and the constants to find.
type problem struct {
	rows       []validate.Row
	profile    *gpu.Profile // has the kernels' coefficients, and the constants that stay
	engine     string
	parameters []Parameter
	done       func() // called after each simulation of a row; may be nil
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

// A residual is one term of the loss.
type residual struct {
	row    string // empty for a prior
	metric validate.Metric
	r      float64 // of a figure: ln(simulated/measured)/spread
}

// residuals returns the terms of the loss at x: figures, then priors.
func (p *problem) residuals(ctx context.Context, x []float64) ([]residual, error) {
	results, err := validate.Run(ctx, p.rows, p.options(p.with(x)))
	if err != nil {
		return nil, err
	}
	var out []residual
	for _, l := range validate.Lines(results) {
		spread := tpotSpread
		switch l.Metric {
		case validate.TPOTMean:
		case validate.TTFTMean:
			spread = ttftSpread
		default:
			continue
		}
		t := residual{row: l.Row.ID, metric: l.Metric}
		if l.Skipped == "" {
			t.r = portable.Log(l.Simulated/l.Measured) / spread
		}
		out = append(out, t)
	}
	for i, q := range p.parameters {
		out = append(out, residual{r: (x[i] - q.Prior) / q.Width})
	}
	return out, nil
}

// robust returns sign(r)·√ρ(r) with ρ(r) = 2·(√(1+r²)-1), whose square is the
// loss of r.
func robust(r float64) float64 {
	return math.Copysign(math.Sqrt(2*(math.Sqrt(1+float64(r*r))-1)), r)
}

// terms returns the robust residuals at x, whose sum of squares is the loss.
func (p *problem) terms(ctx context.Context, x []float64) ([]float64, error) {
	rs, err := p.residuals(ctx, x)
	if err != nil {
		return nil, err
	}
	out := make([]float64, len(rs))
	for i, r := range rs {
		out[i] = r.r
		if r.row != "" {
			out[i] = robust(r.r)
		}
	}
	return out, nil
}
