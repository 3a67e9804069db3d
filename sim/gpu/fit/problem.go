package fit

import (
	"fmt"
	"math"
	"slices"

	"gonum.org/v1/gonum/diff/fd"
	"gonum.org/v1/gonum/optimize"

	"servesim/internal/portable"
	"servesim/sim/gpu"
)

// A sample is one measured time and the shape that it belongs to, which is held
// out as a whole.
type sample struct {
	shape   string
	seconds float64
}

// A coefficient is one unknown of a problem, more than 0.
type coefficient struct {
	start float64
	most  float64 // 0: no bound
}

// A problem is the fitting of coefficients to samples. predict returns the time of
// sample i, in seconds, for coefficients x.
type problem struct {
	coefficients []coefficient
	samples      []sample
	predict      func(x []float64) func(i int) float64
}

// spread is the error beyond which a sample counts less than its square: about
// the scatter of good fits, so that a sixth or so of all samples are beyond.
const spread = 0.1

// heldOut is 1 over the share of shapes that are held out: every third, and of two
// shapes the second. One shape cannot be held out.
const heldOut = 3

// solve returns the coefficients that fit all samples and how far they are off.
func (p problem) solve() ([]float64, gpu.Provenance, error) {
	if len(p.samples) < 2*len(p.coefficients) {
		return nil, gpu.Provenance{}, fmt.Errorf("%d rows are too few for %d coefficients", len(p.samples), len(p.coefficients))
	}
	shapes := make([]string, len(p.samples))
	for i, s := range p.samples {
		shapes[i] = s.shape
	}
	slices.Sort(shapes)
	shapes = slices.Compact(shapes)
	all := make([]int, len(p.samples))
	var seen, unseen []int
	every := min(heldOut, len(shapes))
	for i, s := range p.samples {
		all[i] = i
		if n, _ := slices.BinarySearch(shapes, s.shape); every > 1 && n%every == every-1 {
			unseen = append(unseen, i)
		} else {
			seen = append(seen, i)
		}
	}
	x, err := p.minimise(all)
	if err != nil {
		return nil, gpu.Provenance{}, err
	}
	blind, err := p.minimise(seen)
	if err != nil {
		return nil, gpu.Provenance{}, err
	}
	prov := gpu.Provenance{Rows: int64(len(all))}
	prov.Median, prov.P90 = p.errors(x, all)
	prov.HeldOutMedian, prov.HeldOutP90 = p.errors(blind, unseen)
	return x, prov, nil
}

// minimise fits the samples with the given numbers: the sum of
// 2·(√(1+(log(predicted/measured)/spread)²)-1) is least.
func (p problem) minimise(samples []int) ([]float64, error) {
	loss := func(q []float64) float64 {
		at := p.predict(p.values(q))
		sum := 0.0
		for _, i := range samples {
			r := portable.Log(at(i)/p.samples[i].seconds) / spread
			sum += 2 * (math.Sqrt(1+float64(r*r)) - 1)
		}
		return sum / float64(len(samples))
	}
	q := make([]float64, len(p.coefficients))
	for i, c := range p.coefficients {
		q[i] = portable.Log(c.start)
		if c.most > 0 {
			q[i] = -portable.Log(c.most/c.start - 1)
		}
	}
	gradient := func(grad, q []float64) { fd.Gradient(grad, loss, q, &fd.Settings{Formula: fd.Central, Step: 1e-5}) }
	best := loss(q)
	for range 4 {
		r, err := optimize.Minimize(optimize.Problem{Func: loss, Grad: gradient}, q, &optimize.Settings{
			GradientThreshold: 1e-7, MajorIterations: 400,
		}, &optimize.BFGS{})
		if r == nil {
			return nil, fmt.Errorf("fitting: %w", err)
		}
		// An error is a line search that finds nothing lower within the noise of the
		// gradient; the place it stopped at is then a minimum, or the next round
		// leaves it.
		q = r.X
		if best-r.F < 1e-9 {
			break
		}
		best = r.F
	}
	return p.values(q), nil
}

// values returns the coefficients for the free numbers q: their logarithms, or,
// below a bound, those of the odds.
func (p problem) values(q []float64) []float64 {
	x := make([]float64, len(q))
	for i, c := range p.coefficients {
		if c.most > 0 {
			x[i] = c.most / (1 + portable.Exp(-min(max(q[i], -40), 40)))
		} else {
			x[i] = portable.Exp(min(max(q[i], -80), 80))
		}
	}
	return x
}

// errors returns the median and the 90th percentile of |predicted/measured - 1|.
func (p problem) errors(x []float64, samples []int) (median, p90 float64) {
	at := p.predict(x)
	errs := make([]float64, len(samples))
	for n, i := range samples {
		errs[n] = math.Abs(at(i)/p.samples[i].seconds - 1)
	}
	return quantiles(errs)
}

// quantiles sorts errs and returns its median and 90th percentile.
func quantiles(errs []float64) (median, p90 float64) {
	if len(errs) == 0 {
		return 0, 0
	}
	slices.Sort(errs)
	return errs[(len(errs)-1)/2], errs[(len(errs)-1)*9/10]
}
