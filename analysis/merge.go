package analysis

// Merge takes all values of t, which may then take more of its own. What s says of
// counts, sums, extremes and quantiles, Resolution included, is what it would say
// had it taken every value itself, in whichever parts and order they come: up to
// its limit it keeps each, beyond it counts all in one histogram. The order in which
// the values came about is lost, and with it the intervals.
func (s *Sample) Merge(t *Sample) {
	s.settle()
	t.settle()
	if t.count == 0 {
		return
	}
	if s.count == 0 {
		s.lo, s.hi = t.lo, t.hi
	}
	s.lo, s.hi = min(s.lo, t.lo), max(s.hi, t.hi)
	s.count += t.count
	s.sum.addSum(t.sum, 1)
	s.merged, s.watch = true, nil
	all := join(kept[int64]{s.full, s.hist}, kept[int64]{t.full, t.hist}, s.count <= s.most(), (*histogram).addValues)
	s.full, s.hist = all.full, all.hist
}

// Merge takes all gaps of t as Sample.Merge does values. It keeps runs of gaps up to
// its limit, so that what it says is the same for all parts that t's and its own
// runs, whole, may be divided into.
func (s *GapSample) Merge(t *GapSample) {
	s.settle()
	t.settle()
	if t.count == 0 {
		return
	}
	if s.count == 0 {
		s.lo, s.hi = t.lo, t.hi
	}
	s.lo, s.hi = min(s.lo, t.lo), max(s.hi, t.hi)
	s.count += t.count
	s.stored += t.stored
	s.sum.addSum(t.sum, 1)
	s.merged, s.watch = true, nil
	all := join(kept[gapRun]{s.full, s.hist}, kept[gapRun]{t.full, t.hist}, s.stored <= s.most(), (*histogram).addRuns)
	s.full, s.hist = all.full, all.hist
}

// kept is what a sample keeps: chunks, or what they were counted in.
type kept[T any] struct {
	full [][]T
	hist *histogram
}

// join puts a and b together: in chunks if neither has a histogram and all fit,
// otherwise in a histogram that counts the chunks.
func join[T any](a, b kept[T], fit bool, count func(*histogram, [][]T)) kept[T] {
	if a.hist == nil && b.hist == nil && fit {
		return kept[T]{full: append(a.full, b.full...)}
	}
	if a.hist == nil {
		a.hist = new(histogram)
		count(a.hist, a.full)
	}
	a.hist.addAll(b.hist)
	count(a.hist, b.full)
	return kept[T]{hist: a.hist}
}

// settle leaves no value in the chunk being filled.
func (s *Sample) settle() {
	s.tally()
	switch {
	case s.hist != nil:
		s.fold(s.cur[:s.n])
	case s.n > 0:
		s.full = append(s.full, s.cur[:s.n])
	}
	s.cur, s.n = nil, 0
}

// settle leaves no run in the chunk being filled.
func (s *GapSample) settle() {
	switch {
	case s.hist != nil:
		s.fold(s.cur[:s.n])
	case s.n > 0:
		s.full = append(s.full, s.cur[:s.n])
		s.stored += int64(s.n)
	}
	s.cur, s.n = nil, 0
}

// addValues counts the values of chunks.
func (h *histogram) addValues(chunks [][]int64) {
	for _, c := range chunks {
		for _, v := range c {
			h.add(uint64(v), 1)
		}
	}
}

// addRuns counts the gaps of chunks of runs.
func (h *histogram) addRuns(chunks [][]gapRun) {
	for _, c := range chunks {
		for i := range c {
			r := &c[i]
			h.addRun(uint64(r.first), uint64(r.inc), int64(r.steps), int64(r.seqs))
		}
	}
}
