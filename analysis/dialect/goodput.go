package dialect

import (
	"cmp"
	"fmt"
	"slices"
	"strings"

	"servesim/analysis"
	"servesim/analysis/transcript"
	"servesim/sim/observe"
)

// Rule is how a tool tells whether limits were met.
type Rule uint8

// The rules.
const (
	// NoGoodput is that of a tool without goodput.
	NoGoodput Rule = iota
	// Joint is that a call is good if it meets every limit at once.
	Joint
	// Zipped is Joint on lists of each metric put side by side as they are: the
	// i-th value of one beside the i-th of another, whichever calls they are of,
	// as far as the shortest goes.
	Zipped
	// Marginal is that the 99th percentile of each metric keeps below its limit,
	// which is not enough if it equals it.
	Marginal
)

// Prints is the set of numbers that a tool prints of goodput.
type Prints uint8

// The numbers.
const (
	// PrintsRate is good calls per second, PrintsShare their share, PrintsTokens
	// their tokens per second.
	PrintsRate Prints = 1 << iota
	PrintsShare
	PrintsTokens
)

// GoodKey is a limit as a tool takes it.
type GoodKey struct {
	Objective analysis.Objective
	// Form spells it as the tool takes it, with %s for the number in Unit.
	Form string
	Unit Unit
	Measure
}

// Goodput is how a tool computes goodput.
type Goodput struct {
	Rule Rule
	Keys []GoodKey
	// Form spells the tool's option, with %s for the keys, which Sep separates.
	Form, Sep string
	// Scopes tells that a limit may be strict, and on some calls only.
	Scopes bool
	// AbsentGood tells that a completed call without a value meets its limit.
	AbsentGood bool
	// Of is the calls that a share is of, Window what a rate is divided by.
	Of     Whose
	Window Window
	// Prints says which numbers the tool prints.
	Prints Prints
	// Note is what to know of the figure, in one line; it may be empty.
	Note string
}

// limits are the keys of a tool for given limits, and what it has no key for.
type limits struct {
	keys    []GoodKey
	given   []analysis.Limit
	ignored []analysis.Limit
}

// limitsOf returns the limits of o that g can take.
func (g *Goodput) limitsOf(o *Options) limits {
	given := o.Goodput
	if g.Rule == Marginal {
		given = marginal(o)
	}
	var l limits
	for _, limit := range given {
		i := slices.IndexFunc(g.Keys, func(k GoodKey) bool { return k.Objective == limit.Objective })
		if i < 0 || !limit.Scope.All() && !g.Scopes {
			l.ignored = append(l.ignored, limit)
			continue
		}
		l.keys, l.given = append(l.keys, g.Keys[i]), append(l.given, limit)
	}
	return l
}

// marginal returns the limits of o on the 99th percentile of all calls, and those
// on each call of what has no such limit.
func marginal(o *Options) []analysis.Limit {
	var list []analysis.Limit
	on := func(objective analysis.Objective) bool {
		return slices.ContainsFunc(list, func(l analysis.Limit) bool { return l.Objective == objective })
	}
	for _, r := range o.Run {
		if r.At == p99() && r.Scope.All() {
			list = append(list, r.Limit)
		}
	}
	for _, l := range o.Goodput {
		if !on(l.Objective) {
			list = append(list, l)
		}
	}
	return list
}

// p99 is the 99th percentile.
func p99() analysis.Percentile {
	p, _ := analysis.ParsePercentile("99")
	return p
}

// option spells the limits as the tool takes them.
func (g *Goodput) option(l limits) string {
	if g.Scopes {
		return fmt.Sprintf(g.Form, analysis.Goodput(l.given))
	}
	var parts []string
	for i, k := range l.keys {
		parts = append(parts, fmt.Sprintf(k.Form, plain(k.Unit.Of(l.given[i].Max))))
	}
	return fmt.Sprintf(g.Form, strings.Join(parts, g.Sep))
}

// maxZipped is the number of calls up to which the lists of Zipped are kept.
const maxZipped = 1 << 20

// grader counts the calls that a tool calls good.
type grader struct {
	g    *Goodput
	l    limits
	good int64
	// tokens are the prompt and output tokens of good calls.
	tokens int64
	// unknown is the number of completed calls that can't be judged.
	unknown int64
	zip     []zipped
	zipFull bool
}

// zipped is what Zipped keeps of a call: a bit for each limit, whether there is a
// value and whether it meets it. A tool that zips has few keys.
type zipped struct {
	id       int64
	has, met uint16
}

// take takes in a call of a source that knows facts f.
func (g *grader) take(v *view, f transcript.Facts) {
	if len(g.l.keys) == 0 || g.g.Rule == Marginal || !v.answered(g.g.Of, f) {
		return
	}
	z, good := zipped{id: v.call.ID}, true
	for i := range g.l.keys {
		met, st := g.judge(v, i)
		switch {
		case st == unknown:
			g.unknown++
			return
		case st == counted:
			z.has |= 1 << i
		default:
			met = g.g.AbsentGood
		}
		if met {
			z.met |= 1 << i
		}
		good = good && met
	}
	if g.g.Rule == Zipped {
		g.keep(z)
		return
	}
	if !good {
		return
	}
	g.good++
	g.tokens += int64(max(v.call.Prompt, 0)) + int64(max(v.call.Output, 0))
}

// judge tells whether a completed call meets limit i, if it has what is limited.
func (g *grader) judge(v *view, i int) (met bool, s state) {
	k, l := &g.l.keys[i], &g.l.given[i]
	if g.g.Scopes && !l.Scope.Holds(&observe.Request{Class: v.call.Class, Output: v.call.Output}) {
		return true, counted
	}
	strict := l.Strict && g.g.Scopes
	if k.Kind == Worst {
		worst, any := v.worst(k.Among)
		if !any {
			return false, short
		}
		return worst < l.Max || worst == l.Max && !strict, counted
	}
	q, s := k.quotient(v)
	return s == counted && k.within(q, l.Max, strict), s
}

// keep keeps what Zipped needs of a call.
func (g *grader) keep(z zipped) {
	if g.zipFull = g.zipFull || len(g.zip) == maxZipped; g.zipFull {
		g.zip = nil
		return
	}
	g.zip = append(g.zip, z)
}

// zipUp puts the lists side by side, each in the order of the calls' numbers.
func (g *grader) zipUp() (good int64) {
	slices.SortFunc(g.zip, func(a, b zipped) int { return cmp.Compare(a.id, b.id) })
	lists := make([][]bool, len(g.l.keys))
	shortest := len(g.zip)
	for i := range lists {
		for _, z := range g.zip {
			if z.has>>i&1 == 1 {
				lists[i] = append(lists[i], z.met>>i&1 == 1)
			}
		}
		shortest = min(shortest, len(lists[i]))
	}
	for j := range shortest {
		all := true
		for _, list := range lists {
			all = all && list[j]
		}
		if all {
			good++
		}
	}
	return good
}
