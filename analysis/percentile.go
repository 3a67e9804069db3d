package analysis

import (
	"fmt"
	"math"
	"math/bits"
	"slices"
	"strconv"
	"strings"

	"servesim/sim"
)

// Percentile is a percentile from 0 (the minimum) to 100 (the maximum), exact
// to seven decimals of a percent. The zero value is the minimum.
type Percentile struct{ ppb int64 }

// whole is the number of parts of a Percentile in 100 %.
const whole = 1_000_000_000

// ParsePercentile reads a percentile such as "99", "p99.9" or "max" (100).
func ParsePercentile(s string) (Percentile, error) {
	if s == "max" {
		return Percentile{whole}, nil
	}
	number := strings.TrimPrefix(s, "p")
	integer, frac, dot := strings.Cut(number, ".")
	if !digits(integer) || dot && !digits(frac) || len(integer) > 3 || len(frac) > 7 {
		return Percentile{}, fmt.Errorf("%q is not a percentile; write a number from 0 to 100 with at most 7 decimals, such as 99.9, or max", s)
	}
	ppb, err := strconv.ParseInt(integer+frac+"0000000"[len(frac):], 10, 64)
	if err != nil || ppb > whole {
		return Percentile{}, fmt.Errorf("percentile %q is above 100", s)
	}
	return Percentile{ppb}, nil
}

// digits tells whether s is one or more decimal digits.
func digits(s string) bool {
	return s != "" && strings.Trim(s, "0123456789") == ""
}

// ParsePercentiles reads percentiles separated by commas or spaces and returns
// them in ascending order. An empty list and a repeated percentile are errors.
func ParsePercentiles(s string) ([]Percentile, error) {
	var ps []Percentile
	for _, word := range strings.FieldsFunc(s, func(r rune) bool { return r == ',' || r == ' ' }) {
		p, err := ParsePercentile(word)
		if err != nil {
			return nil, err
		}
		if slices.Contains(ps, p) {
			return nil, fmt.Errorf("percentile %s is listed twice", p)
		}
		ps = append(ps, p)
	}
	if len(ps) == 0 {
		return nil, fmt.Errorf("no percentile is listed; write for instance 50,90,99")
	}
	slices.SortFunc(ps, func(a, b Percentile) int { return int(a.ppb - b.ppb) })
	return ps, nil
}

// DefaultPercentiles returns P50, P90 and P99.
func DefaultPercentiles() []Percentile {
	return []Percentile{{500_000_000}, {900_000_000}, {990_000_000}}
}

// TailPercentiles returns P50, P90, P99, P99.9 and the maximum, which a
// comparison of tails asks for.
func TailPercentiles() []Percentile {
	return append(DefaultPercentiles(), Percentile{999_000_000}, Percentile{whole})
}

// String returns "p99.9", or "max" for 100.
func (p Percentile) String() string {
	if p.ppb == whole {
		return "max"
	}
	s := "p" + strconv.FormatInt(p.ppb/10_000_000, 10)
	if rest := p.ppb % 10_000_000; rest != 0 {
		s += "." + strings.TrimRight(fmt.Sprintf("%07d", rest), "0")
	}
	return s
}

// PercentileOf returns the percentile nearest to fraction; ok is false if that is
// no number from 0 to 1.
func PercentileOf(fraction float64) (p Percentile, ok bool) {
	if !(fraction >= 0 && fraction <= 1) {
		return Percentile{}, false
	}
	return Percentile{int64(math.RoundToEven(fraction * whole))}, true
}

// Fraction returns p as a number from 0 to 1.
func (p Percentile) Fraction() float64 { return float64(p.ppb) / whole }

// between returns the value parts/whole of the way from a to b ≥ a, rounded
// to the nearest integer, halves up.
func between(a, b, parts int64) int64 {
	h, l := bits.Mul64(uint64(b)-uint64(a), uint64(parts))
	l, carry := bits.Add64(l, whole/2, 0)
	q, _ := bits.Div64(h+carry, l, whole)
	return int64(uint64(a) + q)
}

// Beyond returns how many of n values decide p: those from its rank to the
// nearer end, at least 1. It tells how much to trust the percentile.
func (p Percentile) Beyond(n int64) int64 {
	if n < 1 {
		return 0
	}
	q, r := portion(n, Percentile{min(p.ppb, whole-p.ppb)})
	if r != 0 || q == 0 {
		q++
	}
	return q
}

// Quantile returns percentile p of values by the type-7 definition: linear
// interpolation between the two nearest values, NumPy's default, rounded to the
// nearest picosecond, halves up. ok is false if there are no values. The order of values is
// left as it is.
func Quantile(values []sim.Duration, p Percentile) (d sim.Duration, ok bool) {
	if len(values) == 0 {
		return 0, false
	}
	v := make([]int64, len(values))
	for i, x := range values {
		v[i] = int64(x)
	}
	n := int64(len(v))
	lo, parts := Linear.Rank(p, n)
	at := selectRanks([][]int64{v}, []int64{lo, min(lo+1, n-1)})
	return sim.Duration(between(at[0], at[1], parts)), true
}
