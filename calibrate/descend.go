package calibrate

import (
	"context"
	"math"

	"gonum.org/v1/gonum/mat"
)

// maxRounds is the most rounds of a search.
const maxRounds = 25

// step returns the finite difference of constant i at x: a tenth of its
// prior's width, towards the inside of its bounds.
func (p *problem) step(i int, x []float64) float64 {
	q := &p.parameters[i]
	h := q.Width / 10
	if _, most := p.bounds(i); x[i]+h > most {
		h = -h
	}
	return h
}

// jacobian returns the derivatives of the terms by the constants in units of
// their priors' widths.
func (p *problem) jacobian(ctx context.Context, x, at []float64) (*mat.Dense, error) {
	j := mat.NewDense(len(at), len(x), nil)
	for i := range x {
		h := p.step(i, x)
		moved := append([]float64(nil), x...)
		moved[i] += h
		f, err := p.terms(ctx, moved)
		if err != nil {
			return nil, err
		}
		for k := range f {
			j.Set(k, i, (f[k]-at[k])/h*p.parameters[i].Width)
		}
	}
	return j, nil
}

func square(f []float64) float64 {
	s := 0.0
	for _, v := range f {
		s += float64(v * v)
	}
	return s
}

// descend looks for the constants with the least loss, from x on.
func (p *problem) descend(ctx context.Context, x []float64) ([]float64, float64, error) {
	f, err := p.terms(ctx, x)
	if err != nil {
		return nil, 0, err
	}
	loss, damping := square(f), 1e-2
	for range maxRounds {
		j, err := p.jacobian(ctx, x, f)
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
	out := append([]float64(nil), x...)
	for i := range out {
		least, most := p.bounds(i)
		out[i] = min(max(x[i]+float64(d.AtVec(i)*p.parameters[i].Width), least), most)
	}
	return out, true
}
