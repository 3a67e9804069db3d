package analysis

import (
	"errors"
	"fmt"
	"math/bits"
	"slices"
	"strings"

	"servesim/sim"
	"servesim/sim/observe"
)

// Run is one of the runs to compare.
type Run struct {
	// Name is what tables call the run.
	Name string
	// Report and Pairs took the records of the run.
	Report *Report
	Pairs  *Pairing
}

// Comparison sets runs on the same arrivals side by side.
type Comparison struct {
	// Runs are the runs as given; the first is the base of the others.
	Runs []Run
	// Paired compares each run but the first with the first, request by request.
	Paired []Paired
}

// Paired compares the requests of a run with the same requests of a base run.
type Paired struct {
	// Base and Run index Comparison.Runs.
	Base, Run int
	// Both is the number of requests that completed in both runs; differences are
	// over these alone. OnlyBase and OnlyRun completed in one run and not in the
	// other, Neither in none.
	Both, OnlyBase, OnlyRun, Neither int64
	// Unmatched is the number of requests that one of the runs has no record of;
	// they are in none of the counts above.
	Unmatched int64
	// Moved is the number of requests with records in both that arrived at
	// different instants, as in a closed loop.
	Moved int64
	// Differences are of TTFT, TPOT, worst gap and E2E.
	Differences []Difference
	// Changes are those of the mean and of each percentile of TTFT, TPOT, worst gap
	// and E2E over the requests that completed in both runs, and of ITL.
	Changes []Change
	// Goodput is the change of goodput, nil without limits on requests.
	Goodput *ShareChange

	goodBase, goodRun []bool // of the requests with records in both
}

// Difference is by how much a latency of the same request differs between two
// runs: the value in the run minus the value in the base, so that negative is better.
type Difference struct {
	// Name and Key are those of the Metric.
	Name, Key string
	// Distribution is of the signed differences; its mean is rounded to the nearest
	// picosecond, halves away from 0, and its Quantiles are exact.
	Distribution
	// Better, Equal and Worse are the numbers of negative, zero and positive differences.
	Better, Equal, Worse int64
}

// DifferencePercentiles returns P1, P10, P50, P90 and P99, the percentiles of
// every Difference.
func DifferencePercentiles() []Percentile {
	return []Percentile{{10_000_000}, {100_000_000}, {500_000_000}, {900_000_000}, {990_000_000}}
}

// Compare compares runs with the first of them. It is an error if there are
// fewer than two, if their reports have different percentiles or goodput limits,
// or if a run has two records of one request.
func Compare(runs []Run) (*Comparison, error) {
	if len(runs) < 2 {
		return nil, errors.New("a comparison needs two runs or more")
	}
	for _, r := range runs {
		if err := r.Pairs.sort(); err != nil {
			return nil, fmt.Errorf("%s: %w", r.Name, err)
		}
		if !slices.Equal(r.Report.Percentiles, runs[0].Report.Percentiles) {
			return nil, fmt.Errorf("%s and %s report different percentiles: %v and %v", runs[0].Name, r.Name, runs[0].Report.Percentiles, r.Report.Percentiles)
		}
		if a, b := runs[0].Report.limits(), r.Report.limits(); a != b {
			return nil, fmt.Errorf("%s and %s have different goodput limits: %q and %q", runs[0].Name, r.Name, a, b)
		}
	}
	c := &Comparison{Runs: runs}
	for i := 1; i < len(runs); i++ {
		p := pair(runs[0].Pairs.list, runs[i].Pairs.list, runs[0].Report.Percentiles)
		p.Base, p.Run = 0, i
		if len(runs[0].Pairs.Goodput) > 0 && len(runs[i].Pairs.Goodput) > 0 {
			p.Goodput = goodput(p.goodBase, p.goodRun)
		}
		p.goodBase, p.goodRun = nil, nil
		p.change("ITL", "itl", changesApart(&runs[0].Report.ITL, &runs[i].Report.ITL))
		c.Paired = append(c.Paired, p)
	}
	return c, nil
}

// limits returns what users must get of r, as ParseSLO reads it.
func (r *Report) limits() string {
	var parts []string
	if r.Goodput != nil {
		parts = append(parts, r.Goodput.Limits.String())
	}
	for _, v := range r.Verdicts {
		parts = append(parts, v.Limit)
	}
	return strings.Join(parts, ", ")
}

// change appends the changes of a metric.
func (p *Paired) change(name, key string, list []Change) {
	for _, c := range list {
		c.Name, c.Key = name, key
		p.Changes = append(p.Changes, c)
	}
}

// pair compares requests that are sorted by ID, and their percentiles ps.
func pair(base, run []paired, ps []Percentile) Paired {
	var p Paired
	var before, after [pairedMetrics][]int64
	for len(base) > 0 && len(run) > 0 {
		a, b := &base[0], &run[0]
		if a.id != b.id {
			p.Unmatched++
			if a.id < b.id {
				base = base[1:]
			} else {
				run = run[1:]
			}
			continue
		}
		p.count(a, b)
		p.goodBase, p.goodRun = append(p.goodBase, a.good), append(p.goodRun, b.good)
		for m := range before {
			if a.values[m] >= 0 && b.values[m] >= 0 {
				before[m], after[m] = append(before[m], a.values[m]), append(after[m], b.values[m])
			}
		}
		base, run = base[1:], run[1:]
	}
	p.Unmatched += int64(len(base) + len(run))
	for m, name := range [pairedMetrics][2]string{{"TTFT", "ttft"}, {"TPOT", "tpot"}, {"worst gap", "max_gap"}, {"E2E", "e2e"}} {
		p.change(name[0], name[1], changes(before[m], after[m], ps))
		for i := range after[m] {
			after[m][i] -= before[m][i]
		}
		d := difference(after[m])
		d.Name, d.Key = name[0], name[1]
		p.Differences = append(p.Differences, d)
	}
	return p
}

// count counts a pair by its outcomes and arrivals.
func (p *Paired) count(a, b *paired) {
	switch inA, inB := a.outcome == observe.Completed, b.outcome == observe.Completed; {
	case inA && inB:
		p.Both++
	case inA:
		p.OnlyBase++
	case inB:
		p.OnlyRun++
	default:
		p.Neither++
	}
	if a.arrival != b.arrival {
		p.Moved++
	}
}

// difference describes signed differences.
func difference(values []int64) Difference {
	var d Difference
	d.Count = int64(len(values))
	if d.OK = d.Count > 0; !d.OK {
		return d
	}
	var up, down sum
	for _, v := range values {
		switch {
		case v < 0:
			d.Better++
			down.add(-uint64(v))
		case v > 0:
			d.Worse++
			up.add(uint64(v))
		default:
			d.Equal++
		}
	}
	d.Mean = meanOf(up, down, d.Count)
	lo, hi := extremes(values)
	d.Min, d.Max = sim.Duration(lo), sim.Duration(hi)
	d.quantiles(Linear, DifferencePercentiles(), 0, func(ranks []int64) (at, off []int64) {
		return selectRanks([][]int64{values}, ranks), make([]int64, len(ranks))
	})
	return d
}

// meanOf returns (up-down)/n, rounded to the nearest integer, halves away from 0.
func meanOf(up, down sum, n int64) sim.Duration {
	negative := down.hi > up.hi || down.hi == up.hi && down.lo > up.lo
	if negative {
		up, down = down, up
	}
	lo, borrow := bits.Sub64(up.lo, down.lo, 0)
	hi, _ := bits.Sub64(up.hi, down.hi, borrow)
	mean := sim.Duration((&sum{hi, lo}).over(n))
	if negative {
		return -mean
	}
	return mean
}
