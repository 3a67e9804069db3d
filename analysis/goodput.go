package analysis

import (
	"math/bits"
	"slices"

	"servesim/sim"
	"servesim/sim/observe"
)

// Objective is what a limit is put on.
type Objective uint8

// The objectives.
const (
	// TTFT is the time to the first token.
	TTFT Objective = iota
	// Queue is the part of TTFT from joining the engine's queue to the first step.
	Queue
	// TPOT is the mean time between the output tokens of a request. A request
	// with one output token has none and meets every limit on it, as in vLLM.
	TPOT
	// MaxGap is the longest time between two output tokens of a request. A request
	// with one output token has none and meets every limit on it.
	MaxGap
	// E2EL is the time to the whole answer, e2e; the name is vLLM's.
	E2EL
	// ITL is every gap between two tokens, those of all requests pooled. It is of
	// the run and of no request, so that only its percentiles can be limited.
	ITL
	objectives
)

// Objectives lists every objective.
func Objectives() []Objective { return []Objective{TTFT, Queue, TPOT, MaxGap, E2EL, ITL} }

// objectiveNames returns what limits may call each objective, first what String does.
func objectiveNames() [objectives][]string {
	return [...][]string{{"ttft"}, {"queue"}, {"tpot"}, {"max_gap", "maxgap", "max_itl"}, {"e2e", "e2el"}, {"itl"}}
}

// String returns the key of o, that of the Metric of the same name.
func (o Objective) String() string {
	if names := objectiveNames(); o < objectives {
		return names[o][0]
	}
	return "unknown"
}

// Scope says which requests a limit is on. The zero value is all of them.
type Scope struct {
	// Classes are labels of the workload, "" being none; nil is every class.
	Classes []string
	// Except turns Classes round: every class but those.
	Except bool
	// From and Below bound the output tokens of a request, From included and Below
	// not; 0 is no bound. A request that failed counts with those it asked for.
	From, Below int32
}

// Holds tells whether r is in s, by its class, outcome and output tokens.
func (s *Scope) Holds(r *observe.Request) bool {
	if s.From > 0 || s.Below > 0 {
		tokens := r.Output
		if r.Outcome != observe.Completed {
			tokens = r.Wanted
		}
		if tokens < s.From || s.Below > 0 && tokens >= s.Below {
			return false
		}
	}
	return s.Classes == nil || slices.Contains(s.Classes, r.Class) != s.Except
}

// All tells whether s is every request.
func (s *Scope) All() bool { return s.Classes == nil && s.From == 0 && s.Below == 0 }

// Limit is the longest time that still meets an objective.
type Limit struct {
	Objective Objective
	Max       sim.Duration
	// Strict tells that Max itself is too long already.
	Strict bool
	// Scope is the requests that the limit is on.
	Scope Scope
}

// Goodput is the limits that a request must meet, all that it is in the scope of
// at once, to be good. None of them is on ITL.
type Goodput []Limit

// RunLimit is a limit on a percentile over all requests of its scope, for ITL
// over all gaps. Requests that failed count as longer than any limit.
type RunLimit struct {
	At Percentile
	Limit
}

// SLO is what users must get of a run.
type SLO struct {
	// Goodput says which requests are good, each by itself.
	Goodput Goodput
	// Run are limits on the run as a whole.
	Run []RunLimit
	// MinGoodput is the least percentage of good requests, nil if there is none.
	// Without limits on requests those that completed are good.
	MinGoodput *Percentile
}

// Empty tells whether s asks for nothing.
func (s *SLO) Empty() bool { return len(s.Goodput) == 0 && len(s.Run) == 0 && s.MinGoodput == nil }

// within tells whether a time keeps to l.
func (l *Limit) within(d sim.Duration) bool { return d < l.Max || d == l.Max && !l.Strict }

// value returns what l limits in r, a completed request, rounded to the nearest
// picosecond. ok is false if r has none.
func (l *Limit) value(r *observe.Request) (d sim.Duration, ok bool) {
	switch l.Objective {
	case TTFT:
		return r.First.Sub(r.Arrival), true
	case Queue:
		return r.Scheduled.Sub(r.Sent), true
	case TPOT:
		return perToken(r)
	case MaxGap:
		return r.MaxGap, r.Output > 1
	}
	return endToEnd(r), l.Objective == E2EL
}

// Missed tells whether r is a completed request in the scope of l that doesn't keep
// within it, and what l limits in it, rounded to the nearest picosecond.
func (l *Limit) Missed(r *observe.Request) (d sim.Duration, missed bool) {
	if r.Outcome != observe.Completed || !l.Scope.Holds(r) || l.met(r) {
		return 0, false
	}
	d, _ = l.value(r)
	return d, true
}

// met tells whether r, a completed request in the scope of l, keeps within l.
func (l *Limit) met(r *observe.Request) bool {
	if l.Objective != TPOT {
		d, ok := l.value(r)
		return !ok || l.within(d)
	}
	if r.Output < 2 {
		return true
	}
	// (Last-First)/(Output-1) against Max, without the rounding of a division.
	h, most := bits.Mul64(uint64(l.Max), uint64(r.Output-1))
	span := uint64(r.Last.Sub(r.First))
	return h != 0 || span < most || span == most && !l.Strict
}
