package dialect

import (
	"fmt"
	"slices"
	"strings"

	"servesim/analysis"
	"servesim/analysis/transcript"
	"servesim/sim"
	"servesim/sim/observe"
)

// Reason is something about which dialects don't agree on this run.
type Reason struct {
	// About is the common name of what differs, or a fixed word: "percentiles",
	// "deviation", "goodput".
	About string
	// Facts are what it is about this run that the dialects take differently.
	Facts []string
	// Sides are what comes of the rules that there are.
	Sides []Side
}

// Side is a value, who gets it, and by which rules.
type Side struct {
	// Value is in Unit.
	Value    float64
	Unit     Unit
	Dialects []string
	Rules    []string
}

// leads are sums over completed calls of the times between events that some
// dialects tell apart and others don't.
type leads struct {
	n                    int64
	role, lag, way, tail moments
	wait, whole          moments
	// hidden are tokens of text that isn't visible, singles answers of one token,
	// beside messages without text.
	hidden, singles, beside int64
}

// take takes in a call.
func (l *leads) take(v *view) {
	if v.call.Outcome != observe.Completed {
		return
	}
	l.n++
	l.lag.add(uint64(v.at[Sent].Sub(v.at[Scheduled])), 1)
	l.way.add(uint64(v.call.Response), 1)
	if v.texts == 0 {
		return
	}
	l.role.add(uint64(v.at[FirstText].Sub(v.at[FirstChoice])), 1)
	if end := v.at[Closed]; end != transcript.Never {
		l.tail.add(uint64(end.Sub(v.at[LastText])), 1)
	}
	l.wait.add(uint64(v.at[FirstText].Sub(v.at[Sent])), 1)
	l.whole.add(uint64(v.at[LastText].Sub(v.at[Sent])), 1)
	l.beside += v.messages - v.texts
	l.hidden += max(v.hidden, 0)
	if v.call.Output == 1 {
		l.singles++
	}
}

// mean returns the mean of m in milliseconds, and whether it isn't 0.
func (m *moments) mean() (ms float64, some bool) {
	if t := m.total(); t > 0 {
		return t / float64(m.n) / float64(sim.Millisecond), true
	}
	return 0, false
}

// Reasons returns what the dialects don't agree about on the calls taken so far,
// and why. Where they agree there is none.
func (s *Sink) Reasons() []Reason {
	results := s.Results()
	var list []Reason
	for _, name := range Names() {
		list = append(list, Reason{string(name), s.facts(name), valueSides(results, name)})
	}
	for _, name := range RateNames() {
		list = append(list, Reason{string(name), s.rateFacts(name, results), rateSides(results, name)})
	}
	list = append(list, s.estimators(results), deviations(results), s.goodputs(results))
	return slices.DeleteFunc(list, func(r Reason) bool { return len(r.Sides) < 2 })
}

// shown is x as exact as tables are.
func shown(x float64) string { return fmt.Sprintf("%.4g", x) }

// join adds a dialect that gets value x by a rule.
func join(sides []Side, x float64, unit Unit, who, rule string) []Side {
	i := slices.IndexFunc(sides, func(s Side) bool { return shown(s.Value) == shown(x) })
	if i < 0 {
		return append(sides, Side{x, unit, []string{who}, []string{rule}})
	}
	sides[i].Dialects = append(sides[i].Dialects, who)
	if !slices.Contains(sides[i].Rules, rule) {
		sides[i].Rules = append(sides[i].Rules, rule)
	}
	return sides
}

// valueSides are the means of what dialects call name.
func valueSides(results []Result, name Name) []Side {
	var sides []Side
	for i := range results {
		v, ok := results[i].Value(name)
		if !ok || v.Need != "" || !v.OK {
			continue
		}
		unit := Milliseconds
		if v.Metric.Kind == Speed {
			unit = PerSecond
		}
		sides = join(sides, unit.Of(v.Mean), unit, results[i].Dialect.Name, v.Metric.Definition())
	}
	return sides
}

// rateSides are the rates that dialects call name, all a second.
func rateSides(results []Result, name Name) []Side {
	var sides []Side
	for i := range results {
		for k := range results[i].Rates {
			v := &results[i].Rates[k]
			if v.Rate.Name != name || v.Need != "" || v.Value != v.Value {
				continue
			}
			x := v.Value
			if v.Rate.Unit == PerMinute {
				x /= 60
			}
			sides = join(sides, x, PerSecond, results[i].Dialect.Name, v.Rate.Definition())
		}
	}
	return sides
}

// facts are those about a measure of calls.
func (s *Sink) facts(name Name) []string {
	l, t := &s.leads, &s.totals
	var list []string
	say := func(ok bool, format string, args ...any) {
		if ok {
			list = append(list, fmt.Sprintf(format, args...))
		}
	}
	lag, late := l.lag.mean()
	say(late, "calls are sent %s ms after they are scheduled on average", shown(lag))
	if name != E2E && name != "" {
		role, some := l.role.mean()
		say(some, "a chunk without text comes %s ms ahead of the first text on average", shown(role))
	}
	if name == TTFT {
		way, some := l.way.mean()
		say(some, "the answer is on its way for %s ms on average", shown(way))
	}
	if name == ITL || name == TPOT || name == UserRate {
		wait, _ := l.wait.mean()
		whole, some := l.whole.mean()
		say(some, "the wait for the first text is %s %% of the time to the last", shown(100*wait/whole))
	}
	if name == ITL && t.chunks > 0 {
		say(t.chunked > t.chunks, "%s tokens came in %s chunks, %s in each", analysis.Grouped(t.chunked), analysis.Grouped(t.chunks), shown(float64(t.chunked)/float64(t.chunks)))
		say(l.beside > 0, "%s came beside them", analysis.Counted(l.beside, "message")+" without text")
	}
	if name == E2E || name == TPOT {
		tail, some := l.tail.mean()
		say(some, "streams end %s ms after the last text on average", shown(tail))
	}
	say(l.hidden > 0, "%s of text weren't of the answer proper", analysis.Counted(l.hidden, "token"))
	say(name != E2E && l.singles > 0, "%s of one token among %s that completed", analysis.Counted(l.singles, "answer"), analysis.Grouped(l.n))
	return list
}

// rateFacts are those about a rate of the run.
func (s *Sink) rateFacts(name Name, results []Result) []string {
	list := s.failed()
	var spans []string
	var words [][]string
	for i := range results {
		for k := range results[i].Rates {
			v := &results[i].Rates[k]
			if v.Rate.Name != name || v.Need != "" {
				continue
			}
			span := shown(v.Span.Seconds())
			at := slices.Index(spans, span)
			if at < 0 {
				at = len(spans)
				spans, words = append(spans, span), append(words, nil)
			}
			if w := v.Rate.Window.String(); !slices.Contains(words[at], w) {
				words[at] = append(words[at], w)
			}
		}
	}
	if len(spans) < 2 {
		return list
	}
	for i, s := range spans {
		list = append(list, fmt.Sprintf("%s s from %s", s, strings.Join(words[i], ", or from ")))
	}
	return list
}

// failed says how many calls failed, if any did.
func (s *Sink) failed() []string {
	n := s.totals.calls - s.totals.completed
	if n == 0 {
		return nil
	}
	return []string{fmt.Sprintf("%s of %s failed", analysis.Grouped(n), analysis.Counted(s.totals.calls, "call"))}
}

// estimators are the P99 of one and the same TTFT by the estimators of all dialects.
func (s *Sink) estimators(results []Result) Reason {
	r := Reason{About: "percentiles"}
	var x *series
	for i := range results {
		d := results[i].Dialect
		v, ok := results[i].Value(TTFT)
		if !ok || v.Need != "" || !v.OK {
			continue
		}
		if x == nil {
			x = s.measure(v.Metric.Measure)
			r.Facts = []string{fmt.Sprintf("P99 of the same %s, %s's TTFT", analysis.Counted(v.Calls, "value"), d.Name)}
		}
		q := x.distribution(d.Estimator, []analysis.Percentile{p99()}).Quantiles[0].Value
		r.Sides = join(r.Sides, q.Milliseconds(), Milliseconds, d.Name, d.Estimator.String())
	}
	return r
}

// deviations are the standard deviations of TTFT.
func deviations(results []Result) Reason {
	r := Reason{About: "deviation"}
	for i := range results {
		d := results[i].Dialect
		v, ok := results[i].Value(TTFT)
		if !ok || !v.OK || !v.HasDeviation {
			continue
		}
		if len(r.Facts) == 0 {
			r.Facts = []string{"standard deviation of TTFT"}
		}
		rule := "divided by n"
		if d.DDoF > 0 {
			rule = fmt.Sprintf("divided by n - %d", d.DDoF)
		}
		r.Sides = join(r.Sides, v.Deviation.Milliseconds(), Milliseconds, d.Name, rule)
	}
	return r
}

// goodputs are the shares of good calls.
func (s *Sink) goodputs(results []Result) Reason {
	r := Reason{About: "goodput"}
	for i := range results {
		g := results[i].Goodput
		if g == nil || g.Need != "" || len(g.Verdicts) > 0 {
			continue
		}
		rules := []string{"of completed calls"}
		d := &results[i].Dialect.Goodput
		if d.Of == Every {
			rules[0] = "of all calls"
		}
		switch {
		case d.Rule == Zipped:
			rules = append(rules, "lists side by side")
		case slices.ContainsFunc(d.Keys, func(k GoodKey) bool { return k.Short == AsZero }):
			rules = append(rules, "short answers count 0")
		case d.AbsentGood:
			rules = append(rules, "what a call doesn't have it meets")
		default:
			rules = append(rules, "what a call doesn't have it misses")
		}
		for i := range g.Ignored {
			rules = append(rules, "without "+g.Ignored[i].String())
		}
		if share, ok := g.Share(); ok {
			r.Sides = join(r.Sides, 100*share, "%", results[i].Dialect.Name, strings.Join(rules, ", "))
		}
	}
	r.Facts = append(s.failed(), s.facts("")...)
	return r
}
