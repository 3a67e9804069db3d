package reproduce

import (
	"fmt"
	"math"
	"strconv"
	"strings"

	"servesim/analysis"
)

// Tolerance is how far from a figure that was printed without a range a value may
// lie and still be it, as a share of the figure. Such figures are rounded to one or
// two digits, and it is as much as the simulation itself is often wrong by.
const Tolerance = 0.10

// A Range is what a quantity may be for a claim to hold; an end that isn't there is
// infinite.
type Range struct {
	Lo, Hi float64
	// text is how it was written.
	text string
}

// String writes the range as a claim does, such as "about 800" or "3 to 5".
func (r Range) String() string { return r.text }

// about returns the range of a figure that was printed without one.
func about(x float64) Range {
	off := math.Abs(float64(x * Tolerance))
	return Range{x - off, x + off, "about " + figure(x)}
}

// figure writes a number of a claim with all its digits.
func figure(x float64) string {
	whole, decimals, ok := strings.Cut(strconv.FormatFloat(x, 'f', -1, 64), ".")
	if n, err := strconv.ParseInt(whole, 10, 64); err == nil && n != 0 {
		whole = analysis.Grouped(n)
	}
	if ok {
		whole += "." + decimals
	}
	return whole
}

// printed returns the range of values that print as text, which has a decimal
// number.
func printed(text string) (Range, error) {
	x, err := strconv.ParseFloat(text, 64)
	if err != nil || math.IsNaN(x) || math.IsInf(x, 0) || strings.ContainsAny(text, "eExX_+") {
		return Range{}, fmt.Errorf("found %q; must be a decimal number, such as \"7.07\"", text)
	}
	half := 0.5
	if _, decimals, ok := strings.Cut(text, "."); ok {
		half = 0.5 / math.Pow10(len(decimals))
	}
	return Range{x - half, x + half, text}, nil
}

// between returns the range from lo to hi, of which one may be nil.
func between(lo, hi *float64) Range {
	r := Range{Lo: math.Inf(-1), Hi: math.Inf(1)}
	switch {
	case hi == nil:
		r.Lo, r.text = *lo, "at least "+figure(*lo)
	case lo == nil:
		r.Hi, r.text = *hi, "at most "+figure(*hi)
	default:
		r.Lo, r.Hi, r.text = *lo, *hi, figure(*lo)+" to "+figure(*hi)
	}
	return r
}

// An Estimate is a value of which the truth is taken to lie from Lo to Hi: a 95 %
// interval, or the value alone if it doesn't depend on what is drawn.
type Estimate struct {
	Value, Lo, Hi float64
	// Runs is the number of runs behind it, under as many seeds; 0 if it is computed
	// without one or searched for with many.
	Runs int64
}

// Exact tells that no luck is in the value.
func (e *Estimate) Exact() bool { return e.Lo == e.Hi }

// An Outcome says whether a check holds.
type Outcome string

// The outcomes.
const (
	// Met: the whole interval lies in the range.
	Met Outcome = "yes"
	// Missed: all of it lies outside.
	Missed Outcome = "no"
	// Open: an end of the range lies within the interval.
	Open Outcome = "too close to call"
)

// Judge says whether e is in r.
func Judge(e Estimate, r Range) Outcome {
	switch {
	case e.Lo >= r.Lo && e.Hi <= r.Hi:
		return Met
	case e.Hi < r.Lo || e.Lo > r.Hi:
		return Missed
	}
	return Open
}

// A Verdict says whether a claim was reproduced.
type Verdict string

// The verdicts.
const (
	Reproduced    Verdict = "reproduced"
	Partly        Verdict = "partly reproduced"
	NotReproduced Verdict = "not reproduced"
)

// VerdictOf says what becomes of a claim whose checks came out so: reproduced if all
// are met, not if all are missed, else partly. There must be a check.
func VerdictOf(outcomes []Outcome) Verdict {
	met, missed := 0, 0
	for _, o := range outcomes {
		switch o {
		case Met:
			met++
		case Missed:
			missed++
		case Open:
		}
	}
	switch len(outcomes) {
	case met:
		return Reproduced
	case missed:
		return NotReproduced
	}
	return Partly
}

// Rule is the rule of the verdicts in words, for reports.
func Rule() string {
	return fmt.Sprintf("A check is met (yes) if the whole 95 %% interval of the simulated value lies in the claimed range, missed (no) if "+
		"all of it lies outside, and too close to call otherwise. A figure printed without a range is taken to within %.0f %%; "+
		"one shown with its digits, such as \"9\", must come out to the last of them. Where the source leaves the setup open, each setup tried is a "+
		"check. A claim is reproduced if all its checks are met, not reproduced if all are missed, else partly reproduced.", 100*Tolerance)
}
