package dialect

import (
	"math"
	"slices"

	"servesim/analysis"
	"servesim/sim"
)

// Result is what one tool would have printed.
type Result struct {
	Dialect *Dialect
	// Percentiles are those of every Value, in ascending order.
	Percentiles []analysis.Percentile
	// Calls is the number of all calls, Completed that of those that completed.
	Calls, Completed int64
	// Values are those of the dialect's metrics, Rates those of its rates.
	Values []Value
	Rates  []RateValue
	// Goodput is nil if there are no limits or the tool has no goodput.
	Goodput *Grade
	// Invalid says why the tool would call the run invalid, if it would.
	Invalid string
}

// Value is a metric of a run.
type Value struct {
	Metric *Metric
	// Need says what the source would have to know; the rest is then empty.
	Need string
	// Distribution is of the values; OK is false if there are none. Spans are
	// picoseconds; a Speed is in billionths per second. Count is the sum of weights.
	analysis.Distribution
	// Calls is the number of calls with a value, Never that of calls that count
	// as infinite, Unknown that of calls left out because the source doesn't say
	// what is needed of them.
	Calls, Never, Unknown int64
	// Deviation is the standard deviation by the dialect's degrees of freedom,
	// to the nearest unit; HasDeviation is false if there is none.
	Deviation    sim.Duration
	HasDeviation bool
}

// RateValue is a rate of a run.
type RateValue struct {
	Rate *Rate
	// Need says what the source would have to know; the rest is then empty.
	Need string
	// Value is in the rate's Unit, NaN if the window is empty.
	Value float64
	// Amount is what was counted, in calls, tokens or seconds, over Span. Both are
	// 0 for a rate per user.
	Amount float64
	Span   sim.Duration
	// Unknown is the number of calls whose tokens aren't known.
	Unknown int64
}

// Grade is the goodput of a run by a tool's rule.
type Grade struct {
	// Option spells the limits as the tool takes them; Ignored are those
	// that it can't take.
	Option  string
	Ignored []analysis.Limit
	// Need says why there is no figure; the rest is then empty.
	Need string
	// Good is the number of good calls, Of that of those a share is of. For
	// Marginal, Of is 0.
	Good, Of int64
	// PerSecond is the rate of good calls, TokensPerSecond that of their prompt
	// and output tokens; NaN if the window is empty.
	PerSecond, TokensPerSecond float64
	Span                       sim.Duration
	// Verdicts are those of Marginal, one for each limit.
	Verdicts []Verdict
	// Unknown is the number of calls that can't be judged.
	Unknown int64
}

// Verdict is whether a percentile keeps below its limit.
type Verdict struct {
	Objective analysis.Objective
	Limit     sim.Duration
	// P99 is the percentile; OK is false if there is none.
	P99 sim.Duration
	OK  bool
	// Met tells whether it is below the limit.
	Met bool
}

// Share returns Good of Of, from 0 to 1. ok is false if there is nothing to share.
func (g *Grade) Share() (share float64, ok bool) {
	if g.Of == 0 {
		return math.NaN(), false
	}
	return float64(g.Good) / float64(g.Of), true
}

// Value returns the first value of r that the tool calls name.
func (r *Result) Value(name Name) (v *Value, ok bool) {
	i := slices.IndexFunc(r.Values, func(v Value) bool { return v.Metric.Name == name })
	if i < 0 {
		return nil, false
	}
	return &r.Values[i], true
}

// Key returns the value of r whose metric has a key.
func (r *Result) Key(key string) (v *Value, ok bool) {
	i := slices.IndexFunc(r.Values, func(v Value) bool { return v.Metric.Key == key })
	if i < 0 {
		return nil, false
	}
	return &r.Values[i], true
}

// Rate returns the rate of r that has a key.
func (r *Result) Rate(key string) (v *RateValue, ok bool) {
	i := slices.IndexFunc(r.Rates, func(v RateValue) bool { return v.Rate.Key == key })
	if i < 0 {
		return nil, false
	}
	return &r.Rates[i], true
}

// Results returns what the calls taken so far say in each dialect, in the order
// given to New.
func (s *Sink) Results() []Result {
	var list []Result
	for i, d := range s.ds {
		r := Result{
			Dialect: d, Percentiles: s.o.Percentiles, Calls: s.totals.calls, Completed: s.totals.completed,
		}
		if len(r.Percentiles) == 0 {
			r.Percentiles, _ = analysis.ParsePercentiles(d.Percentiles) // which a test has read
		}
		for k := range d.Metrics {
			r.Values = append(r.Values, s.value(d, &d.Metrics[k], r.Percentiles))
		}
		for k := range d.Rates {
			r.Rates = append(r.Rates, s.rate(d, &d.Rates[k]))
		}
		if g := s.graders[i]; g != nil {
			r.Goodput = s.grade(d, g)
		}
		r.Invalid = s.invalid(d)
		list = append(list, r)
	}
	return list
}

// value returns the value of a metric of d.
func (s *Sink) value(d *Dialect, m *Metric, ps []analysis.Percentile) Value {
	v := Value{Metric: m, Need: m.need(s.o.Facts)}
	if v.Need != "" {
		return v
	}
	x := s.measure(m.Measure)
	e := d.Estimator
	if m.Estimator != nil {
		e = *m.Estimator
	}
	v.Distribution = x.distribution(e, ps)
	v.Calls, v.Never, v.Unknown = x.calls, x.left[endless], x.left[unknown]
	if v.Calls == 0 && v.Unknown > 0 {
		v.Need = "needs tokens or chunks that the source doesn't have of any call"
	}
	if d.DDoF >= 0 && v.Never == 0 {
		v.Deviation, v.HasDeviation = x.moments.deviation(d.DDoF)
	}
	return v
}

// rate returns the value of a rate of d.
func (s *Sink) rate(d *Dialect, r *Rate) RateValue {
	if r.Amount == PerUser {
		return s.perUser(d, r)
	}
	if r.Amount == PeakChunks || r.Amount == PeakCalls {
		return s.peak(r)
	}
	v := RateValue{Rate: r, Need: r.need(s.o.Facts)}
	if v.Need != "" {
		return v
	}
	v.Span = s.span(r.Window)
	out := s.tally(r.Count)
	switch r.Amount {
	case Requests:
		v.Amount = float64(s.totals.of(r.Whose))
	case OutputTokens:
		v.Amount, v.Unknown = float64(out.tokens), out.unknown
	case PromptTokens:
		v.Amount, v.Unknown = float64(s.totals.prompts(r.Whose)), s.totals.promptUnknown
	case AllTokens:
		v.Amount, v.Unknown = float64(s.totals.prompts(r.Whose)+out.tokens), max(out.unknown, s.totals.promptUnknown)
	case Latency:
		if i := slices.IndexFunc(d.Metrics, func(m Metric) bool { return m.Name == E2E }); i >= 0 {
			v.Amount = s.measure(d.Metrics[i].Measure).moments.total() / float64(sim.Second)
		}
	}
	if v.Unknown > 0 && v.Unknown == s.totals.completed {
		v.Need = "needs tokens that the source doesn't have of any call"
		return v
	}
	v.Value = per(v.Amount, v.Span)
	if r.Unit == PerMinute {
		v.Value *= 60
	}
	return v
}

// span returns the length of w: what the source says of the whole run, or else what
// its calls tell.
func (s *Sink) span(w Window) sim.Duration {
	if w == Wall && s.o.Facts.Wall > 0 {
		return s.o.Facts.Wall
	}
	return s.times.span(w)
}

// perUser is 1 over a percentile of d's TPOT.
func (s *Sink) perUser(d *Dialect, r *Rate) RateValue {
	v := RateValue{Rate: r, Value: math.NaN()}
	i := slices.IndexFunc(d.Metrics, func(m Metric) bool { return m.Name == TPOT })
	if i < 0 {
		return v
	}
	t := s.value(d, &d.Metrics[i], []analysis.Percentile{r.Of})
	if v.Need = t.Need; t.OK {
		v.Value = per(1, t.Quantiles[0].Value)
	}
	return v
}

// grade returns the goodput of d.
func (s *Sink) grade(d *Dialect, g *grader) *Grade {
	l := g.g.limitsOf(&s.o)
	r := &Grade{Ignored: l.ignored, Need: g.g.need(l, s.o.Facts), Unknown: g.unknown}
	switch {
	case len(l.keys) == 0:
		r.Need = "has a key for none of the limits"
		return r
	case r.Need == "" && !g.g.Window.known(s.o.Facts) && g.g.Prints == PrintsRate:
		r.Need = "needs when calls were sent, which the source doesn't have"
	case g.zipFull:
		r.Need = "needs the place of each call in lists, which are kept of " + analysis.Grouped(maxZipped) + " calls at most"
	}
	r.Option = g.g.option(l)
	if r.Need != "" {
		return r
	}
	if g.g.Rule == Marginal {
		s.verdicts(d, l, r)
		return r
	}
	r.Good, r.Of, r.Span = g.good, s.totals.of(g.g.Of), s.span(g.g.Window)
	if g.g.Rule == Zipped {
		r.Good = g.zipUp()
	}
	if g.unknown > 0 && g.unknown == s.totals.completed {
		r.Need = "needs tokens or chunks that the source doesn't have of any call"
		return r
	}
	r.PerSecond, r.TokensPerSecond = math.NaN(), math.NaN()
	if g.g.Window.known(s.o.Facts) {
		r.PerSecond, r.TokensPerSecond = per(float64(r.Good), r.Span), per(float64(g.tokens), r.Span)
	}
	return r
}

// verdicts holds the P99 of each metric against its limit.
func (s *Sink) verdicts(d *Dialect, l limits, r *Grade) {
	for i, k := range l.keys {
		x := s.measure(k.Measure).distribution(d.Estimator, []analysis.Percentile{p99()})
		v := Verdict{Objective: k.Objective, Limit: l.given[i].Max, OK: x.OK}
		if x.OK {
			v.P99 = x.Quantiles[0].Value
			v.Met = v.P99 < v.Limit
		}
		r.Verdicts = append(r.Verdicts, v)
	}
}

// invalid says why d's tool would call the run invalid, "" if it wouldn't.
func (s *Sink) invalid(d *Dialect) string {
	for i := range d.Metrics {
		m := &d.Metrics[i]
		if m.need(s.o.Facts) != "" || m.Short != Illegal {
			continue
		}
		if n := s.measure(m.Measure).left[illegal]; n > 0 {
			return analysis.Counted(n, "answer") + " of fewer than 2 tokens, which it doesn't allow"
		}
	}
	return ""
}
