package analysis

import (
	"fmt"
	"slices"
)

// withholds returns why a run in this state has no intervals, "" if it may have some.
func (s *Saturation) withholds() string {
	if s.State.Steady() {
		return ""
	}
	return "the run is " + string(s.State)
}

// withhold takes the intervals of d back, if there is a reason.
func (d *Distribution) withhold(why string) {
	if why == "" || !d.OK {
		return
	}
	d.MeanInterval.withhold(why)
	for i := range d.Quantiles {
		d.Quantiles[i].Interval.withhold(why)
	}
}

// withhold takes all intervals of r back, if there is a reason.
func (r *Report) withhold(why string) {
	if why == "" {
		return
	}
	for _, m := range r.Metrics() {
		m.withhold(why)
	}
	for _, groups := range [][]Group{r.ByOutput, r.ByClass} {
		for i := range groups {
			for _, m := range groups[i].Metrics(r) {
				m.withhold(why)
			}
		}
	}
	if r.Goodput != nil {
		r.Goodput.Interval.withhold(why)
	}
}

// warn warns of a state in which percentiles are not those of a steady state.
func (s *Saturation) warn(w *warnings) {
	pairs := []any{"arrivals_per_s", s.ArrivalRate, "completions_per_s", s.CompletionRate}
	switch q, p := &s.Queue, &s.Present; s.State {
	case Overloaded:
		w.add(Overload, fmt.Sprintf("overload: in the last half of the arrivals %s requests/s came and %s/s completed; the queue grew by %s a second (95 %% interval %s to %s), to %s; latencies depend on how long the run was, and have no intervals",
			shortRate(s.ArrivalRate), shortRate(s.CompletionRate), shortRate(q.Growth), shortRate(q.Lo), shortRate(q.Hi), Grouped(q.Last)),
			append(pairs, "queue_growth_per_s", q.Growth, "queue", q.Last)...)
	case Unsettled:
		w.add(Unsteady, fmt.Sprintf("unsettled: in the last half of the arrivals %s requests/s came and %s/s completed; the requests in the engine grew by %s a second (95 %% interval %s to %s), to %s; the run is too short for a steady state, and has no intervals",
			shortRate(s.ArrivalRate), shortRate(s.CompletionRate), shortRate(p.Growth), shortRate(p.Lo), shortRate(p.Hi), Grouped(p.Last)),
			append(pairs, "present_growth_per_s", p.Growth, "present", p.Last)...)
	case Backlogged:
		drained := "it drained while requests came"
		if float64(q.Last) >= float64(q.Peak)/2 {
			drained = Grouped(q.Last) + " still did when the last one came"
		}
		w.add(Backlog, fmt.Sprintf("backlog: at most %s of %s requests waited at one instant, more than chance explains; %s; percentiles mix this time with the rest",
			Grouped(q.Peak), Grouped(s.Requests), drained),
			"queue_peak", q.Peak, "queue", q.Last, "requests", s.Requests)
	}
}

// Evidence says in words what the state rests on.
func (s *Saturation) Evidence() string {
	if s.Half <= 0 || s.State == UnknownSaturation {
		return Counted(s.Requests, "request") + ", too few or too close together to say"
	}
	q := &s.Queue
	return fmt.Sprintf("in the last half of the arrivals %s requests/s came and %s/s completed; the queue grew by %s a second (%s to %s), at most %s waited",
		shortRate(s.ArrivalRate), shortRate(s.CompletionRate), shortRate(q.Growth), shortRate(q.Lo), shortRate(q.Hi), Grouped(q.Peak))
}

// First tells whether w is on the run as a whole, so that whoever reads the rest
// needs to know it before.
func (w *Warning) First() bool {
	return slices.Contains([]WarningKind{Overload, Unsteady, Backlog}, w.Kind)
}
