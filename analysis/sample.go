package analysis

import (
	"cmp"
	"slices"

	"servesim/sim"
)

const (
	// exactValues is the number of values up to which a Sample keeps each one.
	exactValues = 1 << 20
	// chunkValues is the number of values that a Sample allocates at once.
	chunkValues = 1 << 12
)

// QuantileValue is one percentile of a distribution.
type QuantileValue struct {
	P     Percentile
	Value sim.Duration
	// Resolution is 0 if Value is exact; otherwise the true value is at most
	// this far from Value.
	Resolution sim.Duration
	// Unbounded tells that the percentile is a value that never came about; Value
	// is then 0. Only Sample.Censored has such values.
	Unbounded bool
	// Interval is the 95 % interval of Value. There is none for the extremes, nor where
	// values never came.
	Interval Interval
}

// Distribution describes many spans.
type Distribution struct {
	// OK is false if there is no data; every other field but Count is then unset.
	OK bool
	// Count is the number of spans.
	Count int64
	// Mean is rounded to the nearest picosecond, halves up. Mean, Min and Max
	// are exact also where Quantiles are not.
	Mean, Min, Max sim.Duration
	// MeanInterval is the 95 % interval of Mean.
	MeanInterval Interval
	// Quantiles are in ascending order of P, by Linear where nothing else is said.
	Quantiles []QuantileValue
}

// Sample collects spans, none of them negative, for quantiles. Up to 2^20 of
// them it keeps each one (8 MB) and its quantiles are exact; beyond, it counts
// them in a histogram whose buckets are at most 2^-12 of their values wide.
// Which of the two follows from their number alone. The zero value is an empty Sample.
type Sample struct {
	cur    []int64   // the chunk being filled
	n      int       // values in cur
	full   [][]int64 // the chunks before
	count  int64     // values in full, or in hist
	sum    sum
	lo, hi int64 // extremes of those
	hist   *histogram
	watch  *stretches // of the values in hist; nil if merged
	limit  int64      // values to keep, exactValues if 0
	merged bool       // the order of the values is lost
}

// Add takes one span.
func (s *Sample) Add(d sim.Duration) {
	if s.n == len(s.cur) {
		s.turn()
	}
	s.cur[s.n] = int64(d)
	s.n++
}

// turn makes room in cur.
func (s *Sample) turn() {
	s.tally()
	if s.hist == nil && s.count >= s.most() {
		s.outgrow()
	}
	switch {
	case s.hist != nil && s.cur != nil:
		s.fold(s.cur[:s.n])
	case s.cur != nil:
		s.full = append(s.full, s.cur)
		s.cur = nil
	}
	switch {
	case s.hist != nil && len(s.cur) < chunkValues:
		s.cur = make([]int64, chunkValues)
	case s.hist == nil:
		s.cur = make([]int64, min(chunkValues, s.most()-s.count))
	}
	s.n = 0
}

// most returns the number of values to keep.
func (s *Sample) most() int64 { return cmp.Or(s.limit, exactValues) }

// outgrow goes over from values to a histogram.
func (s *Sample) outgrow() {
	d := Distribution{Count: s.count, Mean: sim.Duration(s.sum.over(s.count)), Min: sim.Duration(s.lo), Max: sim.Duration(s.hi)}
	chunks := s.full
	if s.cur != nil {
		chunks = append(chunks[:len(chunks):len(chunks)], s.cur[:s.n])
	}
	s.hist = new(histogram)
	if !s.merged {
		d.quantiles(Linear, gridLevels(), 0, exactly(chunks, s.lo, s.hi))
		s.watch = newStretches(&d)
		s.watch.rough = true
	}
	for _, c := range s.full {
		s.fold(c)
	}
	s.full = nil
}

// exactly returns a function that gives the values of chunks, from lo to hi, at ranks.
func exactly(chunks [][]int64, lo, hi int64) func(ranks []int64) (at, off []int64) {
	return func(ranks []int64) (at, off []int64) {
		return selectWithin(chunks, lo, hi, ranks), make([]int64, len(ranks))
	}
}

// tally adds cur to count, sum and the extremes.
func (s *Sample) tally() {
	if s.n == 0 {
		return
	}
	lo, hi := extremes(s.cur[:s.n])
	if s.count == 0 {
		s.lo, s.hi = lo, hi
	}
	s.lo, s.hi = min(s.lo, lo), max(s.hi, hi)
	for _, v := range s.cur[:s.n] {
		s.sum.add(uint64(v))
	}
	s.count += int64(s.n)
}

// fold counts a chunk of values in the histogram.
func (s *Sample) fold(values []int64) {
	if len(values) == 0 {
		return
	}
	if s.watch != nil {
		s.watch.add(s.watch.next(), values)
	}
	for _, v := range values {
		s.hist.add(uint64(v), 1)
	}
}

// Distribution describes the spans taken so far, with the percentiles ps in
// ascending order.
func (s *Sample) Distribution(ps []Percentile) Distribution { return s.By(Linear, ps) }

// By is Distribution with the percentiles that e defines.
func (s *Sample) By(e Estimator, ps []Percentile) Distribution { return s.Censored(e, ps, 0) }

// Censored is By where never more values, which didn't come about, are longer
// than all that were taken. They count in the percentiles and in nothing else.
func (s *Sample) Censored(e Estimator, ps []Percentile, never int64) Distribution {
	return s.describe(asked{e, ps, never}, nil)
}

// describe describes the spans with intervals from the stretches that watch returns,
// or from the order of the run if that is nil and it is known.
func (s *Sample) describe(a asked, watch func(*Distribution) *stretches) Distribution {
	t := *s
	t.tally()
	d := Distribution{OK: t.count > 0, Count: t.count}
	if !d.OK {
		return d
	}
	d.Mean, d.Min, d.Max = sim.Duration(t.sum.over(t.count)), sim.Duration(t.lo), sim.Duration(t.hi)
	if t.hist == nil {
		chunks := append(t.full[:len(t.full):len(t.full)], t.cur[:t.n])
		if watch == nil && !s.merged {
			watch = func(d *Distribution) *stretches {
				watch := newStretches(d)
				return divide(watch, d.Count, chunks, watch.add)
			}
		}
		d.describe(a, exactly(chunks, t.lo, t.hi), watch)
		return d
	}
	s.fold(s.cur[:s.n])
	s.count, s.sum, s.lo, s.hi, s.n = t.count, t.sum, t.lo, t.hi, 0
	if watch == nil && !s.merged {
		watch = func(*Distribution) *stretches { return s.watch }
	}
	d.describe(a, s.hist.at, watch)
	return d
}

// quantiles sets d.Quantiles from the values at ranks, each of which may be off
// by the number beside it; never more values are longer than any.
func (d *Distribution) quantiles(e Estimator, ps []Percentile, never int64, values func(ranks []int64) (at, off []int64)) {
	var ranks []int64
	for _, p := range ps {
		lo, parts := e.Rank(p, d.Count+never)
		hi := lo
		if parts > 0 {
			hi++
		}
		ranks = append(ranks, lo, hi)
	}
	wanted := slices.Compact(slices.Sorted(slices.Values(ranks)))
	came, _ := slices.BinarySearch(wanted, d.Count)
	wanted = wanted[:came]
	at, off := values(wanted)
	value := func(rank int64) (v, o int64) {
		switch rank {
		case 0:
			return int64(d.Min), 0
		case d.Count - 1:
			return int64(d.Max), 0
		}
		i, _ := slices.BinarySearch(wanted, rank)
		return min(max(at[i], int64(d.Min)), int64(d.Max)), off[i]
	}
	for i, p := range ps {
		if ranks[2*i+1] >= d.Count {
			d.Quantiles = append(d.Quantiles, QuantileValue{P: p, Unbounded: true})
			continue
		}
		_, parts := e.Rank(p, d.Count+never)
		a, offA := value(ranks[2*i])
		b, offB := value(ranks[2*i+1])
		q := QuantileValue{P: p, Value: sim.Duration(between(a, b, parts))}
		if o := max(offA, offB); o > 0 {
			q.Resolution = sim.Duration(o + 1) // 1 for the rounding of the interpolation
		}
		d.Quantiles = append(d.Quantiles, q)
	}
}
