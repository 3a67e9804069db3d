package blame

import (
	"math/bits"

	"servesim/sim"
)

// wide is a sum of durations that are not negative: those of ten million
// requests exceed 64 bits.
type wide struct{ hi, lo uint64 }

// add adds n times d.
func (w *wide) add(d sim.Duration, n int64) {
	hi, lo := bits.Mul64(uint64(d), uint64(n))
	var carry uint64
	w.lo, carry = bits.Add64(w.lo, lo, 0)
	w.hi += hi + carry
}

// plus adds v.
func (w *wide) plus(v wide) {
	var carry uint64
	w.lo, carry = bits.Add64(w.lo, v.lo, 0)
	w.hi += v.hi + carry
}

// over returns the n-th part, rounded down.
func (w wide) over(n int64) sim.Duration {
	if n <= 0 {
		return 0
	}
	q, _ := bits.Div64(w.hi%uint64(n), w.lo, uint64(n))
	return sim.Duration(q)
}

// float returns about w.
func (w wide) float() float64 { return float64(float64(w.hi)*(1<<64)) + float64(w.lo) }

// plus returns a + n·d, none of which is negative, or sim.MaxDuration if that is less.
func plus(a sim.Duration, n int64, d sim.Duration) sim.Duration {
	hi, lo := bits.Mul64(uint64(n), uint64(d))
	lo, carry := bits.Add64(lo, uint64(a), 0)
	if hi+carry > 0 || lo > uint64(sim.MaxDuration) {
		return sim.MaxDuration
	}
	return sim.Duration(lo)
}

// portion returns d·n/of, rounded down; n is at most of, which is above 0.
func portion(d sim.Duration, n, of int64) sim.Duration {
	if n == of {
		return d
	}
	hi, lo := bits.Mul64(uint64(d), uint64(n))
	q, _ := bits.Div64(hi, lo, uint64(of))
	return sim.Duration(q)
}
