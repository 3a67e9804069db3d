package analysis

import (
	"fmt"
	"math"

	"servesim/sim"
)

// Method says how an interval was found.
type Method string

// The methods.
const (
	// Batches: from how sums over successive stretches of one run differ, which
	// takes in that neighbours resemble each other.
	Batches Method = "batches"
	// Replications: from how runs of different seeds differ.
	Replications Method = "replications"
)

// Evidence is what an interval rests on, or why there is none. Every interval
// is of 95 % confidence: of the intervals of many runs like this one, each with
// its own luck, about 95 in 100 hold the value that a run without end would have.
type Evidence struct {
	// OK is false if there is no interval.
	OK bool
	// Method is how the interval was found, or sought.
	Method Method
	// Effective is the number of independent values that would say as much as the
	// values of the run do, its effective sample size; 0 if it isn't known.
	Effective float64
	// Needs is about how many values, or replications, an interval takes, if
	// there is none; 0 if no number of them makes one, as of a maximum.
	Needs int64
	// Withheld says why an interval that could be made is not given, such as that
	// the run was overloaded; OK is then false and Needs 0.
	Withheld string
}

// withhold takes an interval back, for a reason in words.
func (e *Evidence) withhold(why string) {
	*e = Evidence{Method: e.Method, Effective: e.Effective, Withheld: why}
}

// Why says why there is no interval, or nothing if there is one.
func (e Evidence) Why() string {
	switch {
	case e.OK:
		return ""
	case e.Withheld != "":
		return "no interval: " + e.Withheld
	case e.Needs == 0:
		return "no interval"
	case e.Method == Replications:
		return "no interval: needs about " + Counted(e.Needs, "replication")
	}
	return "no interval: needs n >= " + Grouped(e.Needs)
}

// Interval is a 95 % interval of a span.
type Interval struct {
	Evidence
	Lo, Hi sim.Duration
}

// ShareInterval is a 95 % interval of a share, from 0 to 1.
type ShareInterval struct {
	Evidence
	Lo, Hi float64
}

// String writes the interval as lo..hi in ps, or why there is none.
func (i Interval) String() string {
	if !i.OK {
		return i.Why()
	}
	return fmt.Sprintf("%d..%d ps", int64(i.Lo), int64(i.Hi))
}

// upToTwoDigits rounds x up to two significant digits, so that a need reads as
// the estimate that it is.
func upToTwoDigits(x float64) int64 {
	if !(x < 1e17) {
		return 0
	}
	unit := 1.0
	for x > 99*unit {
		unit *= 10
	}
	return int64(math.Ceil(x/unit) * unit)
}
