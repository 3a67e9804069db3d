package analysis

import (
	"math"
	"strconv"
)

// Grouped writes n with a comma between groups of three digits, as every number
// of a report has them.
func Grouped(n int64) string {
	s, sign := strconv.FormatInt(n, 10), ""
	if n < 0 {
		s, sign = s[1:], "-"
	}
	for i := len(s) - 3; i > 0; i -= 3 {
		s = s[:i] + "," + s[i:]
	}
	return sign + s
}

// shortRate writes x to three digits or whole, and to no more than four decimals.
func shortRate(x float64) string {
	a := math.Abs(x)
	switch {
	case a >= 999.5:
		return Grouped(int64(math.Round(x)))
	case a < 0.00005:
		return "0"
	case a < 0.1:
		return strconv.FormatFloat(math.Round(x*1e4)/1e4, 'f', -1, 64)
	}
	return strconv.FormatFloat(x, 'g', 3, 64)
}

// Counted writes n things of a kind, such as "1 request" and "2,000 requests".
func Counted(n int64, noun string) string {
	if n != 1 {
		noun += "s"
	}
	return Grouped(n) + " " + noun
}
