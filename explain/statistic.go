package explain

import (
	"servesim/analysis"
	"servesim/sim"
)

// A Statistic is one number of a run that changes are told of.
type Statistic struct {
	// Key is its name for programs and Name for people, without the latter's At.
	Key, Name string
	// Class is the class of requests that it is of, all if that is empty.
	Class string
	// At is "mean" or a percentile.
	At string
}

// The statistics, as they stand in Statistics.
const (
	ttftMean = iota
	tpotMean
	itlMean
	ttft99
	tpot99
	itl99
	itl999
	gap99
	e2e99
	statistics
)

// Statistics lists the statistics of every run that is explained.
func Statistics() []Statistic {
	return []Statistic{
		ttftMean: {"ttft", "TTFT", "", "mean"},
		tpotMean: {"tpot", "TPOT", "", "mean"},
		itlMean:  {"itl", "ITL", "", "mean"},
		ttft99:   {"ttft", "TTFT", "", "p99"},
		tpot99:   {"tpot", "TPOT", "", "p99"},
		itl99:    {"itl", "ITL", "", "p99"},
		itl999:   {"itl", "ITL", "", "p99.9"},
		gap99:    {"max_gap", "worst gap", "", "p99"},
		e2e99:    {"e2e", "E2E", "", "p99"},
	}
}

// percentiles are those that the statistics need.
func percentiles() []analysis.Percentile {
	ps, _ := analysis.ParsePercentiles("50,99,99.9") // a constant, which is right
	return ps
}

// of returns s of r; ok is false if it has no data.
func (s Statistic) of(r *analysis.Report) (d sim.Duration, ok bool) {
	list := r.Metrics()
	if s.Class != "" {
		list = nil
		for i := range r.ByClass {
			if r.ByClass[i].Name == s.Class {
				list = r.ByClass[i].Metrics(r)
			}
		}
	}
	for _, m := range list {
		if m.Key != s.Key || !m.OK {
			continue
		}
		if s.At == "mean" {
			return m.Mean, true
		}
		for _, q := range m.Quantiles {
			if q.P.String() == s.At {
				return q.Value, true
			}
		}
	}
	return 0, false
}

// Title is s for people, such as "P99 ITL".
func (s Statistic) Title() string {
	if s.At == "mean" {
		return "mean " + s.Name
	}
	return "P" + s.At[1:] + " " + s.Name
}
