package analysis

import (
	"math"
	"slices"

	"servesim/sim"
)

// Direction says whether a change is for the better.
type Direction string

// The directions of a change. A latency that falls is better.
const (
	// Better and Worse: the whole interval of the change is on one side of none.
	Better Direction = "better"
	Worse  Direction = "worse"
	// BetterSlightly and WorseSlightly: so it is, but all of it within sameWithin of the base.
	BetterSlightly Direction = "slightly better"
	WorseSlightly  Direction = "slightly worse"
	// Same: the interval holds no change, and all of it is within sameWithin of the base.
	Same Direction = "same"
	// Unclear: the interval holds no change and changes that would matter, or
	// there is no interval.
	Unclear Direction = "too close to call"
)

// sameWithin is the share of the base within which a change is of no consequence.
const sameWithin = 0.01

// Change is by how much a statistic of a latency differs between two runs of the
// same requests.
type Change struct {
	// Name and Key are those of the Metric, Statistic is "mean" or a percentile.
	Name, Key, Statistic string
	// Base and Run are its values in both.
	Base, Run sim.Duration
	// Interval is that of Run-Base.
	Interval Interval
	// Paired tells that the interval follows requests through both runs; otherwise
	// it takes the runs for independent, and is wider.
	Paired    bool
	Direction Direction
	// Settles is about how many values, or replications, it takes for the direction
	// to be clear, 0 if it is or if nothing says.
	Settles int64
}

// Difference returns Run-Base.
func (c *Change) Difference() sim.Duration { return c.Run - c.Base }

// judge sets the direction of a change that n values, or replications, tell.
func (c *Change) judge(n int64) {
	c.Direction, c.Settles = Unclear, 0
	i := c.Interval
	if !i.OK {
		c.Settles = i.Needs
		return
	}
	margin := math.Abs(float64(sameWithin * float64(c.Base)))
	small := float64(i.Hi) <= margin && float64(i.Lo) >= -margin
	switch {
	case i.Hi < 0 && small:
		c.Direction = BetterSlightly
	case i.Lo > 0 && small:
		c.Direction = WorseSlightly
	case i.Hi < 0:
		c.Direction = Better
	case i.Lo > 0:
		c.Direction = Worse
	case small:
		c.Direction = Same
	default:
		half := float64(i.Hi-i.Lo) / 2
		is := math.Abs(float64(c.Difference()))
		factor := half / max(is, margin-is)
		c.Settles = upToTwoDigits(float64(float64(n)*factor) * max(1, factor))
	}
}

// changes compares the values of the same requests in two runs, in the order of
// the requests: their means and percentiles ps.
func changes(base, run []int64, ps []Percentile) []Change {
	if len(base) == 0 {
		return nil
	}
	a, b := watched(base, ps), watched(run, ps)
	mean := Change{Statistic: "mean", Base: a.d.Mean, Run: b.d.Mean, Paired: true, Interval: pairedMean(base, run)}
	mean.judge(int64(len(base)))
	list := []Change{mean}
	for i, p := range ps {
		if p.ppb == 0 || p.ppb == whole {
			continue
		}
		c := Change{
			Statistic: p.String(), Base: a.d.Quantiles[i].Value, Run: b.d.Quantiles[i].Value,
			Paired: true, Interval: pairedQuantile(a, b, i),
		}
		if slices.Equal(base, run) {
			c.Interval.OK, c.Interval.Needs = true, 0 // what is the same has no luck of its own
		}
		c.judge(int64(len(base)))
		list = append(list, c)
	}
	return list
}

// watchedValues are values in their order, with what is known of them.
type watchedValues struct {
	d Distribution
	s *stretches
}

// watched describes values, of which there is at least one.
func watched(values []int64, ps []Percentile) watchedValues {
	var total sum
	for _, v := range values {
		total.add(uint64(v))
	}
	lo, hi := extremes(values)
	n := int64(len(values))
	w := watchedValues{d: Distribution{OK: true, Count: n, Mean: sim.Duration(total.over(n)), Min: sim.Duration(lo), Max: sim.Duration(hi)}}
	chunks := [][]int64{values}
	w.d.describe(asked{Linear, ps, 0}, exactly(chunks, lo, hi), func(d *Distribution) *stretches {
		w.s = newStretches(d)
		return divide(w.s, n, chunks, w.s.add)
	})
	return w
}

// pairedMean returns the interval of the mean of run-base.
func pairedMean(base, run []int64) Interval {
	s := newStretches(&Distribution{})
	n := int64(len(base))
	difference := make([]int64, n)
	for i := range base {
		difference[i] = run[i] - base[i]
	}
	divide(s, n, [][]int64{difference}, s.add)
	e, below, above := s.mean()
	if !e.OK {
		return Interval{Evidence: e}
	}
	var total float64
	for i := range s.cells {
		total += s.cells[i].sum
	}
	mean := total / float64(n)
	return Interval{e, sim.Duration(math.Floor(mean - below)), sim.Duration(math.Ceil(mean + above))}
}

// pairedQuantile returns the interval of the difference between the i-th
// quantiles of b and a, whose values are of the same requests, or of replications
// under the same seeds. A quantile moves by
// the excess of values below it over the density there (Bahadur, Annals of
// Mathematical Statistics 37, 1966). The density is the slope of its interval; the
// excesses of both runs go together by stretches, and where the same requests
// are slow in both, they cancel.
func pairedQuantile(a, b watchedValues, i int) Interval {
	qa, qb := &a.d.Quantiles[i], &b.d.Quantiles[i]
	e := qa.Interval.Evidence
	if qb.Interval.Effective < e.Effective || !qb.Interval.OK {
		e = qb.Interval.Evidence
	}
	if !qa.Interval.OK || !qb.Interval.OK {
		e.OK, e.Needs = false, max(qa.Interval.Needs, qb.Interval.Needs)
		return Interval{Evidence: e}
	}
	excessA, caution := a.moved(qa)
	excessB, cautionB := b.moved(qb)
	r := quotient{over: make([]float64, len(a.s.cells)), under: make([]float64, len(a.s.cells))}
	scale := float64(a.d.Count) / float64(b.d.Count) // 1 where each value has its pair
	for k := range r.over {
		r.over[k] = float64(excessB.over[k]*scale) - excessA.over[k]
		r.under[k] = excessA.under[k]
	}
	sp := a.s.spread(r)
	sp.variance = float64(sp.variance * max(caution, cautionB))
	below, above := meanBounds(sp, sp.freedom+1)
	is := float64(qb.Value - qa.Value)
	e.Effective = min(qa.Interval.Effective, qb.Interval.Effective)
	return Interval{e, sim.Duration(math.Floor(is - below)), sim.Duration(math.Ceil(is + above))}
}

// moved returns by how much each stretch of w moves its quantile q, and the
// factor of its variance that the body adds to that of a tail.
func (w watchedValues) moved(q *QuantileValue) (r quotient, caution float64) {
	p := q.P.Fraction()
	r, share := w.s.below(w.s.mark(q.P), p)
	lo, hi := rankShares(p, q.Interval.Effective)
	slope := float64(q.Interval.Hi-q.Interval.Lo) / (hi - lo)
	for k := range r.over {
		r.over[k] = -float64((r.over[k] - float64(share*r.under[k])) * slope)
	}
	return r, w.s.effective(q.P) / q.Interval.Effective
}

// apart returns the interval of the difference of two values with intervals,
// independent of each other, by the method of variance estimates recovery (Zou
// and Donner, Statistics in Medicine 27, 2008).
func apart(base, run sim.Duration, a, b Interval) Interval {
	if !a.OK || !b.OK {
		e := a.Evidence
		if a.OK {
			e = b.Evidence
		}
		e.Needs = max(a.Needs, b.Needs)
		return Interval{Evidence: e}
	}
	both := func(x, y sim.Duration) float64 {
		return math.Sqrt(float64(float64(x)*float64(x)) + float64(float64(y)*float64(y)))
	}
	e := a.Evidence
	e.Effective = min(a.Effective, b.Effective)
	is := float64(run - base)
	return Interval{
		e, sim.Duration(math.Floor(is - both(run-b.Lo, a.Hi-base))),
		sim.Duration(math.Ceil(is + both(b.Hi-run, base-a.Lo))),
	}
}

// changesApart compares distributions of runs whose values don't pair.
func changesApart(base, run *Distribution) []Change {
	if !base.OK || !run.OK {
		return nil
	}
	n := min(base.Count, run.Count)
	mean := Change{Statistic: "mean", Base: base.Mean, Run: run.Mean, Interval: apart(base.Mean, run.Mean, base.MeanInterval, run.MeanInterval)}
	mean.judge(n)
	list := []Change{mean}
	for i := range base.Quantiles {
		a, b := &base.Quantiles[i], &run.Quantiles[i]
		if a.P.ppb == 0 || a.P.ppb == whole {
			continue
		}
		c := Change{Statistic: a.P.String(), Base: a.Value, Run: b.Value, Interval: apart(a.Value, b.Value, a.Interval, b.Interval)}
		c.judge(n)
		list = append(list, c)
	}
	return list
}
