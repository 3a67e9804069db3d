package analysis

import "math/bits"

// Estimator is a definition of the percentile of finitely many values. Benchmark
// tools differ in it, and with few values in the figure.
type Estimator uint8

// The estimators, of values x[0] ≤ ... ≤ x[n-1].
const (
	// Linear interpolates between x[i] and x[i+1], the two values around (n-1)·p:
	// NumPy's and pandas' default, type 7 of Hyndman and Fan (The American
	// Statistician 50, 1996).
	Linear Estimator = iota
	// InverseCDF is the first value up to which at least the share p of all values
	// lies, x[ceil(n·p)-1]: type 1 of Hyndman and Fan, NumPy's "inverted_cdf".
	InverseCDF
	// FloorIndex is x[floor(n·p)], at most x[n-1]: MLPerf's load generator.
	FloorIndex
	// Nearest is the value nearest to (n-1)·p, of two equally near the one of even
	// index: NumPy's "nearest".
	Nearest
)

// String says in words which value e takes.
func (e Estimator) String() string {
	switch e {
	case Linear:
		return "linear interpolation"
	case InverseCDF:
		return "inverse CDF"
	case FloorIndex:
		return "floor of n·p"
	case Nearest:
		return "nearest rank"
	}
	return "unknown estimator"
}

// Estimators lists every estimator.
func Estimators() []Estimator { return []Estimator{Linear, InverseCDF, FloorIndex, Nearest} }

// Rank returns where percentile p of n > 0 sorted values lies by e, counted from
// 0: parts billionths of the way from value lo to the next one. Only Linear has
// parts other than 0.
func (e Estimator) Rank(p Percentile, n int64) (lo, parts int64) {
	switch e {
	case InverseCDF:
		q, r := portion(n, p)
		if r > 0 {
			q++
		}
		return max(q-1, 0), 0
	case FloorIndex:
		q, _ := portion(n, p)
		return min(q, n-1), 0
	case Nearest:
		q, r := portion(n-1, p)
		if r > whole/2 || r == whole/2 && q&1 == 1 {
			q++
		}
		return q, 0
	}
	return portion(n-1, p)
}

// portion returns n·p as a whole number and parts of a billion.
func portion(n int64, p Percentile) (q, parts int64) {
	h, l := bits.Mul64(uint64(n), uint64(p.ppb))
	quotient, rest := bits.Div64(h, l, whole)
	return int64(quotient), int64(rest)
}
