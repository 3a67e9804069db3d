package figure

import (
	"math"
	"strconv"
	"strings"

	"servesim/analysis"
)

// number writes x with three digits, and thousands grouped.
func number(x float64) string {
	if a := math.Abs(x); a >= 999.5 && a < 1e15 {
		return analysis.Grouped(int64(math.RoundToEven(x)))
	}
	return strconv.FormatFloat(x, 'g', 3, 64)
}

// percentileName writes p as P99.9.
func percentileName(p analysis.Percentile) string {
	name := p.String()
	return strings.ToUpper(name[:1]) + name[1:]
}

// sentences joins those that say something.
func sentences(list ...string) string {
	var full []string
	for _, s := range list {
		if s != "" {
			full = append(full, s)
		}
	}
	return strings.Join(full, " ")
}

// of names a run at the head of a sentence, if it has a name.
func of(name string) string {
	if name == "" {
		return ""
	}
	return name + ": "
}
