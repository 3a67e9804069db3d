package analysis

import (
	"errors"
	"fmt"
	"math"
	"math/bits"
	"strings"

	"servesim/sim"
	"servesim/sim/observe"
)

// Objective is what a limit of goodput is put on.
type Objective uint8

// The objectives. The first three are those of vLLM's --goodput.
const (
	// TTFT is the time to the first token.
	TTFT Objective = iota
	// TPOT is the mean time between the output tokens of a request. A request
	// with one output token has none and meets every limit, as in vLLM.
	TPOT
	// E2EL is the time to the whole answer.
	E2EL
	// MaxGap is the longest time between two output tokens of a request;
	// servesim's own, not in vLLM. A request with one output token has none and
	// meets every limit.
	MaxGap
	objectives
)

// String returns the key of o as ParseGoodput reads it.
func (o Objective) String() string {
	return [...]string{"ttft", "tpot", "e2el", "maxgap", "unknown"}[min(o, objectives)]
}

// Objectives lists every objective.
func Objectives() []Objective { return []Objective{TTFT, TPOT, E2EL, MaxGap} }

// Limit is the longest time that still meets an objective.
type Limit struct {
	Objective Objective
	Max       sim.Duration
}

// Goodput is the limits that a request must meet, all at once, to be good.
type Goodput []Limit

// ParseGoodput reads limits as vLLM's --goodput option spells them: one or more
// KEY:MILLISECONDS separated by spaces, in one string or in several, such as
// "ttft:500 tpot:15 e2el:2000". A limit is met by a value that equals it. All
// faults are reported at once.
func ParseGoodput(specs ...string) (Goodput, error) {
	var g Goodput
	var faults []error
	var seen [objectives]bool
	for _, pair := range strings.Fields(strings.Join(specs, " ")) {
		l, err := parseLimit(pair)
		switch {
		case err != nil:
			faults = append(faults, err)
		case seen[l.Objective]:
			faults = append(faults, fmt.Errorf("goodput %q: %s is given twice", pair, l.Objective))
		default:
			seen[l.Objective] = true
			g = append(g, l)
		}
	}
	if len(g)+len(faults) == 0 {
		faults = append(faults, errors.New("goodput: no limit is given; write KEY:MILLISECONDS, such as ttft:500 tpot:15 e2el:2000"))
	}
	if len(faults) > 0 {
		return nil, errors.Join(faults...)
	}
	return g, nil
}

// parseLimit reads one KEY:MILLISECONDS.
func parseLimit(pair string) (Limit, error) {
	key, value, ok := strings.Cut(pair, ":")
	if !ok {
		return Limit{}, fmt.Errorf("goodput %q: write KEY:MILLISECONDS, such as ttft:500", pair)
	}
	meant := ""
	for _, o := range Objectives() {
		if o.String() != key {
			if strings.EqualFold(o.String(), key) {
				meant = fmt.Sprintf("; did you mean %q?", o)
			}
			continue
		}
		d, err := parseMilliseconds(value)
		if err != nil {
			return Limit{}, fmt.Errorf("goodput %q: %w", pair, err)
		}
		return Limit{o, d}, nil
	}
	return Limit{}, fmt.Errorf("goodput %q: unknown key %q; the keys are ttft, tpot, e2el and maxgap%s", pair, key, meant)
}

// parseMilliseconds reads a decimal number of milliseconds, at least 0, exactly.
func parseMilliseconds(s string) (sim.Duration, error) {
	if s == "" || strings.Trim(s, "0123456789.") != "" {
		return 0, fmt.Errorf("%q is not a number of milliseconds that is at least 0; write it like 500 or 12.5, limits apart by spaces", s)
	}
	return sim.ParseDuration(s + "ms")
}

// String writes g as ParseGoodput reads it.
func (g Goodput) String() string {
	var b strings.Builder
	for i, l := range g {
		if i > 0 {
			b.WriteByte(' ')
		}
		ms := l.Max / sim.Millisecond
		fmt.Fprintf(&b, "%s:%d", l.Objective, int64(ms))
		if rest := l.Max % sim.Millisecond; rest != 0 {
			b.WriteString("." + strings.TrimRight(fmt.Sprintf("%09d", int64(rest)), "0"))
		}
	}
	return b.String()
}

// met tells whether r, a completed request, keeps within l.
func (l Limit) met(r *observe.Request) bool {
	switch l.Objective {
	case TTFT:
		return r.First.Sub(r.Arrival) <= l.Max
	case TPOT:
		// (Last-First)/(Output-1) ≤ Max, without the rounding of a division.
		h, most := bits.Mul64(uint64(l.Max), uint64(max(r.Output-1, 0)))
		return r.Output < 2 || h != 0 || uint64(r.Last.Sub(r.First)) <= most
	case E2EL:
		return endToEnd(r) <= l.Max
	}
	return r.Output < 2 || r.MaxGap <= l.Max
}

// Attainment is how many requests met the limits of a Goodput.
type Attainment struct {
	Limits Goodput
	// Requests is the number of all requests, those that failed included; Good
	// the number of those that completed and met every limit.
	Requests, Good int64
	// Each is the attainment of each limit, in the order of Limits.
	Each []LimitAttainment
	// Binding is the index in Limits of the limit that the fewest requests met,
	// the first of them if several did. It is -1 if every request met every limit
	// or there were none.
	Binding int
	// PerSecond is Good over the span of the run, in requests/s: vLLM's
	// request_goodput. It is NaN if the span is 0.
	PerSecond float64
}

// LimitAttainment is how many requests met one limit.
type LimitAttainment struct {
	// Met is the number of requests that completed and met the limit.
	Met int64
	// MissedOnly is the number of requests that completed and missed this limit
	// and no other.
	MissedOnly int64
}

// Share returns Good as a share of all requests, from 0 to 1. ok is false if
// there were no requests.
func (a *Attainment) Share() (share float64, ok bool) {
	if a.Requests == 0 {
		return math.NaN(), false
	}
	return float64(a.Good) / float64(a.Requests), true
}

// attained counts what Attainment reports.
type attained struct {
	limits Goodput
	good   int64
	each   [objectives]LimitAttainment
}

// completed counts r, a completed request.
func (a *attained) completed(r *observe.Request) {
	missed, last := 0, 0
	for i, l := range a.limits {
		if l.met(r) {
			a.each[i].Met++
			continue
		}
		missed, last = missed+1, i
	}
	switch missed {
	case 0:
		a.good++
	case 1:
		a.each[last].MissedOnly++
	}
}

// report returns the attainment among all requests.
func (a *attained) report(requests int64, span sim.Duration) Attainment {
	t := Attainment{
		Limits: a.limits, Requests: requests, Good: a.good, Binding: -1,
		Each: a.each[:len(a.limits)], PerSecond: perSecond(a.good, span),
	}
	fewest := requests
	for i, e := range t.Each {
		if e.Met < fewest {
			t.Binding, fewest = i, e.Met
		}
	}
	return t
}
