package report

import (
	"io"

	"servesim/analysis"
)

// CompareReplicationsText writes c for people: the scenarios side by side, then what
// changed from the first to each other one. The only errors are those of w.
func CompareReplicationsText(w io.Writer, c *analysis.ReplicatedComparison) error {
	var p page
	p.replications(c)
	return p.to(w)
}

// replications is all that CompareReplicationsText writes.
func (p *page) replications(c *analysis.ReplicatedComparison) {
	first := c.Runs[0]
	var names []analysis.Run
	for _, r := range c.Runs {
		names = append(names, analysis.Run{Name: r.Name})
		p.unsteady(r.Name, r.Replicated)
	}
	p.item("Runs", "%d of each scenario, under the same seeds", first.Runs)
	p.line("")
	t := table{left: 2}
	t.heading([]string{"Latency, ms", ""}, names, len(names) == 2)
	for k, m := range first.Metrics {
		var all []analysis.Metric
		for _, r := range c.Runs {
			all = append(all, r.Metrics[k])
		}
		t.metric(m, all)
	}
	t.write(p)
	p.line("")
	other := table{left: 1}
	other.heading([]string{"Other"}, names, false)
	row := func(name string, value func(r *analysis.Replicated) string) {
		cells := []string{name}
		for _, r := range c.Runs {
			cells = append(cells, value(r.Replicated))
		}
		other.add(cells...)
	}
	if len(first.SLO.Goodput) > 0 {
		row("goodput", func(r *analysis.Replicated) string { return Percent(r.Share) })
	}
	for i, v := range first.Verdicts {
		row(v.Limit, func(r *analysis.Replicated) string { return string(r.Verdicts[i].Judgement) })
	}
	row("requests", func(r *analysis.Replicated) string { return analysis.Grouped(r.Requests) })
	row("requests/s", func(r *analysis.Replicated) string { return Number(r.RequestsPerSecond.Mean) })
	row("output tokens/s", func(r *analysis.Replicated) string { return Number(r.OutputPerSecond.Mean) })
	other.write(p)
	p.line("")
	for i, list := range c.Changes {
		if len(list) > 0 {
			p.changeTable(first.Name, c.Runs[i+1].Name, list, c.Goodput[i])
			p.line("")
		}
	}
	for _, m := range first.Metrics {
		p.item(m.Name, "%s", m.Definition)
	}
	if len(first.SLO.Goodput) > 0 {
		p.item("goodput", "share of all requests, failed ones included, that met all of %s", first.SLO.Goodput)
	}
	p.item("verdict", verdictWords+"Percentiles are of the values of all runs together, intervals from how the changes differ by seed", "a number", "runs")
}

// CompareReplicationsJSON writes c for programs, in the form that JSON documents.
// Each scenario is whole, as ReplicatedJSON has it.
func CompareReplicationsJSON(w io.Writer, c *analysis.ReplicatedComparison, more ...Member) error {
	runs, changes := []object{}, []object{}
	for _, r := range c.Runs {
		runs = append(runs, append(object{{"name", r.Name}}, replicatedMembers(r.Replicated)...))
	}
	for i, list := range c.Changes {
		changes = append(changes, object{
			{"base", c.Runs[0].Name}, {"run", c.Runs[i+1].Name}, {"changes", changeObjects(list)}, {"goodput", shareChangeObject(c.Goodput[i])},
		})
	}
	return writeJSON(w, append(object{
		{"schema", Schema}, {"kind", "servesim-replicated-comparison"}, {"runs", runs},
		{"changes_definition", "run minus base, of the values of all seeds together; intervals are of 95 %, from how the changes differ by seed"},
		{"changes", changes},
	}, more...))
}
