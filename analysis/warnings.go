package analysis

import (
	"fmt"
	"slices"
	"strings"

	"servesim/sim/observe"
)

// Warning is something to beware of in a Report.
type Warning struct {
	// Kind is a fixed word for programs.
	Kind WarningKind
	// Text says it to people.
	Text string
	// Values are the numbers and names that Text speaks of.
	Values []WarningValue
	// OfGroups tells that it is about the figures by class or output tokens alone.
	OfGroups bool
}

// WarningValue is one of what a Warning speaks of.
type WarningValue struct {
	Key string
	// Value is an int64, a float64 or a string.
	Value any
}

// WarningKind says what a Warning is about.
type WarningKind string

// The kinds of warning.
const (
	// FewValues: a percentile rests on fewer than 10 values; said of the requests,
	// and beside them of each metric and group for which they are fewer still.
	FewValues WarningKind = "few_values"
	// NotFinished: requests were left unfinished, so latencies leave out the slowest.
	NotFinished WarningKind = "unfinished"
	// Failed: requests were rejected, timed out or cancelled; latencies leave them out.
	Failed WarningKind = "failed"
	// Overload, Unsteady and Backlog: the run is in no steady state, by its
	// Saturation. They come first.
	Overload WarningKind = "overload"
	Unsteady WarningKind = "unsettled"
	Backlog  WarningKind = "backlog"
	// NoWarmUp: no end of the warm-up was found.
	NoWarmUp WarningKind = "no_warm_up"
	// Approximate: more values than are kept; quantiles have a resolution.
	Approximate WarningKind = "approximate"
	// ManyClasses: there are more classes than are told apart.
	ManyClasses WarningKind = "many_classes"
	// UnusedLimit: no request is in the scope of a limit.
	UnusedLimit WarningKind = "unused_limit"
)

// fewValues is the number of values below which a percentile is said to rest on few.
const fewValues = 10

// warnings collects warnings.
type warnings []Warning

// add adds a warning with what it speaks of, keys and values in turn.
func (w *warnings) add(k WarningKind, text string, pairs ...any) {
	warning := Warning{Kind: k, Text: text}
	for i := 0; i < len(pairs); i += 2 {
		warning.Values = append(warning.Values, WarningValue{pairs[i].(string), pairs[i+1]})
	}
	*w = append(*w, warning)
}

// addOfGroups adds a warning about the figures by class or output tokens.
func (w *warnings) addOfGroups(k WarningKind, text string, pairs ...any) {
	w.add(k, text, pairs...)
	(*w)[len(*w)-1].OfGroups = true
}

// warnings returns what to beware of in r.
func (s *Summary) warnings(r *Report) []Warning {
	var w warnings
	r.Saturation.warn(&w)
	all := r.Counts.Requests
	if n := r.Counts.Of(observe.Unfinished); n > 0 {
		w.add(NotFinished, fmt.Sprintf("%s of %s were left unfinished, so the latencies leave out what would have been slowest", Grouped(n), Counted(all, "request")),
			"unfinished", n, "requests", all)
	}
	if n := all - r.Counts.Of(observe.Unfinished) - r.Counts.Of(observe.Completed); n > 0 {
		w.add(Failed, fmt.Sprintf("%s of %s failed; the latencies leave them out, goodput does not", Grouped(n), Counted(all, "request")),
			"failed", n, "requests", all)
	}
	s.fewWarnings(&w, r)
	r.coarseMetrics(&w)
	if s.groups.parted {
		w.addOfGroups(Approximate, fmt.Sprintf("by output tokens and class: %s are too many to keep; each percentile is within its resolution, at most 0.1 %%, and has no interval", Counted(r.TTFT.Count, "request")),
			"count", r.TTFT.Count)
	}
	if n := s.groups.rest(); n > 0 {
		w.addOfGroups(ManyClasses, fmt.Sprintf("%s are of classes beyond the first %d, and shown together", Counted(n, "request"), MaxClasses),
			"requests", n, "classes", int64(MaxClasses))
	}
	s.unusedLimits(&w, r)
	return w
}

// coarseMetrics warns, in one line, of the metrics with more values than are kept.
func (r *Report) coarseMetrics(w *warnings) {
	var names []string
	var counts []any
	for _, m := range r.Metrics() {
		if q := m.Quantiles; m.Distribution.OK && len(q) > 0 && coarse(q) {
			names = append(names, m.Name)
			counts = append(counts, m.Key, m.Count)
		}
	}
	if len(names) > 0 {
		w.add(Approximate, fmt.Sprintf("the values of %s are too many to keep; each percentile is within its resolution, at most 0.025 %%", strings.Join(names, ", ")), counts...)
	}
}

// fewWarnings warns of percentiles that rest on few values.
func (s *Summary) fewWarnings(w *warnings, r *Report) {
	for _, p := range s.options.Percentiles {
		n := p.Beyond(r.TTFT.Count)
		if few(p, r.TTFT.Count) {
			w.add(FewValues, fmt.Sprintf("%s of %s rests on %s", p, Counted(r.TTFT.Count, "request"), Counted(n, "value")),
				"percentile", p.String(), "count", r.TTFT.Count, "values", n)
		}
		for _, m := range r.Metrics() {
			if k := p.Beyond(m.Count); few(p, m.Count) && (n == 0 || k < n) {
				w.add(FewValues, fmt.Sprintf("%s of %s rests on %s of %s", p, m.Name, Grouped(k), Counted(m.Count, "value")),
					"percentile", p.String(), "metric", m.Key, "count", m.Count, "values", k)
			}
		}
		if !few(p, r.TTFT.Count) { // otherwise the groups' are fewer still
			fewInGroups(w, p, "output", r.ByOutput)
			fewInGroups(w, p, "class", r.ByClass)
		}
	}
}

// fewInGroups warns of percentile p of groups with few requests, all in one line.
func fewInGroups(w *warnings, p Percentile, by string, groups []Group) {
	pairs := []any{"percentile", p.String(), "by", by}
	var parts []string
	for i := range groups {
		g := &groups[i]
		if !few(p, g.Completed) {
			continue
		}
		k := p.Beyond(g.Completed)
		parts = append(parts, fmt.Sprintf("%s (%s of %s)", g.Title(), Grouped(k), Grouped(g.Completed)))
		pairs = append(pairs, g.Title(), k)
	}
	if len(parts) > 0 {
		what := map[string]string{"output": "output tokens", "class": "class"}[by]
		w.addOfGroups(FewValues, fmt.Sprintf("by %s, %s rests on few values for %s", what, p, strings.Join(parts, ", ")), pairs...)
	}
}

// unusedLimits warns of limits that are on no request.
func (s *Summary) unusedLimits(w *warnings, r *Report) {
	if r.Counts.Requests == 0 {
		return
	}
	var unused []string
	if r.Goodput != nil {
		for i := range r.Goodput.Each {
			if r.Goodput.Each[i].Requests == 0 {
				unused = append(unused, r.Goodput.Limits[i].String())
			}
		}
	}
	for _, v := range r.Verdicts {
		if v.Judgement == NoData {
			unused = append(unused, v.Limit)
		}
	}
	for _, l := range unused {
		w.add(UnusedLimit, fmt.Sprintf("no request is in the scope of the limit %s", l), "limit", l)
	}
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
