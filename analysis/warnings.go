package analysis

import (
	"fmt"
	"slices"

	"servesim/sim/observe"
)

// fewValues is the number of values below which a percentile is said to rest on few.
const fewValues = 10

// warnings returns what to beware of in r.
func (s *Summary) warnings(r *Report) []Warning {
	var list []Warning
	warn := func(k WarningKind, format string, args ...any) {
		list = append(list, Warning{k, fmt.Sprintf(format, args...)})
	}
	all := r.Counts.Requests
	if n := r.Counts.Of(observe.Unfinished); n > 0 {
		warn(NotFinished, "%s of %s were left unfinished, so the latencies leave out what would have been slowest", Grouped(n), Counted(all, "request"))
	}
	if n := all - r.Counts.Of(observe.Unfinished) - r.Counts.Of(observe.Completed); n > 0 {
		warn(Failed, "%s of %s failed; the latencies leave them out, goodput does not", Grouped(n), Counted(all, "request"))
	}
	if late, early, ok := s.waits.growth(s.start); ok {
		warn(Overload, "overload: the queue grew as long as requests arrived: the last tenth of them waited %s s in the mean, no tenth of the first half more than %s s; latencies depend on how long the run was",
			shortSeconds(late), shortSeconds(early))
	}
	for _, p := range s.options.Percentiles {
		n := p.Beyond(r.TTFT.Count)
		if few(p, r.TTFT.Count) {
			warn(FewValues, "%s of %s rests on %s", p, Counted(r.TTFT.Count, "request"), Counted(n, "value"))
		}
		for _, m := range r.Metrics() {
			if k := p.Beyond(m.Count); few(p, m.Count) && (n == 0 || k < n) {
				warn(FewValues, "%s of %s rests on %s of %s", p, m.Name, Grouped(k), Counted(m.Count, "value"))
			}
		}
	}
	for _, m := range r.Metrics() {
		if q := m.Quantiles; m.Distribution.OK && len(q) > 0 && coarse(q) {
			warn(Approximate, "%s: %s values are too many to keep; each percentile is within its resolution, at most 0.025 %%", m.Name, Grouped(m.Count))
		}
	}
	return list
}

// coarse tells whether any of q is not exact.
func coarse(q []QuantileValue) bool {
	return slices.ContainsFunc(q, func(v QuantileValue) bool { return v.Resolution > 0 })
}

// few tells whether percentile p of n values rests on few. The extremes rest on
// one value by definition, and no values have no percentiles.
func few(p Percentile, n int64) bool {
	return n > 0 && p.Beyond(n) < fewValues && p.ppb != 0 && p.ppb != whole
}

// Metric is a named distribution of a Report.
type Metric struct {
	// Name is what tables call it and Key what files do.
	Name, Key string
	// Definition says what it is, in terms of a request's record.
	Definition string
	// Part tells that it is a part of the metric before it that is none.
	Part bool
	*Distribution
}

// Metrics lists the distributions of r in the order of tables, the parts of
// TTFT after it.
func (r *Report) Metrics() []Metric {
	return []Metric{
		{"TTFT", "ttft", "first token - arrival, = network + queue + prefill; completed requests", false, &r.TTFT},
		{"network", "network", "sent - arrival", true, &r.Network},
		{"queue", "queue", "scheduled - sent", true, &r.Queue},
		{"prefill", "prefill", "first token - scheduled", true, &r.Prefill},
		{"TPOT", "tpot", "(last token - first token) / (output - 1), one value a request with output >= 2", false, &r.TPOT},
		{"ITL", "itl", "time between two successive tokens, one value a gap, all requests", false, &r.ITL},
		{"worst gap", "max_gap", "longest ITL of a request, one value a request with output >= 2", false, &r.MaxGap},
		{"E2E", "e2e", "last token - arrival + network of the answer; completed requests", false, &r.E2E},
	}
}
