package report

import (
	"fmt"
	"io"
	"strings"

	"servesim/analysis/dialect"
)

// DialectsMarkdown writes what each tool calls what, and how it is computed, as a
// page of Markdown. The only errors are those of w.
func DialectsMarkdown(w io.Writer, ds []*dialect.Dialect) error {
	var p page
	p.line("# What each benchmark tool measures")
	p.line("")
	p.line("Written from the dialects themselves by `go test ./report -update`; do not edit.")
	p.line("")
	p.line("A definition is of one call, or of the run for rates; N tokens are the engine's own count. *Chunk* is any")
	p.line("message with choices, *text* one with text of any kind, *visible text* one with text of the answer proper;")
	p.line("*first token made* and *last token made* are at the engine, without the way to the client.")
	p.line("")
	p.line("| dialect | tool | version |")
	p.line("|---|---|---|")
	for _, d := range ds {
		p.line("| %s | %s | %s |", d.Name, cellText(d.Tool), cellText(d.Version))
	}
	for _, name := range append(dialect.Names(), "") {
		title := string(name)
		if name == "" {
			title = "What only some have"
		}
		p.line("")
		p.line("## %s", title)
		p.line("")
		p.line("| dialect | as the tool prints it | in | definition |")
		p.line("|---|---|---|---|")
		for _, d := range ds {
			for i := range d.Metrics {
				if m := &d.Metrics[i]; m.Name == name {
					p.line("| %s | %s | %s | %s |", d.Name, cellText(m.Label), m.Unit, cellText(m.Definition()))
				}
			}
		}
	}
	p.line("")
	p.line("## Rates")
	p.line("")
	p.line("| dialect | as the tool prints it | in | definition |")
	p.line("|---|---|---|---|")
	for _, d := range ds {
		for i := range d.Rates {
			r := &d.Rates[i]
			p.line("| %s | %s | %s | %s |", d.Name, cellText(r.Label), r.Unit, cellText(r.Definition()))
		}
	}
	p.rulesOfTools(ds)
	return p.to(w)
}

// rulesOfTools is the table of estimators, of failed calls and of goodput.
func (p *page) rulesOfTools(ds []*dialect.Dialect) {
	p.line("")
	p.line("## Percentiles, failures, goodput")
	p.line("")
	p.line("| dialect | percentiles | by default | deviation | without values | failed calls | goodput | notes |")
	p.line("|---|---|---|---|---|---|---|---|")
	for _, d := range ds {
		deviation, good := "-", "-"
		if d.DDoF >= 0 {
			deviation = fmt.Sprintf("/ (n - %d)", d.DDoF)
			if d.DDoF == 0 {
				deviation = "/ n"
			}
		}
		if g := &d.Goodput; g.Rule != dialect.NoGoodput {
			var keys []string
			for _, k := range g.Keys {
				keys = append(keys, fmt.Sprintf(k.Form, "…"))
			}
			good = "`" + fmt.Sprintf(g.Form, strings.Join(keys, g.Sep)) + "`"
			if g.Note != "" {
				good += "; " + g.Note
			}
		}
		p.line("| %s | %s | %s | %s | %s | %s | %s | %s |", d.Name, d.Estimator, d.Percentiles, deviation, d.Empty,
			cellText(d.Failures), cellText(good), cellText(strings.Join(d.Notes, "; ")))
	}
}

// cellText is text that a table of Markdown can hold.
func cellText(s string) string { return strings.ReplaceAll(s, "|", `\|`) }
