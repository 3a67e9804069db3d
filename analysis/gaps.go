package analysis

import (
	"cmp"
	"fmt"
	"math"
	"math/bits"

	"servesim/sim"
	"servesim/sim/observe"
)

const (
	// exactRuns is the number of runs up to which a GapSample keeps each one.
	exactRuns = 1 << 20
	// chunkRuns is the number of runs that a GapSample allocates at once.
	chunkRuns = 1 << 12
)

// gapRun is a run of gaps: steps of them in arithmetic progression, upwards
// from first, each seen by seqs sequences.
type gapRun struct {
	first, inc  int64
	seqs, steps int32
}

// last returns the longest gap of r.
func (r *gapRun) last() int64 { return r.first + r.inc*int64(r.steps-1) }

// GapSample collects inter-token gaps as the runs that steps emit, and answers
// the quantiles of all the gaps without ever listing them. Up to 2^20 runs it
// keeps each one (25 MB) and quantiles are exact; beyond, it counts the gaps in
// a histogram whose buckets are at most 2^-12 of their values wide. The zero
// value is an empty GapSample.
type GapSample struct {
	cur    []gapRun
	n      int
	full   [][]gapRun
	stored int64 // runs in full
	count  int64 // gaps
	sum    sum
	lo, hi int64
	hist   *histogram
	watch  *stretches // of the runs in hist; nil if merged
	limit  int64      // runs to keep, exactRuns if 0
	merged bool       // the order of the runs is lost
}

// Add takes one run of gaps. It is an error if the run has no gap or more than
// 2^31-1 steps (a request has no more tokens), or if one of its gaps is negative
// or longer than sim.MaxDuration.
func (s *GapSample) Add(g *observe.Gaps) error {
	if g.Seqs < 1 || g.Steps < 1 || g.Steps > math.MaxInt32 || g.First < 0 {
		return badGaps(g)
	}
	r := gapRun{first: int64(g.First), inc: int64(g.Inc), seqs: g.Seqs, steps: int32(g.Steps)}
	n := uint64(g.Steps)
	if r.inc < 0 { // the same gaps from the shortest up
		h, fall := bits.Mul64(-uint64(r.inc), n-1)
		if h != 0 || fall > uint64(r.first) {
			return badGaps(g)
		}
		r.first, r.inc = r.first-int64(fall), -r.inc
	}
	h, rise := bits.Mul64(uint64(r.inc), n-1)
	if h != 0 || rise > math.MaxInt64-uint64(r.first) {
		return badGaps(g)
	}
	if s.n == len(s.cur) {
		s.turn()
	}
	if s.count == 0 {
		s.lo = r.first
	}
	s.lo, s.hi = min(s.lo, r.first), max(s.hi, r.first+int64(rise))
	var total sum
	total.addProduct(uint64(r.first), n)
	total.addProduct(uint64(r.inc), n*(n-1)/2)
	s.sum.addSum(total, uint64(r.seqs))
	s.count += g.Steps * int64(r.seqs)
	s.cur[s.n] = r
	s.n++
	return nil
}

// badGaps is the error of a run that cannot be.
func badGaps(g *observe.Gaps) error {
	return fmt.Errorf("gaps: seqs %d, steps %d, first_ps %d, inc_ps %d: a run has at least 1 sequence and from 1 to %d steps, and each of its gaps is from 0 to %d ps",
		g.Seqs, g.Steps, int64(g.First), int64(g.Inc), math.MaxInt32, int64(sim.MaxDuration))
}

// turn makes room in cur.
func (s *GapSample) turn() {
	if s.cur != nil && s.hist == nil {
		s.full = append(s.full, s.cur)
		s.stored += int64(s.n)
		s.cur = nil
	}
	if s.hist == nil && s.stored >= s.most() {
		s.outgrow()
	}
	switch {
	case s.cur != nil:
		s.fold(s.cur[:s.n])
	case s.hist != nil:
		s.cur = make([]gapRun, chunkRuns)
	default:
		s.cur = make([]gapRun, min(chunkRuns, s.most()-s.stored))
	}
	s.n = 0
}

// most returns the number of runs to keep.
func (s *GapSample) most() int64 { return cmp.Or(s.limit, exactRuns) }

// outgrow goes over from runs to a histogram.
func (s *GapSample) outgrow() {
	s.hist = new(histogram)
	if !s.merged {
		d := s.whole()
		d.quantiles(Linear, gridLevels(), 0, s.exactly(s.full))
		s.watch = newStretches(&d)
		s.watch.rough = true
	}
	for _, c := range s.full {
		s.fold(c)
	}
	s.full = nil
}

// whole describes the gaps without quantiles.
func (s *GapSample) whole() Distribution {
	return Distribution{OK: true, Count: s.count, Mean: sim.Duration(s.sum.over(s.count)), Min: sim.Duration(s.lo), Max: sim.Duration(s.hi)}
}

// exactly returns a function that gives the gaps of chunks at ranks.
func (s *GapSample) exactly(chunks [][]gapRun) func(ranks []int64) (at, off []int64) {
	return func(ranks []int64) (at, off []int64) {
		at = make([]int64, len(ranks))
		pickGaps(chunks, uint64(s.lo), uint64(s.hi), ranks, at)
		return at, make([]int64, len(ranks))
	}
}

// fold counts the gaps of a chunk of runs in the histogram.
func (s *GapSample) fold(runs []gapRun) {
	if len(runs) == 0 {
		return
	}
	if s.watch != nil {
		s.watch.addRuns(s.watch.next(), runs)
	}
	for i := range runs {
		r := &runs[i]
		s.hist.addRun(uint64(r.first), uint64(r.inc), int64(r.steps), int64(r.seqs))
	}
}

// Distribution describes the gaps taken so far, each of them counted once for
// each sequence that saw it, with the percentiles ps in ascending order.
func (s *GapSample) Distribution(ps []Percentile) Distribution { return s.By(Linear, ps) }

// By is Distribution with the percentiles that e defines.
func (s *GapSample) By(e Estimator, ps []Percentile) Distribution {
	return s.describe(asked{e, ps, 0}, nil)
}

// describe describes the gaps with intervals as Sample.describe does.
func (s *GapSample) describe(a asked, watch func(*Distribution) *stretches) Distribution {
	if s.count == 0 {
		return Distribution{}
	}
	d := s.whole()
	if s.hist != nil {
		s.fold(s.cur[:s.n])
		s.n = 0
		if watch == nil && !s.merged {
			watch = func(*Distribution) *stretches { return s.watch }
		}
		d.describe(a, s.hist.at, watch)
		return d
	}
	chunks := append(s.full[:len(s.full):len(s.full)], s.cur[:s.n])
	if watch == nil && !s.merged {
		watch = func(d *Distribution) *stretches {
			watch := newStretches(d)
			return divide(watch, s.stored+int64(s.n), chunks, watch.addRuns)
		}
	}
	d.describe(a, s.exactly(chunks), watch)
	return d
}
