package figure

import (
	"servesim/analysis"
	"servesim/sim"
	"servesim/sim/observe"
)

// A Run is what figures are made of.
type Run struct {
	// Name tells it from others; it may be empty if there are none.
	Name string
	// Latencies are those of the run; every figure needs them.
	Latencies *Latencies
	// History is how the run went; only figures of time and causes need it.
	History *History
	// SLO are the limits that the run has to keep, if any.
	SLO analysis.SLO
	// Report, if it isn't nil, is what reports say of the run. Figures take from it the
	// percentiles that it has, so that they show the same digits.
	Report *analysis.Report
}

// tpotOf returns the TPOT of r, which has two tokens or more, rounded as in reports.
func tpotOf(r *observe.Request) sim.Duration {
	n := uint64(r.Output - 1)
	return sim.Duration((uint64(r.Last.Sub(r.First)) + n/2) / n)
}

// distribution returns the median, P99 and P99.9 of m, and its extremes.
func (r *Run) distribution(m Metric) analysis.Distribution {
	d := r.Latencies.of(m).Distribution(tail())
	if r.Report == nil || !d.OK {
		return d
	}
	for _, known := range r.Report.Metrics() {
		if known.Key != string(m) {
			continue
		}
		for i, q := range d.Quantiles {
			for _, k := range known.Quantiles {
				if k.P == q.P && !k.Unbounded {
					d.Quantiles[i].Value = k.Value
				}
			}
		}
	}
	return d
}

// tail returns the percentiles that figures mark.
func tail() []analysis.Percentile {
	all := analysis.TailPercentiles()
	return []analysis.Percentile{all[0], all[2], all[3]} // P50, P99, P99.9
}

// limits returns the limits of r on m: on the latency of each request, and on
// percentiles of it.
func (r *Run) limits(m Metric) []Mark {
	var marks []Mark
	add := func(label string, l analysis.Limit) {
		if Metric(l.Objective.String()) == m && l.Scope.All() {
			x := l.Max.Milliseconds()
			marks = append(marks, Mark{Kind: Limit, Label: label + number(x) + " ms", On: "x", Value: x, Index: -1})
		}
	}
	for _, l := range r.SLO.Goodput {
		add("limit ", l)
	}
	for _, l := range r.SLO.Run {
		add("limit "+percentileName(l.At)+" ", l.Limit)
	}
	return marks
}
