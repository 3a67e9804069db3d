package report

import (
	"fmt"
	"io"
	"math"
	"slices"
	"strings"

	"servesim/analysis"
	"servesim/analysis/dialect"
)

// Dialects writes what the tools of results would have said of one run, side by
// side, with each definition, and the reasons why they differ. The only errors
// are those of w.
func Dialects(w io.Writer, results []dialect.Result, reasons []dialect.Reason) error {
	var p page
	var left gaps
	for _, name := range dialect.Names() {
		p.named(results, name, &left)
	}
	p.unnamed(results, &left)
	p.rates(results, &left)
	p.otherRates(results)
	p.grades(results, &left)
	p.gaps(&left)
	p.partial(results)
	p.reasons(reasons, len(results))
	p.tools(results)
	return p.to(w)
}

// gaps are what could not be computed, by what that needs.
type gaps struct {
	needs []string
	what  [][]string
}

// add takes in what a dialect leaves out.
func (g *gaps) add(d *dialect.Dialect, what, need string) {
	i := slices.Index(g.needs, need)
	if i < 0 {
		i = len(g.needs)
		g.needs, g.what = append(g.needs, need), append(g.what, nil)
	}
	g.what[i] = append(g.what[i], d.Name+" "+what)
}

// gaps says what could not be computed.
func (p *page) gaps(g *gaps) {
	for i, need := range g.needs {
		p.item("Left out", "%s: %s", need, strings.Join(g.what[i], ", "))
	}
	if len(g.needs) > 0 {
		p.line("")
	}
}

// partial says of which figures some calls are missing because the source doesn't
// say enough of them, and which percentiles are not exact.
func (p *page) partial(results []dialect.Result) {
	var some, near []string
	for i := range results {
		name := results[i].Dialect.Name
		for k := range results[i].Values {
			v := &results[i].Values[k]
			if v.Need == "" && v.Unknown > 0 {
				some = append(some, fmt.Sprintf("%s %s %s", name, v.Metric.Key, analysis.Counted(v.Unknown, "call")))
			}
			if slices.ContainsFunc(v.Quantiles, func(q analysis.QuantileValue) bool { return q.Resolution > 0 }) {
				near = append(near, name+" "+v.Metric.Key)
			}
		}
		for k := range results[i].Rates {
			if v := &results[i].Rates[k]; v.Need == "" && v.Unknown > 0 {
				some = append(some, fmt.Sprintf("%s %s %s", name, v.Rate.Key, analysis.Counted(v.Unknown, "call")))
			}
		}
	}
	if len(some) > 0 {
		p.item("Warning", "calls left out of whose tokens or chunks the source doesn't say enough: %s", strings.Join(some, ", "))
	}
	if len(near) > 0 {
		p.item("Warning", "more values than are kept, so percentiles are within 0.025 %%: %s", strings.Join(near, ", "))
	}
	if len(some)+len(near) > 0 {
		p.line("")
	}
}

// rules gives letters to the definitions of a table.
type rules struct {
	texts []string
	who   [][]string
}

// letter returns that of a definition, and takes in who has it.
func (r *rules) letter(text, who string) string {
	i := 0
	for i < len(r.texts) && r.texts[i] != text {
		i++
	}
	if i == len(r.texts) {
		r.texts, r.who = append(r.texts, text), append(r.who, nil)
	}
	r.who[i] = append(r.who[i], who)
	return string(rune('a' + i%26))
}

// rules writes the definitions under their table.
func (p *page) rules(r *rules) {
	for i, text := range r.texts {
		p.b.WriteString(Fold(fmt.Sprintf("  %c  %s: %s", 'a'+i%26, text, strings.Join(r.who[i], ", ")), 5) + "\n")
	}
	p.line("")
}

// heads are the heads of a table of values.
func heads(first string, results []dialect.Result) []string {
	head := []string{first, "n", "mean"}
	for _, q := range results[0].Percentiles {
		if q.Fraction() < 1 {
			head = append(head, q.String())
		}
	}
	return head
}

// named is the table of the metrics that dialects call name.
// What could not be computed goes to left.
func (p *page) named(results []dialect.Result, name dialect.Name, left *gaps) {
	if len(results) == 0 {
		return
	}
	first := string(name) + ", ms"
	if name == dialect.UserRate {
		first = string(name)
	}
	t, by := table{left: 1}, rules{}
	head := heads(first, results)
	t.add(append(head, "max", "by")...)
	for i := range results {
		for k := range results[i].Values {
			v, d := &results[i].Values[k], results[i].Dialect
			if v.Metric.Name != name {
				continue
			}
			if v.Need != "" {
				left.add(d, v.Metric.Key, v.Need)
				continue
			}
			row := valueRow(d.Name, d, v, len(head)-3, true)
			for len(row) < len(head)+1 {
				row = append(row, "")
			}
			t.add(append(row, by.letter(v.Metric.Definition(), fmt.Sprintf("%s %q", d.Name, v.Metric.Label)))...)
		}
	}
	if len(t.rows) > 1 {
		t.write(p)
		p.rules(&by)
	}
}

// valueRow is the row of v, a value of d, with n percentiles and, if most, the largest value.
func valueRow(name string, d *dialect.Dialect, v *dialect.Value, n int, most bool) []string {
	if !v.OK {
		if d.Empty == dialect.OmittedEmpty {
			return []string{name, "0", "no data"}
		}
		return []string{name, "0", "prints " + string(d.Empty)}
	}
	print := milliseconds
	if v.Metric.Kind == dialect.Speed {
		print = perUnit
	}
	count := v.Calls
	if v.Metric.Kind == dialect.Gaps {
		count = v.Count
	}
	row := []string{name, analysis.Grouped(count), print(v.Mean)}
	for _, q := range v.Quantiles[:n] {
		if q.Unbounded {
			row = append(row, "never")
			continue
		}
		row = append(row, print(q.Value))
	}
	if most {
		row = append(row, print(v.Max))
	}
	return row
}

// unnamed is the table of the metrics that no other tool has.
func (p *page) unnamed(results []dialect.Result, left *gaps) {
	if len(results) == 0 {
		return
	}
	t, by := table{left: 1}, rules{}
	head := heads("Besides", results)
	t.add(append(head, "by")...)
	for i := range results {
		for k := range results[i].Values {
			v, d := &results[i].Values[k], results[i].Dialect
			if v.Metric.Name != "" {
				continue
			}
			if v.Need != "" {
				left.add(d, v.Metric.Key, v.Need)
				continue
			}
			row := valueRow(shortened(v.Metric.Key), d, v, len(head)-3, false)
			for len(row) < len(head) {
				row = append(row, "")
			}
			t.add(append(row, by.letter(v.Metric.Definition(), fmt.Sprintf("%s %q", d.Name, v.Metric.Key)))...)
		}
	}
	if len(t.rows) > 1 {
		t.write(p)
		p.rules(&by)
	}
}

// shortened is a name that leaves a table room for its numbers.
func shortened(name string) string {
	const most = 27
	if len(name) <= most {
		return name
	}
	return name[:most-3] + "..."
}

// rates is the table of the rates that tools have in common.
func (p *page) rates(results []dialect.Result, left *gaps) {
	t, by := table{left: 1}, rules{}
	head := []string{"Rates"}
	for _, name := range dialect.RateNames() {
		head = append(head, string(name))
	}
	t.add(append(head, "over s", "by")...)
	for i := range results {
		r := &results[i]
		row, over, rule := []string{r.Dialect.Name}, "", ""
		some := false
		for _, name := range dialect.RateNames() {
			cell := "-"
			for k := range r.Rates {
				v := &r.Rates[k]
				if v.Rate.Name != name {
					continue
				}
				if v.Need != "" {
					left.add(r.Dialect, v.Rate.Key, v.Need)
					continue
				}
				some, cell, over = true, Number(second(v)), Number(v.Span.Seconds())
				rule += letterOf(&by, v, r.Dialect.Name)
			}
			row = append(row, cell)
		}
		if some {
			t.add(append(row, over, rule)...)
		}
	}
	if len(t.rows) > 1 {
		t.write(p)
		p.rules(&by)
	}
}

// letterOf is the letter of a rate's definition.
func letterOf(by *rules, v *dialect.RateValue, who string) string {
	return by.letter(v.Rate.Definition(), fmt.Sprintf("%s %q", who, v.Rate.Key))
}

// second is a rate a second.
func second(v *dialect.RateValue) float64 {
	if v.Rate.Unit == dialect.PerMinute {
		return v.Value / 60
	}
	return v.Value
}

// otherRates are the rates that only one tool has.
func (p *page) otherRates(results []dialect.Result) {
	var parts []string
	for i := range results {
		for k := range results[i].Rates {
			v := &results[i].Rates[k]
			if v.Rate.Name == "" && v.Need == "" && !math.IsNaN(v.Value) {
				parts = append(parts, fmt.Sprintf("%s %s %s", results[i].Dialect.Name, v.Rate.Key, Number(v.Value)))
			}
		}
	}
	if len(parts) > 0 {
		p.item("Also", "%s", strings.Join(parts, ", "))
		p.line("")
	}
}

// reasons is why n dialects differ on the run.
func (p *page) reasons(reasons []dialect.Reason, n int) {
	if n < 2 {
		return
	}
	if len(reasons) == 0 {
		p.line("On this run the dialects agree about all that they have in common.")
		p.line("")
		return
	}
	p.line("Why they differ on this run")
	for _, r := range reasons {
		facts := ""
		if len(r.Facts) > 0 {
			facts = ": " + strings.Join(r.Facts, "; ")
		}
		p.b.WriteString(Fold("  "+r.About+facts, 4) + "\n")
		t := table{}
		var texts []string
		for _, s := range r.Sides {
			text := strings.Join(s.Dialects, ", ")
			if len(s.Rules) == 1 {
				text += ": " + s.Rules[0]
			}
			texts = append(texts, text)
			t.add("    "+Number(s.Value), string(s.Unit))
		}
		t.beside(p, texts)
	}
	p.line("")
}

// tools is what the dialects are and what to know of them.
func (p *page) tools(results []dialect.Result) {
	for i := range results {
		r, d := &results[i], results[i].Dialect
		from := ""
		if d.FromDocs {
			from = ", from its text, which has no code"
		}
		parts := []string{fmt.Sprintf("%s, %s%s", d.Tool, d.Version, from), "percentiles by " + d.Estimator.String()}
		if d.Failures != "" {
			parts = append(parts, "failed calls: "+d.Failures)
		}
		parts = append(parts, d.Notes...)
		if r.Invalid != "" {
			parts = append(parts, "this run would be invalid: "+r.Invalid)
		}
		p.b.WriteString(Fold(fmt.Sprintf("%-17s %s", d.Name, strings.Join(parts, "; ")), 18) + "\n")
	}
}
