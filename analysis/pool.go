package analysis

import "servesim/sim"

// A collection is a Sample or a GapSample of one replication.
type collection interface {
	// settle counts what is still in the chunk being filled.
	settle()
	// totals returns how many values there are, their sum and extremes.
	totals() (count int64, total sum, lo, hi int64)
	// folded returns the histogram, nil if each value is kept.
	folded() *histogram
	// pour counts all values in h.
	pour(h *histogram)
	// measure counts all values in c.
	measure(s *stretches, c *stretch)
}

// pool describes the values of all replications together, with intervals from
// how the replications differ. exact gives the values at ranks if each is kept.
func pool[C collection](list []C, a asked, exact func(lo, hi int64) func(ranks []int64) (at, off []int64)) Distribution {
	var d Distribution
	var total sum
	folded := false
	for _, c := range list {
		c.settle()
		n, t, lo, hi := c.totals()
		if n == 0 {
			continue
		}
		if d.Count == 0 {
			d.Min, d.Max = sim.Duration(lo), sim.Duration(hi)
		}
		d.Count += n
		total.addSum(t, 1)
		d.Min, d.Max = min(d.Min, sim.Duration(lo)), max(d.Max, sim.Duration(hi))
		folded = folded || c.folded() != nil
	}
	if d.OK = d.Count > 0; !d.OK {
		return d
	}
	d.Mean = sim.Duration(total.over(d.Count))
	values := exact(int64(d.Min), int64(d.Max))
	if folded {
		all := new(histogram)
		for _, c := range list {
			c.pour(all)
		}
		values = all.at
	}
	d.describe(a, values, func(d *Distribution) *stretches {
		s := newStretches(d)
		s.replications = true
		for _, c := range list {
			if n, _, _, _ := c.totals(); n > 0 {
				c.measure(s, s.cell())
			}
		}
		return s
	})
	return d
}

// poolSamples describes the values of all samples together.
func poolSamples(list []*Sample, a asked) Distribution {
	return pool(list, a, func(lo, hi int64) func(ranks []int64) (at, off []int64) {
		var chunks [][]int64
		for _, s := range list {
			chunks = append(chunks, s.full...)
		}
		return exactly(chunks, lo, hi)
	})
}

// poolGaps describes the gaps of all samples together.
func poolGaps(list []*GapSample, a asked) Distribution {
	return pool(list, a, func(lo, hi int64) func(ranks []int64) (at, off []int64) {
		all := GapSample{lo: lo, hi: hi}
		for _, s := range list {
			all.full = append(all.full, s.full...)
		}
		return all.exactly(all.full)
	})
}

// settle implements collection.
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

// totals implements collection.
func (s *Sample) totals() (count int64, total sum, lo, hi int64) {
	return s.count, s.sum, s.lo, s.hi
}

// folded implements collection.
func (s *Sample) folded() *histogram { return s.hist }

// pour implements collection.
func (s *Sample) pour(h *histogram) {
	h.addAll(s.hist)
	for _, c := range s.full {
		for _, v := range c {
			h.add(uint64(v), 1)
		}
	}
}

// measure implements collection.
func (s *Sample) measure(to *stretches, c *stretch) {
	if s.hist != nil {
		to.addHistogram(c, s.hist, s.sum, s.count)
	}
	for _, chunk := range s.full {
		to.add(c, chunk)
	}
}

// settle implements collection.
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

// totals implements collection.
func (s *GapSample) totals() (count int64, total sum, lo, hi int64) {
	return s.count, s.sum, s.lo, s.hi
}

// folded implements collection.
func (s *GapSample) folded() *histogram { return s.hist }

// pour implements collection.
func (s *GapSample) pour(h *histogram) {
	h.addAll(s.hist)
	for _, c := range s.full {
		for i := range c {
			r := &c[i]
			h.addRun(uint64(r.first), uint64(r.inc), int64(r.steps), int64(r.seqs))
		}
	}
}

// measure implements collection.
func (s *GapSample) measure(to *stretches, c *stretch) {
	if s.hist != nil {
		to.addHistogram(c, s.hist, s.sum, s.count)
	}
	for _, chunk := range s.full {
		to.addRuns(c, chunk)
	}
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
