package analysis

import "math/bits"

// sum is an exact sum of non-negative numbers, of 128 bits: ten million requests
// of a thousand seconds each exceed 64 bits of picoseconds.
type sum struct{ hi, lo uint64 }

// add adds v.
func (s *sum) add(v uint64) {
	var carry uint64
	s.lo, carry = bits.Add64(s.lo, v, 0)
	s.hi += carry
}

// addProduct adds a·b.
func (s *sum) addProduct(a, b uint64) {
	h, l := bits.Mul64(a, b)
	var carry uint64
	s.lo, carry = bits.Add64(s.lo, l, 0)
	s.hi += h + carry
}

// addSum adds t·k. The product must be below 1<<128.
func (s *sum) addSum(t sum, k uint64) {
	s.addProduct(t.lo, k)
	s.hi += t.hi * k
}

// over returns the sum divided by n > 0, rounded to the nearest integer, halves
// up. The quotient must be below 1<<63, as a mean of n such numbers is.
func (s *sum) over(n int64) int64 {
	t := *s
	t.add(uint64(n) / 2)
	q, _ := bits.Div64(t.hi%uint64(n), t.lo, uint64(n))
	return int64(q)
}

// float returns the nearest float64, or one beside it.
func (s *sum) float() float64 {
	return float64(float64(s.hi)*(1<<64)) + float64(s.lo)
}
