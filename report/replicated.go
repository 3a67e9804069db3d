package report

import (
	"fmt"
	"io"
	"strings"

	"servesim/analysis"
)

// ReplicatedText writes r for people: every mean and percentile of all runs
// together, each with its interval. The only errors are those of w.
func ReplicatedText(w io.Writer, r *analysis.Replicated) error {
	var p page
	p.replicated(r)
	return p.to(w)
}

// replicated is all that ReplicatedText writes.
func (p *page) replicated(r *analysis.Replicated) {
	p.unsteady("", r)
	p.item("Runs", "%d, with %s in all", r.Runs, analysis.Counted(r.Requests, "request"))
	p.line("")
	t := table{left: 2}
	t.add("Latency, ms", "", "", "from", "to", "")
	width := 0
	for _, m := range r.Metrics {
		for _, row := range statistics(m.Distribution) {
			width = max(width, len(row.interval.Why()))
		}
	}
	for _, m := range r.Metrics {
		name := m.Name
		if !m.OK {
			t.add(name, "", "no data")
		}
		for _, row := range statistics(m.Distribution) {
			from, to := "", ""
			if row.interval.OK {
				from, to = milliseconds(row.interval.Lo), milliseconds(row.interval.Hi)
			}
			t.add(name, row.name, milliseconds(row.value), from, to, fmt.Sprintf("%-*s", width, row.interval.Why()))
			name = ""
		}
	}
	t.write(p)
	p.line("")
	rates := table{left: 1}
	rates.add("Other", "", "from", "to")
	for _, x := range []struct {
		name string
		rate analysis.Rate
	}{{"requests/s", r.RequestsPerSecond}, {"output tokens/s", r.OutputPerSecond}} {
		rates.add(x.name, Number(x.rate.Mean), bound(x.rate.OK, Number(x.rate.Lo)), bound(x.rate.OK, Number(x.rate.Hi)))
	}
	if len(r.SLO.Goodput) > 0 {
		i := r.ShareInterval
		rates.add("goodput", Percent(r.Share), bound(i.OK, Percent(i.Lo)), bound(i.OK, Percent(i.Hi)))
	}
	rates.write(p)
	p.line("")
	p.verdicts(r.Verdicts)
	for _, m := range r.Metrics {
		p.item(m.Name, "%s", m.Definition)
	}
	if len(r.SLO.Goodput) > 0 {
		p.item("goodput", "share of all requests, failed ones included, that met all of %s", r.SLO.Goodput)
	}
	p.item("from, to", "95 %% interval, from how the runs differ; percentiles are of the values of all runs together")
}

// unsteady warns of replications that are in no steady state, of a name if there are
// several scenarios.
func (p *page) unsteady(name string, r *analysis.Replicated) {
	text := r.Warning()
	if text == "" {
		return
	}
	if name != "" {
		text = name + ": " + text
	}
	p.item("Warning", "%s", text)
	p.line("")
}

// bound returns text, or nothing if there is no interval.
func bound(ok bool, text string) string {
	if !ok {
		return strings.Repeat(" ", len(text))
	}
	return text
}

// ReplicatedJSON writes r for programs, in the form that JSON documents.
func ReplicatedJSON(w io.Writer, r *analysis.Replicated, more ...Member) error {
	top := append(object{{"schema", Schema}, {"kind", "servesim-replications"}}, replicatedMembers(r)...)
	return writeJSON(w, append(top, more...))
}

// replicatedMembers is what replications say together as members of an object.
func replicatedMembers(r *analysis.Replicated) object {
	latency := object{}
	for _, m := range r.Metrics {
		o := append(object{{"name", m.Name}, {"definition", m.Definition}}, distribution(m.Distribution)...)
		latency = append(latency, Member{m.Key, o})
	}
	rate := func(x *analysis.Rate) object {
		if !x.OK {
			return object{{"mean", real(x.Mean)}, {"lo", nil}, {"hi", nil}}
		}
		return object{{"mean", real(x.Mean)}, {"lo", real(x.Lo)}, {"hi", real(x.Hi)}}
	}
	var goodput any // null without limits
	if len(r.SLO.Goodput) > 0 {
		goodput = object{{"limits", r.SLO.Goodput.String()}, {"share", real(r.Share)}, {"interval", shareIntervalObject(&r.ShareInterval)}}
	}
	return object{
		{"replications", r.Runs}, {"requests", r.Requests}, {"unsteady_replications", r.Unsteady},
		{"interval_definition", "95 %, from how the runs differ; percentiles are of the values of all runs together"},
		{"latency", latency},
		{"throughput", object{{"requests_per_s", rate(&r.RequestsPerSecond)}, {"output_tokens_per_s", rate(&r.OutputPerSecond)}}},
		{"goodput", goodput}, {"verdicts", verdictObjects(r.Verdicts)},
	}
}
