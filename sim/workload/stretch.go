package workload

import (
	"fmt"
	"math"
	"math/bits"

	"servesim/sim"
)

// Stretch multiplies every arrival by factor, more than 0: with 2 the trace
// lasts twice as long and its rate is half. Each arrival is rounded once, to
// the nearest picosecond, half to even. Cancel stays as it is. The error says
// that factor is out of range or wraps ErrNoReactive; Next fails with a
// *TransformFault at an arrival that a run cannot reach.
func Stretch(src Source, factor float64) (Source, error) {
	if !(factor > 0) || math.IsInf(factor, 1) {
		return nil, fmt.Errorf("stretch: found the factor %v, want a finite number above 0", factor)
	}
	if err := openLoop("stretch", src); err != nil {
		return nil, err
	}
	return &stretch{stage{src: src}, factor}, nil
}

type stretch struct {
	stage
	factor float64
}

// Next implements Source.
func (s *stretch) Next() (Request, error) {
	r, err := s.read()
	if err != nil {
		return r, err
	}
	at, ok := scaleTime(r.Arrival, s.factor)
	if !ok {
		s.end = transformFault("stretch", "request %d, which arrives at %v, would arrive after the 106 days that a run can last", r.ID, r.Arrival)
		return Request{}, s.end
	}
	r.Arrival = at
	return s.yield(r)
}

// Counts implements Counted.
func (s *stretch) Counts() []Count { return CountsOf(s.src) }

// scaleTime returns t, 0 or more, times factor, above 0: the exact product
// rounded once to the nearest integer, half to even. ok is false if that is
// past MaxTime.
func scaleTime(t sim.Time, factor float64) (scaled sim.Time, ok bool) {
	frac, exp := math.Frexp(factor)
	hi, lo := bits.Mul64(uint64(t), uint64(math.Ldexp(frac, 53)))
	exp -= 53 // t·factor = (hi·2⁶⁴ + lo)·2^exp
	if exp >= 0 {
		if hi != 0 || bits.Len64(lo)+exp > 63 && lo != 0 {
			return 0, false
		}
		return sim.Time(lo << exp), true
	}
	n := -exp
	if n > 127 {
		return 0, true // the product is below 2¹¹⁶, so less than a half
	}
	half := bit128(hi, lo, n-1)
	below := n > 1 && anyBelow(hi, lo, n-1)
	if n >= 64 {
		lo, hi = hi>>(n-64), 0
	} else {
		lo, hi = lo>>n|hi<<(64-n), hi>>n
	}
	if half && (below || lo&1 == 1) {
		lo++
	}
	return sim.Time(lo), hi == 0 && lo <= math.MaxInt64
}

// bit128 returns bit i of hi·2⁶⁴ + lo.
func bit128(hi, lo uint64, i int) bool {
	if i >= 64 {
		return hi>>(i-64)&1 == 1
	}
	return lo>>i&1 == 1
}

// anyBelow tells whether hi·2⁶⁴ + lo has a bit below bit i, i of 1 or more.
func anyBelow(hi, lo uint64, i int) bool {
	if i >= 64 {
		return lo != 0 || hi<<(128-i) != 0
	}
	return lo<<(64-i) != 0
}
