package calibrate

import (
	"context"
	"fmt"
	"math"

	"gonum.org/v1/gonum/mat"
)

// TradeOff is the correlation of the errors of two constants.
type TradeOff struct {
	A, B        string
	Correlation float64
}

// badCorrelation is the correlation from which on two constants count as told
// apart badly.
const badCorrelation = 0.7

// Direction is a combination of constants, each in widths of its prior, of which the
// data say less than was known before: a right singular vector of their Jacobian.
type Direction struct {
	// Singular is its singular value: the data tell the combination to 1/Singular.
	Singular float64
	Parts    []Share
}

// Share is what a constant has in a Direction, from -1 to 1.
type Share struct {
	Key    string
	Weight float64
}

// leastShare is the least weight of a Share that is told.
const leastShare = 0.3

// identify fills in the constants with their errors and trade-offs.
func (r *Result) identify(ctx context.Context, q *problem, x []float64) error {
	f, err := q.terms(ctx, x)
	if err != nil {
		return err
	}
	n := len(x)
	if n == 0 {
		return nil
	}
	differentiate := q.jacobian
	if q.jittery {
		differentiate = q.slopes
	}
	j, err := differentiate(ctx, x, len(f))
	if err != nil {
		return err
	}
	normal := mat.NewSymDense(n, nil)
	normal.SymOuterK(1, j.T())
	var c mat.Cholesky
	if !c.Factorize(normal) { // cannot be: each prior adds 1 to its diagonal
		return fmt.Errorf("the constants of %s %s: the normal equations are singular", r.GPU, r.Engine)
	}
	var covariance mat.SymDense
	if err := c.InverseTo(&covariance); err != nil {
		return fmt.Errorf("the constants of %s %s: %w", r.GPU, r.Engine, err)
	}
	// Where the form misses by more than the spreads assumed, so do the errors.
	excess := max(1, square(f)/float64(max(1, len(f)-2*n)))
	for i := range x {
		v := covariance.At(i, i)
		least, most := q.bounds(i)
		r.Constants = append(r.Constants, Constant{
			Parameter: q.parameters[i], Value: x[i],
			Error: math.Sqrt(min(1, float64(v*excess))) * q.parameters[i].Width,
			Told:  max(0, 1-float64(v*excess)), Bound: x[i] <= least || x[i] >= most*(1-1e-4),
		})
		for k := range i {
			if rho := covariance.At(i, k) / math.Sqrt(float64(v*covariance.At(k, k))); math.Abs(rho) >= badCorrelation {
				r.TradeOffs = append(r.TradeOffs, TradeOff{q.parameters[k].Key, q.parameters[i].Key, rho})
			}
		}
	}
	r.Weak = q.weak(j, len(f)-n)
	return nil
}

// weak returns the combinations of two or more constants of which the figures, the
// first rows of the Jacobian j, say less than the priors do.
func (p *problem) weak(j *mat.Dense, figures int) []Direction {
	n := len(p.parameters)
	if figures < 1 {
		return nil
	}
	var svd mat.SVD
	if !svd.Factorize(j.Slice(0, figures, 0, n), mat.SVDFullV) {
		return nil // the normal equations have said what there is to say
	}
	values := svd.Values(nil)
	var v mat.Dense
	svd.VTo(&v)
	var out []Direction
	for k := range n {
		d := Direction{}
		if k < len(values) {
			d.Singular = values[k]
		}
		if d.Singular >= 1 {
			continue
		}
		sign := 0.0
		for i := range n {
			w := v.At(i, k)
			if math.Abs(w) < leastShare {
				continue
			}
			if sign == 0 {
				sign = math.Copysign(1, w) // a direction has no sign; its first share is positive
			}
			d.Parts = append(d.Parts, Share{p.parameters[i].Key, w * sign})
		}
		if len(d.Parts) > 1 {
			out = append(out, d)
		}
	}
	return out
}
