package analysis

import (
	"math"

	"servesim/sim"
	"servesim/sim/observe"
)

// Attainment is how many requests met the limits of a Goodput.
type Attainment struct {
	Limits Goodput
	// Requests is the number of all requests, those that failed included; Good
	// the number of those that completed and met every limit.
	Requests, Good int64
	// PromptTokens and OutputTokens are those of good requests.
	PromptTokens, OutputTokens int64
	// Each is the attainment of each limit, in the order of Limits.
	Each []LimitAttainment
	// Binding is the index in Limits of the limit that the most requests missed,
	// the first of them if several did. It is -1 if none was missed.
	Binding int
	// PerSecond is Good over the span of the run, in requests/s: vLLM's
	// request_goodput. OutputPerSecond and TokensPerSecond are the output tokens, and
	// the prompt and output tokens, of good requests over it, in tokens/s. They are
	// NaN if the span is 0.
	PerSecond, OutputPerSecond, TokensPerSecond float64
	// Interval is the 95 % interval of Share.
	Interval ShareInterval
}

// LimitAttainment is how many requests met one limit.
type LimitAttainment struct {
	// Requests is the number of requests in the limit's scope, those that failed included.
	Requests int64
	// Met is the number of those that completed and met the limit.
	Met int64
	// MissedOnly is the number of requests that completed and missed this limit
	// and no other.
	MissedOnly int64
}

// Share returns Good as a share of all requests, from 0 to 1. ok is false if
// there were no requests.
func (a *Attainment) Share() (share float64, ok bool) {
	return ratio(a.Good, a.Requests)
}

// Share returns Met as a share of Requests. ok is false if the scope is empty.
func (a *LimitAttainment) Share() (share float64, ok bool) {
	return ratio(a.Met, a.Requests)
}

// ratio returns part/all; ok is false, and the ratio NaN, if all is 0.
func ratio(part, all int64) (r float64, ok bool) {
	if all == 0 {
		return math.NaN(), false
	}
	return float64(part) / float64(all), true
}

// attained counts what Attainment reports.
type attained struct {
	limits                       Goodput
	good, goodPrompt, goodOutput int64
	each                         []LimitAttainment
	tally                        Tally
}

// newAttained returns the counts of limits, all 0.
func newAttained(limits Goodput) attained {
	return attained{limits: limits, each: make([]LimitAttainment, len(limits))}
}

// failed counts r, a request that did not complete.
func (a *attained) failed(r *observe.Request) {
	a.tally.Add(false)
	for i := range a.limits {
		if a.limits[i].Scope.Holds(r) {
			a.each[i].Requests++
		}
	}
}

// completed counts r, a completed request, and tells whether it is good.
func (a *attained) completed(r *observe.Request) (good bool) {
	missed, last := 0, 0
	for i := range a.limits {
		l := &a.limits[i]
		if !l.Scope.Holds(r) {
			continue
		}
		a.each[i].Requests++
		if l.met(r) {
			a.each[i].Met++
			continue
		}
		missed, last = missed+1, i
	}
	a.tally.Add(missed == 0)
	switch missed {
	case 0:
		a.good++
		a.goodPrompt += int64(r.Prompt)
		a.goodOutput += int64(r.Output)
	case 1:
		a.each[last].MissedOnly++
	}
	return missed == 0
}

// report returns the attainment among all requests, with the interval of its share.
func (a *attained) report(requests int64, span sim.Duration, i ShareInterval) Attainment {
	t := Attainment{
		Limits: a.limits, Requests: requests, Good: a.good, Binding: -1, Each: a.each,
		PromptTokens: a.goodPrompt, OutputTokens: a.goodOutput,
		PerSecond: perSecond(a.good, span), OutputPerSecond: perSecond(a.goodOutput, span),
		TokensPerSecond: perSecond(a.goodPrompt+a.goodOutput, span), Interval: i,
	}
	most := int64(0)
	for i, e := range t.Each {
		if missed := e.Requests - e.Met; missed > most {
			t.Binding, most = i, missed
		}
	}
	return t
}

// effective returns how many independent requests say as much about the latencies
// that are limited, of which at gives those in turn: the least of the effective
// numbers of their P90. 0 if one is not known.
func (g Goodput) effective(at func(Objective, asked) Distribution) float64 {
	least := math.Inf(1)
	for i := range g {
		d := at(g[i].Objective, asked{Linear, bodyLevels()[1:], 0})
		if !d.OK {
			return 0
		}
		least = min(least, d.Quantiles[0].Interval.Effective)
	}
	return least
}

// Good tells whether r completed and meets every limit that it is in the scope of.
func (g Goodput) Good(r *observe.Request) bool {
	for i := range g {
		if g[i].Scope.Holds(r) && !g[i].met(r) {
			return false
		}
	}
	return r.Outcome == observe.Completed
}
