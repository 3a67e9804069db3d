package dialect

import (
	"math"
	"math/big"
	"math/bits"

	"servesim/sim"
)

// moments are exact sums of values and of their squares, so that their order
// doesn't matter. Squares of 63 bits, 2^60 of them, fit in 192 bits.
type moments struct {
	n      int64
	sum    [2]uint64
	square [3]uint64
}

// maxRun is the most values of a run: the cubes of more don't fit.
const maxRun = 1 << 20

// add takes value v, at least 0, n times.
func (m *moments) add(v uint64, n int64) {
	m.n += n
	m.addSum(v, uint64(n))
	h, l := bits.Mul64(v, v)
	m.addSquares(h, l, uint64(n))
}

// addRun takes n values, from 1 to maxRun: first, first+inc, first+2·inc and so on.
func (m *moments) addRun(first, inc uint64, n int64) {
	k := uint64(n)
	m.n += n
	m.addSum(first, k)
	m.addSum(inc, k*(k-1)/2)
	// Σ(a+id)² is n·a² + 2ad·Σi + d²·Σi².
	h, l := bits.Mul64(first, first)
	m.addSquares(h, l, k)
	h, l = bits.Mul64(first, inc)
	m.addSquares(h, l, k*(k-1))
	h, l = bits.Mul64(inc, inc)
	m.addSquares(h, l, (k-1)*k*(2*k-1)/6)
}

// addSum adds v·n to the sum.
func (m *moments) addSum(v, n uint64) {
	h, l := bits.Mul64(v, n)
	var c uint64
	m.sum[0], c = bits.Add64(m.sum[0], l, 0)
	m.sum[1] += h + c
}

// addSquares adds a number of 128 bits times n to the sum of squares.
func (m *moments) addSquares(h, l, n uint64) {
	h1, l1 := bits.Mul64(l, n)
	h2, l2 := bits.Mul64(h, n)
	var c uint64
	m.square[0], c = bits.Add64(m.square[0], l1, 0)
	m.square[1], c = bits.Add64(m.square[1], h1, c)
	m.square[2] += c
	m.square[1], c = bits.Add64(m.square[1], l2, 0)
	m.square[2] += h2 + c
}

// total returns the sum of the values.
func (m *moments) total() float64 {
	f, _ := new(big.Float).SetInt(words(m.sum[:])).Float64()
	return f
}

// deviation returns the standard deviation with n-ddof degrees of freedom, to the
// nearest picosecond. ok is false if there are none.
func (m *moments) deviation(ddof int64) (d sim.Duration, ok bool) {
	if m.n <= ddof || m.n == 0 {
		return 0, false
	}
	// The square of twice the deviation, 4·(n·Σx² - (Σx)²) / (n·(n-ddof)).
	n, s := big.NewInt(m.n), words(m.sum[:])
	x := new(big.Int).Mul(n, words(m.square[:]))
	x.Sub(x, new(big.Int).Mul(s, s)).Lsh(x, 2)
	x.Quo(x, new(big.Int).Mul(n, big.NewInt(m.n-ddof)))
	twice := x.Sqrt(x)
	if !twice.IsUint64() || twice.Uint64() == math.MaxUint64 {
		return sim.MaxDuration, true
	}
	return sim.Duration((twice.Uint64() + 1) / 2), true
}

// words is the integer of 64-bit digits, lowest first.
func words(digits []uint64) *big.Int {
	x := new(big.Int)
	for i := len(digits) - 1; i >= 0; i-- {
		x.Lsh(x, 64).Or(x, new(big.Int).SetUint64(digits[i]))
	}
	return x
}
