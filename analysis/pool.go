package analysis

// watchPool describes what n runs of a scenario have together. measure counts the
// i-th in a cell of its own unless it is empty, so that intervals come from how the
// runs differ.
func watchPool(describe func(asked, func(*Distribution) *stretches) Distribution, a asked, n int, measure func(i int, s *stretches, cell func() *stretch)) (w watchedValues) {
	w.d = describe(a, func(d *Distribution) *stretches {
		w.s = newStretches(d)
		w.s.replications = true
		for i := range n {
			measure(i, w.s, w.s.cell)
		}
		return w.s
	})
	return w
}

// poolSamples describes the values of all samples together, with intervals from
// how they differ.
func poolSamples(list []*Sample, a asked) watchedValues {
	var all Sample
	for _, s := range list {
		all.Merge(s)
	}
	return watchPool(all.describe, a, len(list), func(i int, to *stretches, cell func() *stretch) {
		s := list[i]
		if s.count == 0 {
			return
		}
		c := cell()
		if s.hist != nil {
			to.addHistogram(c, s.hist, s.sum, s.count)
		}
		for _, chunk := range s.full {
			to.add(c, chunk)
		}
	})
}

// poolGaps describes the gaps of all samples together, with intervals from how they
// differ.
func poolGaps(list []*GapSample, a asked) watchedValues {
	var all GapSample
	for _, s := range list {
		all.Merge(s)
	}
	return watchPool(all.describe, a, len(list), func(i int, to *stretches, cell func() *stretch) {
		s := list[i]
		if s.count == 0 {
			return
		}
		c := cell()
		if s.hist != nil {
			to.addHistogram(c, s.hist, s.sum, s.count)
		}
		for _, chunk := range s.full {
			to.addRuns(c, chunk)
		}
	})
}

// addHistogram counts the n values of h, whose sum is total, in c. Those in the
// bucket of a mark count as equal to it.
func (s *stretches) addHistogram(c *stretch, h *histogram, total sum, n int64) {
	c.n += n
	c.sum += total.float() - float64(float64(n)*float64(s.origin))
	h.each(func(low, width uint64, k int64) {
		x := float64(int64(low+width/2) - s.origin)
		c.squares += float64(float64(k) * x * x)
		for i, m := range s.marks {
			switch {
			case low+width <= uint64(m):
				c.less[i] += k
			case low <= uint64(m):
				c.equal[i] += k
			}
		}
	})
}
