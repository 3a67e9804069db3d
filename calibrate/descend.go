package calibrate

import (
	"context"
	"math"
	"slices"

	"gonum.org/v1/gonum/mat"
)

// maxRounds is the most rounds of a search.
const maxRounds = 25

// difference is the finite difference of a constant, in widths of its prior: wide,
// as a run is a sequence of whole steps and its figures jitter when one moves.
const difference = 0.25

// slopes returns the Jacobian as jacobian does, but each derivative is the slope of
// the straight line through four points up to a width away, on which the jitter of
// runs weighs less: it would pass for something that the data tell.
func (p *problem) slopes(ctx context.Context, x []float64, terms int) (*mat.Dense, error) {
	j := mat.NewDense(terms, len(x), nil)
	for i := range x {
		least, most := p.bounds(i)
		var at, mean []float64
		var f [][]float64
		middle := 0.0
		for _, part := range []float64{-1, -0.5, 0.5, 1} {
			moved := slices.Clone(x)
			moved[i] = min(max(x[i]+float64(part*p.parameters[i].Width), least), most)
			g, err := p.terms(ctx, moved)
			if err != nil {
				return nil, err
			}
			if mean == nil {
				mean = make([]float64, len(g))
			}
			for k := range g {
				mean[k] += g[k] / 4
			}
			d := (moved[i] - x[i]) / p.parameters[i].Width
			middle += d / 4
			at, f = append(at, d), append(f, g)
		}
		square := 0.0
		for _, d := range at {
			square += float64((d - middle) * (d - middle))
		}
		if square == 0 {
			continue
		}
		for k := range terms {
			sum := 0.0
			for n, d := range at {
				sum += float64((d - middle) * (f[n][k] - mean[k]))
			}
			j.Set(k, i, sum/square)
		}
	}
	return j, nil
}

// jacobian returns the derivatives of the terms by the constants in units of
// their priors' widths.
func (p *problem) jacobian(ctx context.Context, x []float64, terms int) (*mat.Dense, error) {
	j := mat.NewDense(terms, len(x), nil)
	for i := range x {
		least, most := p.bounds(i)
		h := float64(difference * p.parameters[i].Width)
		low, high := max(x[i]-h, least), min(x[i]+h, most)
		if low == high {
			continue
		}
		var f [2][]float64
		for k, v := range []float64{low, high} {
			moved := slices.Clone(x)
			moved[i] = v
			var err error
			if f[k], err = p.terms(ctx, moved); err != nil {
				return nil, err
			}
		}
		for k := range f[0] {
			j.Set(k, i, (f[1][k]-f[0][k])/(high-low)*p.parameters[i].Width)
		}
	}
	return j, nil
}

// square returns the sum of the squares of f.
func square(f []float64) float64 {
	s := 0.0
	for _, v := range f {
		s += float64(v * v)
	}
	return s
}

// descend looks for the constants with the least loss, from x on: by turns along
// all of them together and along each of them alone, since what all together
// cannot leave, a step of one across the jitter can.
func (p *problem) descend(ctx context.Context, x []float64) ([]float64, float64, error) {
	loss := math.Inf(1)
	for range 4 {
		y, l, err := p.together(ctx, x)
		if err != nil {
			return nil, 0, err
		}
		if l >= float64(0.99*loss) {
			break
		}
		if x, loss, err = p.alone(ctx, y, l); err != nil {
			return nil, 0, err
		}
	}
	return x, loss, nil
}

// alone moves each constant in turn by shrinking parts of its prior's width as long
// as the loss shrinks.
func (p *problem) alone(ctx context.Context, x []float64, loss float64) ([]float64, float64, error) {
	for i := range x {
		for _, part := range []float64{0.5, -0.5, 0.2, -0.2} {
			for range 4 {
				least, most := p.bounds(i)
				y := slices.Clone(x)
				y[i] = min(max(x[i]+float64(part*p.parameters[i].Width), least), most)
				f, err := p.terms(ctx, y)
				if err != nil {
					return nil, 0, err
				}
				l := square(f)
				if l >= loss {
					break
				}
				x, loss = y, l
			}
		}
	}
	return x, loss, nil
}

// together looks for the constants with the least loss, from x on, with the
// Levenberg-Marquardt method.
func (p *problem) together(ctx context.Context, x []float64) ([]float64, float64, error) {
	f, err := p.terms(ctx, x)
	if err != nil {
		return nil, 0, err
	}
	loss, damping := square(f), 1e-2
	for range maxRounds {
		j, err := p.jacobian(ctx, x, len(f))
		if err != nil {
			return nil, 0, err
		}
		better := false
		for range 6 {
			trial, ok := p.move(x, f, j, damping)
			if !ok {
				damping *= 10
				continue
			}
			g, err := p.terms(ctx, trial)
			if err != nil {
				return nil, 0, err
			}
			if l := square(g); l < loss {
				better = loss-l > 1e-4*loss
				x, f, loss = trial, g, l
				damping = math.Max(damping/10, 1e-6)
				break
			}
			damping *= 10
		}
		if !better {
			break
		}
	}
	return x, loss, nil
}

// move returns x moved by a damped step, kept within the bounds. Constants that
// sit on a bound and would leave it are held.
func (p *problem) move(x, f []float64, j *mat.Dense, damping float64) ([]float64, bool) {
	n := len(x)
	var grad mat.VecDense
	grad.MulVec(j.T(), mat.NewVecDense(len(f), f))
	var held []bool
	for i := range x {
		least, most := p.bounds(i)
		held = append(held, x[i] <= least && grad.AtVec(i) > 0 || x[i] >= most && grad.AtVec(i) < 0)
	}
	normal := mat.NewSymDense(n, nil)
	normal.SymOuterK(1, j.T())
	right := mat.NewVecDense(n, nil)
	for i := range n {
		if held[i] {
			for k := range n {
				normal.SetSym(i, k, 0)
			}
			normal.SetSym(i, i, 1)
			continue
		}
		normal.SetSym(i, i, normal.At(i, i)*(1+damping))
		right.SetVec(i, -grad.AtVec(i))
	}
	var c mat.Cholesky
	if !c.Factorize(normal) {
		return nil, false
	}
	var d mat.VecDense
	if c.SolveVecTo(&d, right) != nil {
		return nil, false
	}
	out := slices.Clone(x)
	for i := range out {
		least, most := p.bounds(i)
		out[i] = min(max(x[i]+float64(d.AtVec(i)*p.parameters[i].Width), least), most)
	}
	return out, true
}
