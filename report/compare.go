package report

import (
	"fmt"
	"io"
	"strconv"
	"strings"

	"servesim/analysis"
	"servesim/sim"
	"servesim/sim/observe"
)

// CompareText writes c for people: the runs side by side, then what became of
// the same request in two runs. The only errors are those of w.
func CompareText(w io.Writer, c *analysis.Comparison) error {
	var p page
	p.comparison(c)
	return p.to(w)
}

// comparison is all that CompareText writes.
func (p *page) comparison(c *analysis.Comparison) {
	p.sideBySide(c)
	p.ratesSideBySide(c)
	for i := range c.Paired {
		p.paired(c, &c.Paired[i])
	}
	p.warningsOf(c.Runs)
}

// warningsOf lists the warnings of runs, each once with the runs that it is of.
// Those about groups are left out, which aren't compared.
func (p *page) warningsOf(runs []analysis.Run) {
	var texts []string
	of := make(map[string][]string) // the names of the runs with a text
	for _, r := range runs {
		for i := range r.Report.Warnings {
			w := &r.Report.Warnings[i]
			if w.OfGroups {
				continue
			}
			if of[w.Text] == nil {
				texts = append(texts, w.Text)
			}
			of[w.Text] = append(of[w.Text], r.Name)
		}
	}
	for _, text := range texts {
		if len(of[text]) == len(runs) {
			p.item("Warning", "%s", text)
			continue
		}
		p.item("Warning", "%s: %s", strings.Join(of[text], ", "), text)
	}
}

// sideBySide is a table with one column a run, and the percentiles of each
// metric below each other. Two runs get a column for the change.
func (p *page) sideBySide(c *analysis.Comparison) {
	t := table{left: 2}
	t.heading([]string{"Latency, ms", ""}, c.Runs, len(c.Runs) == 2)
	var defined []analysis.Metric
	for k, m := range c.Runs[0].Report.Metrics() {
		if m.Part {
			continue
		}
		t.metric(m, nth(c.Runs, k))
		defined = append(defined, m)
	}
	t.write(p)
	p.line("")
	for _, m := range defined {
		p.item(m.Name, "%s", m.Definition)
	}
	p.line("")
}

// nth returns the k-th metric of each run.
func nth(runs []analysis.Run, k int) []analysis.Metric {
	var all []analysis.Metric
	for _, r := range runs {
		all = append(all, r.Report.Metrics()[k])
	}
	return all
}

// metric adds the rows of one metric, m, in all runs.
func (t *table) metric(m analysis.Metric, all []analysis.Metric) {
	ps := percentiles(all)
	row := func(label string, value func(analysis.Metric) sim.Duration) {
		cells := []string{"", label}
		var values []sim.Duration
		for _, a := range all {
			if !a.OK {
				cells = append(cells, "no data")
				continue
			}
			values = append(values, value(a))
			cells = append(cells, milliseconds(value(a)))
		}
		if len(all) == 2 && len(values) == 2 {
			cells = append(cells, change(values[0], values[1]))
		}
		t.add(cells...)
	}
	t.add(append([]string{m.Name, "count"}, counts(all)...)...)
	row("mean", func(a analysis.Metric) sim.Duration { return a.Mean })
	for i, q := range ps {
		row(q.String(), func(a analysis.Metric) sim.Duration { return a.Quantiles[i].Value })
	}
	row("max", func(a analysis.Metric) sim.Duration { return a.Max })
}

// counts returns the number of values of each metric.
func counts(all []analysis.Metric) []string {
	var cells []string
	for _, a := range all {
		cells = append(cells, analysis.Grouped(a.Count))
	}
	return cells
}

// change prints by how much b differs from a: in per cent, or as a factor where
// it is five times as much or more.
func change(a, b sim.Duration) string {
	switch {
	case a == b:
		return "0 %"
	case a <= 0:
		return ""
	case b >= 5*a:
		return "x " + strconv.FormatFloat(float64(b)/float64(a), 'g', 3, 64)
	}
	x := 100 * (float64(b) - float64(a)) / float64(a)
	sign := ""
	if x > 0 {
		sign = "+"
	}
	return sign + strconv.FormatFloat(x, 'f', 1, 64) + " %"
}

// ratesSideBySide is a table of what is not a latency, with one column a run.
func (p *page) ratesSideBySide(c *analysis.Comparison) {
	rows := []struct {
		name  string
		value func(*analysis.Report) string
	}{
		{"requests", func(r *analysis.Report) string { return analysis.Grouped(r.Counts.Requests) }},
		{"completed", func(r *analysis.Report) string { return analysis.Grouped(r.Counts.Of(observe.Completed)) }},
		{"requests/s", func(r *analysis.Report) string { return Number(r.Throughput.Requests) }},
		{"output tokens/s", func(r *analysis.Report) string { return Number(r.Throughput.OutputTokens) }},
		{"preemptions", func(r *analysis.Report) string { return analysis.Grouped(r.Counts.Preemptions) }},
		{"steps", func(r *analysis.Report) string { return analysis.Grouped(r.Engine.Steps) }},
		{"busy", func(r *analysis.Report) string { return Percent(r.Engine.Utilisation) }},
	}
	t := table{left: 1}
	t.heading([]string{"Other"}, c.Runs, false)
	t.goodput(c)
	t.verdicts(c)
	for k, m := range c.Runs[0].Report.Metrics() {
		if m.Part {
			t.part(m.Name, nth(c.Runs, k))
		}
	}
	for _, row := range rows {
		cells := []string{row.name}
		for _, r := range c.Runs {
			cells = append(cells, row.value(r.Report))
		}
		t.add(cells...)
	}
	t.write(p)
	p.line("")
	if g := c.Runs[0].Report.Goodput; g != nil {
		p.item("goodput", "share of all requests, failed ones included, that met all of %s", g.Limits)
		p.line("")
	}
}

// part adds the mean and the highest percentile of a part of a metric.
func (t *table) part(name string, all []analysis.Metric) {
	ps := percentiles(all)
	if len(ps) == 0 {
		return
	}
	last := len(ps) - 1
	mean, high := []string{name + " mean, ms"}, []string{name + " " + ps[last].String() + ", ms"}
	for _, a := range all {
		if !a.OK {
			mean, high = append(mean, "no data"), append(high, "no data")
			continue
		}
		mean, high = append(mean, milliseconds(a.Mean)), append(high, milliseconds(a.Quantiles[last].Value))
	}
	t.add(mean...)
	t.add(high...)
}

// verdicts adds those on the limits on each run.
func (t *table) verdicts(c *analysis.Comparison) {
	for i, v := range c.Runs[0].Report.Verdicts {
		row := []string{v.Limit}
		for _, r := range c.Runs {
			row = append(row, string(r.Report.Verdicts[i].Judgement))
		}
		t.add(row...)
	}
}

// goodput adds the shares of requests that met the limits.
func (t *table) goodput(c *analysis.Comparison) {
	first := c.Runs[0].Report.Goodput
	if first == nil {
		return
	}
	good := []string{"goodput"}
	for _, r := range c.Runs {
		share, _ := r.Report.Goodput.Share()
		good = append(good, Percent(share))
	}
	t.add(good...)
	for i := range first.Limits {
		row := []string{"  " + first.Limits[i].String()}
		for _, r := range c.Runs {
			share, _ := r.Report.Goodput.Each[i].Share()
			row = append(row, Percent(share))
		}
		t.add(row...)
	}
}

// paired is a table of the differences between two runs, request by request.
func (p *page) paired(c *analysis.Comparison, d *analysis.Paired) {
	p.changes(c, d)
	base, run := c.Runs[d.Base].Name, c.Runs[d.Run].Name
	p.line("%s", Fold(fmt.Sprintf("The same request in %s minus in %s, ms; negative is better", run, base), 2))
	t := table{left: 1}
	head := []string{"", "pairs", "better", "equal", "worse"}
	for _, q := range analysis.DifferencePercentiles() {
		head = append(head, q.String())
	}
	t.add(append(head, "mean")...)
	for _, m := range d.Differences {
		if !m.OK {
			t.add("  "+m.Name, "0", "no data")
			continue
		}
		n := float64(m.Count)
		row := []string{
			"  " + m.Name, analysis.Grouped(m.Count), Percent(float64(m.Better) / n),
			Percent(float64(m.Equal) / n), Percent(float64(m.Worse) / n),
		}
		for _, q := range m.Quantiles {
			row = append(row, milliseconds(q.Value))
		}
		t.add(append(row, milliseconds(m.Mean))...)
	}
	t.write(p)
	if d.OnlyBase+d.OnlyRun+d.Neither > 0 {
		p.line("  %s completed in both, %s only in %s, %s only in %s, %s in neither",
			analysis.Grouped(d.Both), analysis.Grouped(d.OnlyBase), base, analysis.Grouped(d.OnlyRun), run, analysis.Grouped(d.Neither))
	}
	if d.Unmatched > 0 {
		p.line("  %s requests have a record in one of the two only", analysis.Grouped(d.Unmatched))
	}
	if d.Moved > 0 {
		p.line("  %s requests arrived at different instants, so the pairs are not under the same load", analysis.Grouped(d.Moved))
	}
	p.line("")
}
