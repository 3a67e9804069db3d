package analysis

import (
	"math"
	"slices"

	"servesim/sim"
)

// asked is which percentiles of a sample are asked for.
type asked struct {
	by    Estimator
	ps    []Percentile
	never int64
}

// describe sets the quantiles of d and the intervals of them and of the mean.
// The values at ranks are as in quantiles; watch returns the stretches of the
// sample, marked by the quantiles that it is given, if they aren't yet; without it
// there are no intervals.
func (d *Distribution) describe(a asked, values func(ranks []int64) (at, off []int64), watch func(*Distribution) *stretches) {
	if a.never > 0 || watch == nil {
		d.quantiles(a.by, a.ps, a.never, values)
		return
	}
	d.quantiles(Linear, append(slices.Clone(a.ps), bodyLevels()...), 0, values)
	s := watch(d)
	d.Quantiles = d.Quantiles[:len(a.ps):len(a.ps)]
	if a.by != Linear {
		d.Quantiles = nil
		d.quantiles(a.by, a.ps, 0, values)
	}
	d.meanInterval(s)
	body := s.body()
	bounds := make([][2]int64, len(d.Quantiles))
	var ranks []int64
	for i := range d.Quantiles {
		q := &d.Quantiles[i]
		q.Interval.Evidence, bounds[i][0], bounds[i][1] = s.quantile(q.P, body)
		if q.Interval.OK {
			ranks = append(ranks, bounds[i][:]...)
		}
	}
	slices.Sort(ranks)
	ranks = slices.Compact(ranks)
	if len(ranks) == 0 {
		return
	}
	at, off := values(ranks)
	for i := range d.Quantiles {
		q := &d.Quantiles[i]
		if !q.Interval.OK {
			continue
		}
		lo, _ := slices.BinarySearch(ranks, bounds[i][0])
		hi, _ := slices.BinarySearch(ranks, bounds[i][1])
		q.Interval.Lo = min(q.Value, max(d.Min, sim.Duration(at[lo]-off[lo])))
		q.Interval.Hi = max(q.Value, min(d.Max, sim.Duration(at[hi]+off[hi])))
	}
}

// meanInterval sets the interval of the mean.
func (d *Distribution) meanInterval(s *stretches) {
	e, below, above := s.mean()
	d.MeanInterval = Interval{Evidence: e}
	if e.OK {
		d.MeanInterval.Lo = max(0, d.Mean-sim.Duration(math.Ceil(below)))
		d.MeanInterval.Hi = d.Mean + sim.Duration(math.Ceil(above))
	}
}

// divide divides n items, held in chunks, into at most stretchCells stretches of s
// in their order and hands each stretch its parts.
func divide[T any](s *stretches, n int64, chunks [][]T, add func(*stretch, []T)) *stretches {
	chunks = slices.Clone(chunks)
	cells := min(n, stretchCells)
	done := int64(0)
	for i := int64(1); i <= cells; i++ {
		c := s.cell()
		for want := n*i/cells - done; want > 0; {
			if len(chunks[0]) == 0 {
				chunks = chunks[1:]
				continue
			}
			k := min(want, int64(len(chunks[0])))
			add(c, chunks[0][:k])
			chunks[0] = chunks[0][k:]
			done, want = done+k, want-k
		}
	}
	return s
}

// addRuns counts the gaps of runs in c.
func (s *stretches) addRuns(c *stretch, runs []gapRun) {
	for i := range runs {
		r := &runs[i]
		seqs, steps := int64(r.seqs), int64(r.steps)
		c.n += seqs * steps
		for k, m := range s.marks {
			upTo := r.before(m + 1)
			less := upTo
			if !s.rough {
				less = r.before(m)
			}
			c.less[k] += less * seqs
			c.equal[k] += (upTo - less) * seqs
		}
		x, inc, n := float64(r.first-s.origin), float64(r.inc), float64(steps)
		last := float64(inc * (n - 1))
		c.sum += float64(float64(seqs) * n * (x + float64(last/2)))
		c.squares += float64(float64(seqs) * n * (float64(x*x) + float64(x*last) + float64(last*(float64(2*last)+inc))/6))
	}
}

// before returns how many steps of r have gaps below m.
func (r *gapRun) before(m int64) int64 {
	switch {
	case m <= r.first:
		return 0
	case r.inc == 0 || m > r.last():
		return int64(r.steps)
	}
	return (m-r.first-1)/r.inc + 1
}
