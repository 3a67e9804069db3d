package report

import (
	"fmt"
	"math"
	"strings"

	"servesim/analysis"
)

// goodput is the share of good requests and of each limit.
func (p *page) goodput(a *analysis.Attainment) {
	if a == nil {
		return
	}
	share, ok := a.Share()
	if !ok {
		p.item("Goodput", "no data: there were no requests (%s)", a.Limits)
		p.line("")
		return
	}
	rate := ""
	if !math.IsNaN(a.PerSecond) {
		rate = fmt.Sprintf("%s requests/s and %s output tokens/s: ", Number(a.PerSecond), Number(a.OutputPerSecond))
	}
	p.item("Goodput", "%s%s of %s requests (%s), failed ones included, met every limit",
		rate, analysis.Grouped(a.Good), analysis.Grouped(a.Requests), Percent(share))
	if i := &a.Interval; i.OK {
		p.item("", "95 %% interval of the share: %s to %s", Percent(i.Lo), Percent(i.Hi))
	}
	t := table{left: 1}
	t.add("  limit", "requests", "met", "share", "missed only this")
	for i, e := range a.Each {
		row := []string{"  " + a.Limits[i].String(), analysis.Grouped(e.Requests), analysis.Grouped(e.Met)}
		if share, ok := e.Share(); ok {
			row = append(row, Percent(share), analysis.Grouped(e.MissedOnly))
		} else {
			row = append(row, "no data")
		}
		if i == a.Binding {
			row = append(row, "  binding")
		}
		t.add(row...)
	}
	t.write(p)
	p.line("")
}

// verdicts is how the run did by the limits on the whole of it.
func (p *page) verdicts(list []analysis.Verdict) {
	if len(list) == 0 {
		return
	}
	t := table{left: 2}
	failed := false
	t.add("Limits on the run", "verdict", "found", "within", "of")
	for i := range list {
		v := &list[i]
		failed = failed || v.Failed > 0 && !v.IsGoodput
		row := []string{"  " + v.Limit, string(v.Judgement)}
		switch {
		case v.Judgement == analysis.NoData:
			t.add(row...)
			continue
		case v.IsGoodput:
			share, _ := v.Share()
			row = append(row, Percent(share))
		case v.Value.Unbounded:
			row = append(row, "a failure")
		default:
			row = append(row, milliseconds(v.Value.Value)+" ms")
		}
		within := ""
		if share, ok := v.Share(); ok {
			within = Percent(share)
		}
		t.add(append(row, within, analysis.Grouped(v.Count))...)
	}
	t.write(p)
	if failed {
		p.line("  requests that failed count as longer than any limit")
	}
	p.line("")
}

// goodputObject is an attainment, or nil.
func goodputObject(a *analysis.Attainment) any {
	if a == nil {
		return nil
	}
	share, _ := a.Share()
	limits := []object{}
	for i := range a.Each {
		e := &a.Each[i]
		met, _ := e.Share()
		limits = append(limits, append(limitObject(&a.Limits[i]), object{
			{"requests", e.Requests}, {"met", e.Met}, {"share", real(met)}, {"missed_only", e.MissedOnly}, {"binding", i == a.Binding},
		}...))
	}
	return object{
		{"definition", "completed requests that met every limit that they are in the scope of, of all requests, failed ones included; per second over span_ps"},
		{"requests", a.Requests}, {"good", a.Good}, {"share", real(share)}, {"interval", shareIntervalObject(&a.Interval)},
		{"requests_per_s", real(a.PerSecond)}, {"output_tokens_per_s", real(a.OutputPerSecond)}, {"tokens_per_s", real(a.TokensPerSecond)},
		{"limits", limits},
	}
}

// limitObject is a limit.
func limitObject(l *analysis.Limit) object {
	o := object{{"limit", l.String()}, {"key", l.Objective.String()}, {"max_ps", int64(l.Max)}, {"strict", l.Strict}}
	if scope := strings.TrimSpace(l.Scope.String()); scope != "" {
		o = append(o, Member{"scope", scope})
	}
	return o
}

// verdictObjects lists verdicts.
func verdictObjects(list []analysis.Verdict) []object {
	out := []object{}
	for i := range list {
		v := &list[i]
		share, known := v.Share()
		o := object{{"limit", v.Limit}, {"verdict", string(v.Judgement)}, {"count", v.Count}, {"failed", v.Failed}}
		if known {
			o = append(o, Member{"met", v.Met}, Member{"share", real(share)})
		}
		if !v.IsGoodput && v.Judgement != analysis.NoData {
			o = append(o, Member{"value_ps", boundedPs(v.Value)}, Member{"resolution_ps", int64(v.Value.Resolution)})
		}
		out = append(out, o)
	}
	return out
}

// boundedPs is the value of a quantile, nil if it never came about.
func boundedPs(q analysis.QuantileValue) any {
	if q.Unbounded {
		return nil
	}
	return int64(q.Value)
}
