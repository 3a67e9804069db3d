package report

import (
	"fmt"
	"strings"

	"servesim/analysis"
	"servesim/analysis/dialect"
	"servesim/sim"
)

// grades is the table of goodput. What could not be computed goes to left.
func (p *page) grades(results []dialect.Result, left *gaps) {
	t := table{left: 1}
	t.add("Goodput", "good", "of", "share", "1/s", "tokens/s")
	var lines []string
	for i := range results {
		d, g := results[i].Dialect, results[i].Goodput
		if g == nil {
			continue
		}
		if g.Need != "" {
			left.add(d, "goodput", g.Need)
			continue
		}
		lines = append(lines, fmt.Sprintf("%-17s %s", d.Name, joined(notes(d, g), "; ")))
		if len(g.Verdicts) > 0 {
			continue
		}
		row := []string{d.Name, analysis.Grouped(g.Good), analysis.Grouped(g.Of)}
		share, ok := g.Share()
		row = append(row, cellOf(ok && d.Goodput.Prints&dialect.PrintsShare != 0, Percent(share)),
			cellOf(d.Goodput.Prints&dialect.PrintsRate != 0, Number(g.PerSecond)),
			cellOf(d.Goodput.Prints&dialect.PrintsTokens != 0, Number(g.TokensPerSecond)))
		t.add(row...)
	}
	if len(t.rows) > 1 {
		t.write(p)
	}
	for _, l := range lines {
		p.b.WriteString(Fold("  "+l, 20) + "\n")
	}
	if len(lines) > 0 {
		p.line("")
	}
}

// cellOf is text, or a dash for what a tool doesn't print.
func cellOf(prints bool, text string) string {
	if !prints {
		return "-"
	}
	return text
}

// notes are what to know of a grade.
func notes(d *dialect.Dialect, g *dialect.Grade) []string {
	list := []string{g.Option}
	for _, v := range g.Verdicts {
		is := "isn't below"
		if v.Met {
			is = "is below"
		}
		if !v.OK {
			list = append(list, fmt.Sprintf("no data for %s", v.Objective))
			continue
		}
		list = append(list, fmt.Sprintf("P99 %s %s ms %s %s ms", strings.ToUpper(v.Objective.String()), milliseconds(v.P99), is, milliseconds(v.Limit)))
	}
	for i := range g.Ignored {
		list = append(list, "leaves out "+g.Ignored[i].String())
	}
	if g.Unknown > 0 {
		list = append(list, analysis.Counted(g.Unknown, "call")+" couldn't be judged")
	}
	return append(list, d.Goodput.Note)
}

// perUnit prints billionths a second.
func perUnit(d sim.Duration) string { return Number(float64(d) / 1e9) }

// beside writes the rows of t, all aligned to the right, with a text beside each,
// which is folded.
func (t *table) beside(p *page, texts []string) {
	var q page
	t.write(&q)
	for i, row := range strings.Split(strings.TrimSuffix(q.b.String(), "\n"), "\n") {
		p.b.WriteString(Fold(row+"  "+texts[i], len(row)+2) + "\n")
	}
}
