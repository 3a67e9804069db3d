package analysis

import (
	"servesim/sim"
	"servesim/sim/observe"
)

// Curve counts spans for a picture of how they are distributed. It keeps none of them,
// and counts from the second on in the package's histogram. The zero value has none.
type Curve struct{ values Sample }

// Add takes one span.
func (c *Curve) Add(d sim.Duration) {
	c.values.limit, c.values.merged = 1, true
	c.values.Add(d)
}

// Distribution describes the spans, with the percentiles ps in ascending order and
// without intervals.
func (c *Curve) Distribution(ps []Percentile) Distribution { return c.values.Distribution(ps) }

// Buckets returns the spans by length.
func (c *Curve) Buckets() []Bucket {
	s := &c.values
	s.settle()
	h := s.hist
	if h == nil {
		h = new(histogram)
		h.addValues(s.full)
	}
	return h.buckets(s.lo, s.hi)
}

// GapCurve is a Curve of gaps. The zero value has none.
type GapCurve struct{ gaps GapSample }

// Add takes one run of gaps. The errors are those of GapSample.Add.
func (c *GapCurve) Add(g *observe.Gaps) error {
	c.gaps.limit, c.gaps.merged = 1, true
	return c.gaps.Add(g)
}

// Distribution describes the gaps as Curve.Distribution does spans.
func (c *GapCurve) Distribution(ps []Percentile) Distribution { return c.gaps.Distribution(ps) }

// Buckets returns the gaps by length.
func (c *GapCurve) Buckets() []Bucket {
	s := &c.gaps
	s.settle()
	h := s.hist
	if h == nil {
		h = new(histogram)
		h.addRuns(s.full)
	}
	return h.buckets(s.lo, s.hi)
}

// Bucket is spans of about one length.
type Bucket struct {
	// Low and High are the shortest and the longest that they can be.
	Low, High sim.Duration
	// Count is their number.
	Count int64
}

// buckets returns the buckets of values from lo to hi, ascending.
func (h *histogram) buckets(lo, hi int64) []Bucket {
	var list []Bucket
	h.each(func(low, width uint64, k int64) {
		b := Bucket{Low: sim.Duration(low), High: sim.Duration(low + (width - 1)), Count: k}
		b.Low, b.High = max(b.Low, sim.Duration(lo)), min(b.High, sim.Duration(hi))
		list = append(list, b)
	})
	return list
}
