package analysis

import "math"

// A stretch is what is kept of a stretch of a run to say how precisely the
// quantiles and the mean of all its values are known.
type stretch struct {
	n int64 // values
	// less and equal are the numbers of values below and at each mark.
	less, equal []int64
	// sum and squares are of what values exceed the origin by.
	sum, squares float64
}

// stretches are successive stretches of a run, or runs of their own.
type stretches struct {
	// marks are values near the quantiles of levels.
	levels []Percentile
	marks  []int64
	origin int64
	cells  []stretch
	// span is the number of chunks of values that a cell takes, and filled that of
	// the last one.
	span, filled int
	// replications tells that the cells are runs of their own.
	replications bool
	// rough tells that values at a mark count as below it, which is quicker.
	rough bool
}

// newStretches returns no stretches yet, with the quantiles of d as marks.
func newStretches(d *Distribution) *stretches {
	s := &stretches{origin: int64(d.Mean), span: 1}
	for _, q := range d.Quantiles {
		s.levels = append(s.levels, q.P)
		s.marks = append(s.marks, int64(q.Value))
	}
	return s
}

// bodyLevels returns the ends of the body of a distribution.
func bodyLevels() []Percentile { return []Percentile{{100_000_000}, {900_000_000}} }

// gridLevels returns the levels at which a run that is too long to keep is watched.
// Those beyond them are as well known as the nearest is.
func gridLevels() []Percentile {
	return []Percentile{{100_000_000}, {500_000_000}, {900_000_000}, {990_000_000}}
}

// mark returns the mark whose level is nearest to p, by the ratio of the shares
// beyond them.
func (s *stretches) mark(p Percentile) int {
	best, least := 0, math.Inf(1)
	for i, l := range s.levels {
		a, b := float64(p.ppb), float64(l.ppb)
		if p.ppb > whole/2 {
			a, b = whole-a, whole-b
		}
		a, b = max(a, 1), max(b, 1)
		if far := max(a, b) / min(a, b); far < least {
			best, least = i, far
		}
	}
	return best
}

// cell appends an empty stretch and returns it.
func (s *stretches) cell() *stretch {
	s.cells = append(s.cells, stretch{less: make([]int64, len(s.marks)), equal: make([]int64, len(s.marks))})
	return &s.cells[len(s.cells)-1]
}

// next returns the stretch that takes the next chunk of a run of unknown length:
// when there are twice as many as needed, each two become one.
func (s *stretches) next() *stretch {
	if s.filled == s.span || len(s.cells) == 0 {
		if len(s.cells) == 2*stretchCells {
			for i := range stretchCells {
				s.cells[i] = s.cells[2*i]
				s.cells[i].join(&s.cells[2*i+1])
			}
			s.cells = s.cells[:stretchCells]
			s.span *= 2
		}
		s.filled = 0
		s.cell()
	}
	s.filled++
	return &s.cells[len(s.cells)-1]
}

// add counts values in c.
func (s *stretches) add(c *stretch, values []int64) {
	if s.rough {
		s.addRough(c, values)
		return
	}
	c.n += int64(len(values))
	for k := 0; k < len(s.marks); k += 2 {
		m0 := s.marks[k]
		m1 := s.marks[min(k+1, len(s.marks)-1)]
		n := numbersBelow(values, [4]int64{m0, m0 + 1, m1, m1 + 1})
		c.less[k] += n[0]
		c.equal[k] += n[1] - n[0]
		if k+1 < len(s.marks) {
			c.less[k+1] += n[2]
			c.equal[k+1] += n[3] - n[2]
		}
	}
	c.sum, c.squares = s.powers(values, c.sum, c.squares)
}

// addRough counts values in c at the marks of gridLevels.
func (s *stretches) addRough(c *stretch, values []int64) {
	c.n += int64(len(values))
	for k, n := range numbersBelow(values, [4]int64{s.marks[0] + 1, s.marks[1] + 1, s.marks[2] + 1, s.marks[3] + 1}) {
		c.less[k] += n
	}
	sum, squares := s.powers(values, 0, 0)
	c.sum += sum
	c.squares += squares
}

// powers adds what values exceed the origin by to sum, and its squares to squares.
func (s *stretches) powers(values []int64, sum, squares float64) (float64, float64) {
	for _, v := range values {
		x := float64(v - s.origin)
		sum += x
		squares += float64(x * x)
	}
	return sum, squares
}

// numbersBelow returns the number of values below each of m.
func numbersBelow(values []int64, m [4]int64) (n [4]int64) {
	m0, m1, m2, m3 := m[0], m[1], m[2], m[3]
	var n0, n1, n2, n3 uint64
	for _, v := range values { // neither is negative, so v-m doesn't overflow
		n0 += uint64(v-m0) >> 63
		n1 += uint64(v-m1) >> 63
		n2 += uint64(v-m2) >> 63
		n3 += uint64(v-m3) >> 63
	}
	return [4]int64{int64(n0), int64(n1), int64(n2), int64(n3)}
}

// join adds stretch b to a.
func (a *stretch) join(b *stretch) {
	a.n += b.n
	a.sum += b.sum
	a.squares += b.squares
	for k := range a.less {
		a.less[k] += b.less[k]
		a.equal[k] += b.equal[k]
	}
}

// count returns the number of all values.
func (s *stretches) count() int64 {
	var n int64
	for i := range s.cells {
		n += s.cells[i].n
	}
	return n
}

// below returns the share of values below mark k, by stretches. Of the values at
// the mark it counts the part that brings the share to p, or as near as can be:
// a quantile that many values share has a level within theirs.
func (s *stretches) below(k int, p float64) (r quotient, share float64) {
	var n, less, equal int64
	for i := range s.cells {
		c := &s.cells[i]
		n, less, equal = n+c.n, less+c.less[k], equal+c.equal[k]
	}
	part := 0.0
	if equal > 0 {
		part = min(1, max(0, (float64(p*float64(n))-float64(less))/float64(equal)))
	}
	for i := range s.cells {
		c := &s.cells[i]
		r.over = append(r.over, float64(c.less[k])+float64(part*float64(c.equal[k])))
		r.under = append(r.under, float64(c.n))
	}
	return r, (float64(less) + float64(part*float64(equal))) / float64(n)
}

// spread estimates how precisely r, a ratio over s, is known.
func (s *stretches) spread(r quotient) spread {
	if s.replications {
		return r.independent()
	}
	return r.dependent()
}

// effective returns the number of independent values that would say as much
// about the share below percentile p, and no more than there are:
// the variance p·(1-p)/n solved for n, and taken down for the freedom of its
// estimate, as Korn and Graubard (Survey Methodology 24, 1998) do.
func (s *stretches) effective(p Percentile) float64 {
	r, share := s.below(s.mark(p), p.Fraction())
	n := float64(s.count())
	e := s.spread(r)
	if e.variance == 0 {
		return n
	}
	t := normal95 / student95(e.freedom)
	return min(n, float64(share*(1-share))/e.variance*t*t)
}

// enough tells whether there are enough stretches for anything to be said, and
// otherwise what is needed.
func (s *stretches) enough() (Evidence, bool) {
	e := Evidence{Method: Batches, Needs: fewestValues}
	if s.replications {
		e = Evidence{Method: Replications, Needs: FewestReplications}
		return e, len(s.cells) >= FewestReplications
	}
	return e, len(s.cells) >= 4*coarseBatches
}

// evidence says what an interval rests on that takes the given number of
// independent values and has effective ones.
func (s *stretches) evidence(effective, takes float64) Evidence {
	e, _ := s.enough()
	e.Effective, e.OK, e.Needs = effective, effective >= takes, 0
	if e.OK {
		return e
	}
	have := float64(s.count())
	if s.replications {
		have = float64(len(s.cells))
	}
	e.Needs = upToTwoDigits(have * takes / effective)
	return e
}

// body returns the effective numbers of values for both ends of the body.
func (s *stretches) body() (body [2]float64) {
	if _, ok := s.enough(); ok {
		for i, p := range bodyLevels() {
			body[i] = s.effective(p)
		}
	}
	return body
}

// quantile returns what the interval of percentile p rests on, and between the
// values of which ranks it lies, counted from 0. body is what body returned: a
// tail seems better known than it is where by chance few of its crowded
// excursions came, while the body tells how crowded they come.
func (s *stretches) quantile(p Percentile, body [2]float64) (e Evidence, lo, hi int64) {
	e, ok := s.enough()
	if p.ppb == 0 || p.ppb == whole {
		e.Needs = 0
		return e, 0, 0
	}
	share := p.Fraction()
	takes := max(fewestEffective, leastIndependent(share))
	if !ok {
		if !s.replications {
			e.Needs = max(e.Needs, upToTwoDigits(takes*fewBatchesCost()))
		}
		return e, 0, 0
	}
	effective := s.effective(p)
	switch levels := bodyLevels(); {
	case p.ppb < levels[0].ppb:
		effective = min(effective, body[0])
	case p.ppb > levels[1].ppb:
		effective = min(effective, body[1])
	}
	if e = s.evidence(effective, takes); !e.OK {
		return e, 0, 0
	}
	n := float64(s.count())
	low, high := rankShares(share, effective)
	lo = int64(math.Floor(float64(low*n)+0.5)) - 1
	hi = int64(math.Ceil(float64(high*n)+0.5)) - 1
	return e, max(0, lo), min(int64(n)-1, hi)
}

// fewBatchesCost is by how many times more independent values an interval
// takes for its variance being estimated from few batches.
func fewBatchesCost() float64 {
	t := student95(coarseBatches-1) / normal95
	return t * t
}

// mean returns what the interval of the mean rests on, and how far below and
// above the mean it reaches.
func (s *stretches) mean() (e Evidence, below, above float64) {
	if e, ok := s.enough(); !ok {
		return e, 0, 0
	}
	var r quotient
	var sum, squares float64
	for i := range s.cells {
		c := &s.cells[i]
		r.over, r.under = append(r.over, c.sum), append(r.under, float64(c.n))
		sum, squares = sum+c.sum, squares+c.squares
	}
	n := float64(s.count())
	shift := sum / n
	variance := max(0, squares/n-float64(shift*shift))
	sp := s.spread(r)
	effective := n
	if sp.variance > 0 {
		effective = min(n, variance/sp.variance)
	}
	takes := float64(fewestEffective)
	if s.replications {
		takes = 0 // their means are nearly normal
	}
	if e = s.evidence(effective, takes); !e.OK {
		return e, 0, 0
	}
	below, above = meanBounds(sp, sp.freedom+1)
	return e, below, above
}
