package report

import "servesim/analysis/dialect"

// DialectsMember is what Dialects writes, for programs: spans are integers of
// picoseconds in keys that end with "_ps", what is not computed says why under
// "needs" and has no numbers.
func DialectsMember(results []dialect.Result, reasons []dialect.Reason) Member {
	list := []object{}
	for i := range results {
		list = append(list, dialectObject(&results[i]))
	}
	why := []object{}
	for _, r := range reasons {
		sides := []object{}
		for _, s := range r.Sides {
			sides = append(sides, object{{"value", real(s.Value)}, {"unit", s.Unit}, {"dialects", s.Dialects}, {"rules", s.Rules}})
		}
		why = append(why, object{{"about", r.About}, {"facts", append([]string{}, r.Facts...)}, {"sides", sides}})
	}
	return Member{"dialects", object{{"results", list}, {"why_they_differ", why}}}
}

// dialectObject is a result as an object.
func dialectObject(r *dialect.Result) object {
	d := r.Dialect
	metrics, rates := []object{}, []object{}
	for i := range r.Values {
		metrics = append(metrics, valueObject(&r.Values[i]))
	}
	for i := range r.Rates {
		v := &r.Rates[i]
		o := object{{"key", v.Rate.Key}, {"label", v.Rate.Label}, {"unit", v.Rate.Unit}, {"definition", v.Rate.Definition()}}
		if v.Need != "" {
			rates = append(rates, append(o, Member{"needs", v.Need}))
			continue
		}
		rates = append(rates, append(o, object{{"value", real(v.Value)}, {"amount", real(v.Amount)}, {"window_ps", int64(v.Span)}, {"calls_unknown", v.Unknown}}...))
	}
	return object{
		{"name", d.Name}, {"tool", d.Tool}, {"version", d.Version}, {"from_documentation", d.FromDocs},
		{"percentile_definition", d.Estimator.String()}, {"default_percentiles", d.Percentiles}, {"without_values", d.Empty}, {"failed_calls", d.Failures},
		{"notes", append([]string{}, d.Notes...)}, {"invalid", r.Invalid},
		{"calls", r.Calls}, {"completed", r.Completed},
		{"metrics", metrics}, {"rates", rates}, {"goodput", gradeObject(r)},
	}
}

// valueObject is a value as an object.
func valueObject(v *dialect.Value) object {
	m := v.Metric
	o := object{{"key", m.Key}, {"label", m.Label}, {"name", m.Name}, {"unit", m.Unit}, {"definition", m.Definition()}}
	if v.Need != "" {
		return append(o, Member{"needs", v.Need})
	}
	o = append(o, object{{"calls", v.Calls}, {"calls_infinite", v.Never}, {"calls_unknown", v.Unknown}}...)
	var deviation any
	if v.HasDeviation {
		deviation = int64(v.Deviation)
	}
	suffix := "_ps"
	if m.Kind == dialect.Speed {
		suffix = "_billionths_per_s"
	}
	if !v.OK {
		return append(o, object{{"count", v.Count}, {"mean" + suffix, nil}, {"min" + suffix, nil}, {"max" + suffix, nil}, {"deviation" + suffix, nil}, {"percentiles", nil}}...)
	}
	ps := object{}
	for _, q := range v.Quantiles {
		var value any = int64(q.Value)
		if q.Unbounded {
			value = "never"
		}
		ps = append(ps, Member{q.P.String(), object{{"value" + suffix, value}, {"resolution" + suffix, int64(q.Resolution)}}})
	}
	return append(o, object{
		{"count", v.Count}, {"mean" + suffix, int64(v.Mean)}, {"min" + suffix, int64(v.Min)}, {"max" + suffix, int64(v.Max)},
		{"deviation" + suffix, deviation}, {"percentiles", ps},
	}...)
}

// gradeObject is the goodput of r as an object, nil if it has none.
func gradeObject(r *dialect.Result) any {
	g := r.Goodput
	if g == nil {
		return nil
	}
	ignored := []string{}
	for i := range g.Ignored {
		ignored = append(ignored, g.Ignored[i].Objective.String())
	}
	o := object{{"option", g.Option}, {"ignored", ignored}, {"note", r.Dialect.Goodput.Note}}
	if g.Need != "" {
		return append(o, Member{"needs", g.Need})
	}
	if len(g.Verdicts) > 0 {
		verdicts := []object{}
		for _, v := range g.Verdicts {
			verdicts = append(verdicts, object{{"objective", v.Objective.String()}, {"limit_ps", int64(v.Limit)}, {"has_data", v.OK}, {"p99_ps", int64(v.P99)}, {"met", v.Met}})
		}
		return append(o, Member{"verdicts", verdicts})
	}
	share, _ := g.Share()
	return append(o, object{
		{"good", g.Good}, {"of", g.Of}, {"share", real(share)}, {"per_s", real(g.PerSecond)}, {"tokens_per_s", real(g.TokensPerSecond)},
		{"window_ps", int64(g.Span)}, {"calls_unknown", g.Unknown},
	}...)
}
