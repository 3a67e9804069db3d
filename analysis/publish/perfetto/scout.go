package perfetto

import (
	"cmp"
	"fmt"
	"slices"

	"servesim/analysis"
	"servesim/sim"
	"servesim/sim/observe"
)

// What a run may have to be drawn whole unless it is asked for: more are slow to
// open, and nobody finds anything among them.
const (
	mostRequests = 2_000
	mostSlices   = 500_000
)

// phases is about the number of slices of a request beside those of its steps.
const phases = 5

// Around a request the run is drawn from its arrival to the end of what was too long,
// pad more on both sides, and no more than longestWindow before that end.
const (
	pad           = sim.Second
	longestWindow = sim.Minute
)

// A Scout is a Sink that sees a run before it is written, and finds where requests
// missed their limits by most.
type Scout struct {
	choice   Choice
	limits   []analysis.Limit
	missed   []ranking  // by limit, and at the end those that failed
	slowest  [2]ranking // by TTFT and by longest gap, whatever the limits
	requests int64
	slices   int64 // about what the whole run would have
}

// NewScout returns a Scout for what is chosen of a run with the limits of slo.
func NewScout(c Choice, slo *analysis.SLO) *Scout {
	s := &Scout{choice: c, limits: limits(slo)}
	s.missed = make([]ranking, len(s.limits)+1)
	return s
}

// Step implements observe.Sink.
func (s *Scout) Step(r *observe.StepRun) error {
	s.slices += r.Steps
	if len(r.Chunks) > 0 {
		s.slices += int64(len(r.Chunks)) + int64(r.Running)
	}
	return nil
}

// Request implements observe.Sink.
func (s *Scout) Request(r *observe.Request) error {
	s.requests++
	s.slices += phases
	if r.Outcome != observe.Completed {
		s.missed[len(s.limits)].offer(candidate{id: r.ID, by: r.End.Sub(r.Arrival), from: r.Arrival, to: r.End})
		return nil
	}
	for i := range s.limits {
		l := &s.limits[i]
		if d, missed := l.Missed(r); missed {
			c := candidate{id: r.ID, by: d, from: r.Arrival, to: r.End}
			if l.Objective == analysis.TTFT || l.Objective == analysis.Queue {
				c.to = r.First
			}
			s.missed[i].offer(c)
		}
	}
	s.slowest[0].offer(candidate{id: r.ID, by: r.First.Sub(r.Arrival), from: r.Arrival, to: r.First})
	s.slowest[1].offer(candidate{id: r.ID, by: r.MaxGap, from: r.Arrival, to: r.End})
	return nil
}

// Plan returns what is to be drawn of the run.
func (s *Scout) Plan() Plan {
	if !s.choice.Twice() || !s.choice.always && s.requests <= mostRequests && s.slices <= mostSlices {
		return s.choice.Plan()
	}
	var list []Window
	for i := range s.missed {
		what := "failed after"
		if i < len(s.limits) {
			what = fmt.Sprintf("missed %s with", s.limits[i].String())
		}
		list = s.missed[i].pick(list, s.choice.worst, what)
	}
	if list == nil {
		list = s.slowest[0].pick(list, s.choice.worst, "got its first token after")
		list = s.slowest[1].pick(list, s.choice.worst, "had a gap of")
	}
	return Plan{Windows: merged(list)}
}

// A candidate is a request around which the run may be drawn.
type candidate struct {
	id       int64
	by       sim.Duration // how long what counts lasted
	from, to sim.Time
}

// kept is the number of candidates of a ranking, from which those are picked that
// aren't drawn already.
const kept = 4 * mostWorst

// A ranking is the candidates that last longest, the first among those alike.
type ranking []candidate

// offer takes c in if it is among them.
func (r *ranking) offer(c candidate) {
	list := *r
	compare := func(a, b candidate) int { return cmp.Or(cmp.Compare(b.by, a.by), cmp.Compare(a.id, b.id)) }
	if len(list) == kept {
		if compare(c, list[kept-1]) >= 0 {
			return
		}
		list = list[:kept-1]
	}
	i, _ := slices.BinarySearchFunc(list, c, compare)
	*r = slices.Insert(list, i, c)
}

// pick appends the windows of the first n candidates that none of list shows. The
// windows that show one of the n worst say so.
func (r ranking) pick(list []Window, n int, what string) []Window {
	left := n
	for rank, c := range r {
		w := c.window()
		w.Why = fmt.Sprintf("request %d %s %.1f ms", c.id, what, c.by.Milliseconds())
		i := slices.IndexFunc(list, func(o Window) bool { return o.From <= w.From.Add(pad) && c.to <= o.To })
		switch {
		case i < 0 && left > 0:
			list, left = append(list, w), left-1
		case i >= 0 && rank < n:
			list[i].Why += "; " + w.Why
		}
	}
	return list
}

// window returns the part of the run that shows c.
func (c *candidate) window() Window {
	from := max(c.from, c.to.Add(-longestWindow))
	return Window{From: from.Add(-pad), To: c.to.Add(pad)}
}
