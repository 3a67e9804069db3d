package hardware

import (
	"math"
)

// A Flip is the ratio of prices at which the choice between two configurations flips:
// there both cost the same for a good token.
type Flip struct {
	// More is the one that makes more good tokens on a GPU, or an equal number, and
	// Less the other.
	More, Less *Side
	// Ratio is that of the price of a GPU and hour of More to that of Less: below it
	// More is cheaper, above it Less. It is that of the good output tokens that a GPU
	// makes at the capacity; without limits on requests of all completed ones. Lo and Hi
	// are what it is with one capacity at the lower end of its interval and the other at
	// the upper one, so that an interval of 95 % is narrower.
	Ratio, Lo, Hi float64
	// Today is the ratio of the prices, NaN if one isn't known.
	Today float64
}

// Choice returns the one that is cheaper today, nil if both cost the same or a price
// isn't known; sure is false if the prices lie between Lo and Hi.
func (f *Flip) Choice() (s *Side, sure bool) {
	switch {
	case f.Today < f.Ratio:
		return f.More, f.Today < f.Lo
	case f.Today > f.Ratio:
		return f.Less, f.Today > f.Hi
	}
	return nil, false
}

// flips compares each two sides that serve and have different GPUs. The order of the
// sides decides nothing but that of the flips.
func (c *Comparison) flips() {
	for i, a := range c.Sides {
		for _, b := range c.Sides[:i] {
			if a.Reason == "" && b.Reason == "" && a.Plan.Machine.Profile.Name != b.Plan.Machine.Profile.Name {
				c.Flips = append(c.Flips, flipOf(a, b))
			}
		}
	}
}

// flipOf returns the flip of two sides.
func flipOf(a, b *Side) Flip {
	if x, y := a.GoodPerGPU(), b.GoodPerGPU(); x < y || x == y && a.Label > b.Label {
		a, b = b, a
	}
	ratio := a.GoodPerGPU() / b.GoodPerGPU()
	aLo, aHi := a.interval()
	bLo, bHi := b.interval()
	return Flip{
		More: a, Less: b, Ratio: ratio, Lo: ratio * aLo / bHi, Hi: ratio * aHi / bLo,
		Today: a.Answer.Cost.USDPerGPUHour / b.Answer.Cost.USDPerGPUHour,
	}
}

// GoodPerGPU returns the good output tokens that a GPU of s makes in a second at its
// capacity, or those of completed requests if there are no limits on requests.
func (s *Side) GoodPerGPU() float64 {
	r := s.Answer.At.Report
	if r.Goodput != nil {
		return r.Goodput.OutputPerSecond / s.GPUs()
	}
	return r.Throughput.OutputTokens / s.GPUs()
}

// interval returns the ends of that of the capacity of s, as shares of it; 0 and +Inf
// where it has none.
func (s *Side) interval() (lo, hi float64) {
	a := s.Answer
	if a.Unbounded {
		return a.Lo / a.Rate, math.Inf(1)
	}
	return a.Lo / a.Rate, a.Hi / a.Rate
}
