package dialect

import (
	"fmt"
	"strings"

	"servesim/analysis"
	"servesim/sim"
)

// Name is a name that tools have in common for what they don't measure alike.
type Name string

// The common names.
const (
	TTFT        Name = "TTFT"
	TPOT        Name = "TPOT"
	ITL         Name = "ITL"
	E2E         Name = "E2E"
	UserRate    Name = "tokens/s per user"
	RequestRate Name = "requests/s"
	OutputRate  Name = "output tokens/s"
	TotalRate   Name = "tokens/s"
)

// Names lists the common names of measures of calls, in the order of tables.
func Names() []Name { return []Name{TTFT, TPOT, ITL, E2E, UserRate} }

// RateNames lists the common names of rates of runs, in the order of tables.
func RateNames() []Name { return []Name{RequestRate, OutputRate, TotalRate} }

// Unit is what a tool prints a number in.
type Unit string

// The units.
const (
	Milliseconds Unit = "ms"
	Seconds      Unit = "s"
	Nanoseconds  Unit = "ns"
	PerSecond    Unit = "1/s"
	PerMinute    Unit = "1/min"
	AtOnce       Unit = "calls"
)

// Of returns a value of a Measure in u: a span, or billionths of a number per second.
func (u Unit) Of(d sim.Duration) float64 {
	switch u {
	case Seconds:
		return d.Seconds()
	case Nanoseconds:
		return float64(d) / float64(sim.Nanosecond)
	case PerSecond:
		return float64(d) / 1e9
	}
	return d.Milliseconds()
}

// Metric is a distribution that a tool prints.
type Metric struct {
	// Key is the tool's name of it in files, Label the one that it prints.
	Key, Label string
	// Name is the common name that the tool gives it, "" if it has one of its own.
	Name Name
	Unit Unit
	Measure
	// Estimator is that of the percentiles, if it isn't the dialect's.
	Estimator *analysis.Estimator
}

// Empty is what a tool prints for a metric without values.
type Empty string

// What tools print for nothing.
const (
	ZeroEmpty    Empty = "0"
	OmittedEmpty Empty = "left out"
	NaNEmpty     Empty = "NaN"
	NullEmpty    Empty = "null"
)

// Dialect is how one tool measures a run.
type Dialect struct {
	// Name is what flags call it.
	Name string
	// Tool is the program, Version the one whose rules these are, with the commit.
	Tool, Version string
	// FromDocs tells that the rules are from its documentation, not from its code.
	FromDocs bool
	Metrics  []Metric
	Rates    []Rate
	// Estimator is that of percentiles, unless a Metric has its own.
	Estimator analysis.Estimator
	// DDoF is subtracted from the number of values for the standard deviation; -1
	// if the tool prints none.
	DDoF int64
	// Percentiles are those that the tool prints if it isn't told.
	Percentiles string
	Goodput     Goodput
	Empty       Empty
	// Failures says what becomes of failed calls, in one line.
	Failures string
	// Notes are what to know besides.
	Notes []string
}

// Find returns the dialect that flags call name. The error lists all.
func Find(name string) (*Dialect, error) {
	var names []string
	for _, d := range All() {
		if strings.EqualFold(d.Name, name) {
			return d, nil
		}
		names = append(names, d.Name)
	}
	return nil, fmt.Errorf("unknown dialect %q; the dialects are %s, or all", name, strings.Join(names, ", "))
}

// Parse returns the dialects that a list names, apart by commas or spaces, in its
// order. "all" is every one. Names that are given twice are errors; so is an
// empty list.
func Parse(list string) ([]*Dialect, error) {
	var ds []*Dialect
	for _, word := range strings.FieldsFunc(list, func(r rune) bool { return r == ',' || r == ' ' }) {
		if word == "all" {
			ds = append(ds, All()...)
			continue
		}
		d, err := Find(word)
		if err != nil {
			return nil, err
		}
		ds = append(ds, d)
	}
	if len(ds) == 0 {
		return nil, fmt.Errorf("no dialect is listed; write for instance vllm,llmperf, or all")
	}
	seen := make(map[string]bool)
	for _, d := range ds {
		if seen[d.Name] {
			return nil, fmt.Errorf("dialect %q is listed twice", d.Name)
		}
		seen[d.Name] = true
	}
	return ds, nil
}
