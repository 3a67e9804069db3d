package calibrate

import (
	"context"
	"math"
	"slices"

	"servesim/internal/portable"
)

// maxFolds is the most parts that figures are divided into, each held out once.
const maxFolds = 5

// Errors is how far predictions of one metric are off. Median and P90 are of
// |predicted/measured - 1|, Bias is the mean of predicted/measured - 1, in percent;
// those held out are of figures that the constants were not fitted to. NaN
// if nothing was held out.
type Errors struct {
	Metric                    string
	N                         int
	Median, P90, Bias         float64
	HeldOutMedian, HeldOutP90 float64
}

// blind returns the figures, each under constants that were fitted from x on to the
// other parts; nil if there are no two parts.
func (p *problem) blind(ctx context.Context, x []float64, parts int) ([]Figure, error) {
	if parts < 2 || len(p.parameters) == 0 {
		return nil, nil
	}
	var out []Figure
	for k := range parts {
		q := *p
		q.held = func(part int) bool { return part == k }
		y, _, err := q.together(ctx, x)
		if err != nil {
			return nil, err
		}
		figures, err := p.data.Figures(ctx, p.with(y))
		if err != nil {
			return nil, err
		}
		for _, f := range figures {
			if f.Part == k {
				out = append(out, f)
			}
		}
	}
	return out, nil
}

// summarise returns the errors of figures by metric, in the order in which the
// metrics come first, with those of the same held out beside them.
func summarise(figures, blind []Figure) []Errors {
	var out []Errors
	for _, f := range figures {
		if f.Left || slices.ContainsFunc(out, func(e Errors) bool { return e.Metric == f.Metric }) {
			continue
		}
		e := Errors{Metric: f.Metric, HeldOutMedian: math.NaN(), HeldOutP90: math.NaN()}
		seen := percents(figures, f.Metric)
		for _, x := range seen {
			e.Bias += x / float64(len(seen))
		}
		e.N = len(seen)
		e.Median, e.P90 = spreadOf(seen)
		if unseen := percents(blind, f.Metric); len(unseen) > 0 {
			e.HeldOutMedian, e.HeldOutP90 = spreadOf(unseen)
		}
		out = append(out, e)
	}
	return out
}

// percents returns the errors of one metric.
func percents(figures []Figure, metric string) []float64 {
	var out []float64
	for _, f := range figures {
		if f.Metric == metric && !f.Left {
			out = append(out, 100*(portable.Exp(f.Log)-1))
		}
	}
	return out
}

// spreadOf returns the median and the 90th percentile of the absolute values of
// errors, on the straight line between two ranks.
func spreadOf(errors []float64) (median, p90 float64) {
	abs := make([]float64, len(errors))
	for i, e := range errors {
		abs[i] = math.Abs(e)
	}
	slices.Sort(abs)
	quantile := func(q float64) float64 {
		at := q * float64(len(abs)-1)
		i := min(int(at), len(abs)-1)
		next := min(i+1, len(abs)-1)
		return abs[i] + float64((at-float64(i))*(abs[next]-abs[i]))
	}
	return quantile(0.5), quantile(0.9)
}
