package analysis

import (
	"errors"
	"fmt"
	"math"

	"servesim/sim"
)

// ReplicatedRun is one of the scenarios that a ReplicatedComparison is of.
type ReplicatedRun struct {
	// Name is what tables call it.
	Name string
	*Replicated
}

// ReplicatedComparison sets scenarios side by side that each ran under the same seeds.
type ReplicatedComparison struct {
	// Runs are the scenarios as given; the first is the base of the others.
	Runs []ReplicatedRun
	// Changes are, for each scenario but the first, those of the mean and of each
	// percentile of TTFT, TPOT, ITL, worst gap and E2E, of the values of all seeds
	// together. Intervals come from how the changes differ by seed.
	Changes [][]Change
	// Goodput is the change of each scenario but the first, nil without limits on
	// requests.
	Goodput []*ShareChange
}

// CompareReplications compares scenarios with the first of them. list has for each
// its replications, under the same seeds in the same order. ps are the percentiles, those of
// DefaultPercentiles if there are none. It is an error if there are fewer than two
// scenarios, or not as many replications of each.
func CompareReplications(names []string, list [][]*Replication, ps []Percentile) (*ReplicatedComparison, error) {
	if len(list) < 2 || len(list) != len(names) {
		return nil, errors.New("a comparison needs two scenarios or more, each with a name")
	}
	if len(ps) == 0 {
		ps = DefaultPercentiles()
	}
	c := new(ReplicatedComparison)
	for i, runs := range list {
		if len(runs) != len(list[0]) {
			return nil, fmt.Errorf("%s has %d replications, %s has %d; they are compared seed by seed", names[0], len(list[0]), names[i], len(runs))
		}
		c.Runs = append(c.Runs, ReplicatedRun{names[i], Replicate(runs, ps)})
	}
	for i := 1; i < len(list); i++ {
		c.Changes = append(c.Changes, replicatedChanges(list[0], list[i], ps))
		c.Goodput = append(c.Goodput, replicatedGoodput(list[0], list[i]))
	}
	return c, nil
}

// replicatedChanges compares every metric.
func replicatedChanges(base, run []*Replication, ps []Percentile) []Change {
	var p Paired
	a := asked{Linear, ps, 0}
	for _, m := range new(Report).Metrics() {
		var x, y watchedValues
		if m.Key == ITL.String() {
			before, after := bothHave(base, run, func(r *Replication) *GapSample { return &r.itl }, func(s *GapSample) int64 { return s.count })
			x, y = poolGaps(before, a), poolGaps(after, a)
		} else if k := keptAs(m.Key); k >= 0 {
			before, after := bothHave(base, run, func(r *Replication) *Sample { return r.samples()[k] }, func(s *Sample) int64 { return s.count })
			x, y = poolSamples(before, a), poolSamples(after, a)
		} else {
			continue
		}
		p.change(m.Name, m.Key, changesBySeed(x, y, ps))
	}
	return p.Changes
}

// bothHave returns a sample of each replication, of those seeds under which both
// scenarios have values. All are settled.
func bothHave[S interface{ settle() }](base, run []*Replication, of func(*Replication) S, count func(S) int64) (before, after []S) {
	for i := range base {
		x, y := of(base[i]), of(run[i])
		x.settle()
		y.settle()
		if count(x) > 0 && count(y) > 0 {
			before, after = append(before, x), append(after, y)
		}
	}
	return before, after
}

// changesBySeed compares two metrics whose stretches are replications under the
// same seeds.
func changesBySeed(a, b watchedValues, ps []Percentile) []Change {
	if !a.d.OK || !b.d.OK {
		return nil
	}
	n := int64(len(a.s.cells))
	mean := Change{Statistic: "mean", Base: a.d.Mean, Run: b.d.Mean, Paired: true, Interval: meanBySeed(a, b)}
	mean.judge(n)
	list := []Change{mean}
	for i, p := range ps {
		if p.ppb == 0 || p.ppb == whole {
			continue
		}
		c := Change{Statistic: p.String(), Base: a.d.Quantiles[i].Value, Run: b.d.Quantiles[i].Value, Paired: true, Interval: pairedQuantile(a, b, i)}
		c.judge(n)
		list = append(list, c)
	}
	return list
}

// meanBySeed returns the interval of the difference between the means of b and a.
func meanBySeed(a, b watchedValues) Interval {
	ratio := func(w watchedValues) quotient {
		var r quotient
		for i := range w.s.cells {
			r.over, r.under = append(r.over, w.s.cells[i].sum), append(r.under, float64(w.s.cells[i].n))
		}
		return r
	}
	is := float64(b.d.Mean - a.d.Mean)
	e, lo, hi := ratioChange(ratio(a), ratio(b), is)
	return Interval{e, sim.Duration(math.Floor(lo)), sim.Duration(math.Ceil(hi))}
}

// ratioChange returns the interval of the difference between two ratios, which is
// is, by replications under the same seeds: each seed contributes the difference of
// what its numerators have beyond their shares of the wholes.
func ratioChange(a, b quotient, is float64) (e Evidence, lo, hi float64) {
	k := len(a.over)
	e = Evidence{Method: Replications, Needs: FewestReplications, Effective: float64(k)}
	if k < FewestReplications {
		return e, 0, 0
	}
	x, y := a.residuals(k), b.residuals(k)
	for i := range x {
		y[i] -= x[i]
	}
	variance, _, skewness := moments(y)
	below, above := meanBounds(spread{variance: variance, freedom: float64(k - 1), skewness: skewness}, float64(k))
	e.OK, e.Needs = true, 0
	return e, is - below, is + above
}

// replicatedGoodput compares the shares of good requests, nil without limits.
func replicatedGoodput(base, run []*Replication) *ShareChange {
	if len(base) == 0 || len(base[0].slo.Goodput) == 0 || len(run[0].slo.Goodput) == 0 {
		return nil
	}
	ratio := func(list []*Replication) (r quotient, share float64) {
		var good, n float64
		for _, one := range list {
			r.over, r.under = append(r.over, float64(one.good.good)), append(r.under, float64(one.requests))
			good, n = good+float64(one.good.good), n+float64(one.requests)
		}
		return r, good / n
	}
	x, a := ratio(base)
	y, b := ratio(run)
	e, lo, hi := ratioChange(x, y, b-a)
	// A share falls as a latency does where good requests count as negative.
	scaled := func(share float64) sim.Duration { return sim.Duration(math.Round(-share * whole)) }
	c := Change{Base: scaled(a), Run: scaled(b), Interval: Interval{e, scaled(hi), scaled(lo)}}
	c.judge(int64(len(base)))
	return &ShareChange{Base: a, Run: b, Direction: c.Direction, Settles: c.Settles, Interval: ShareInterval{e, max(-1, lo), min(1, hi)}}
}
