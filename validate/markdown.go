package validate

import (
	"fmt"
	"io"
	"strings"
)

// Markdown writes r as a Markdown document, with what other simulators publish
// of their errors beside it.
func Markdown(w io.Writer, r *Report) error {
	var b strings.Builder
	b.WriteString(markdownHead)
	for i := range r.Splits {
		r.Splits[i].markdown(&b, r.Lines)
	}
	if len(r.Notes) > 0 {
		b.WriteString("\n## Rules that filled in what sources leave open\n\n| rows | rule |\n|---:|---|\n")
		markdownCounts(&b, r.Notes)
	}
	b.WriteString("\n## What other simulators publish\n\n" + peersHead + "\n| tool | claim | what it is of | source |\n|---|---|---|---|\n")
	for _, p := range peers() {
		fmt.Fprintf(&b, "| %s | %s | %s | %s |\n", p.tool, p.claim, p.of, p.source)
	}
	_, err := io.WriteString(w, b.String())
	return err
}

const markdownHead = `# How accurate servesim is

Written by ` + "`servesim validate --markdown`" + `; do not edit.

Every measured serving run of the table is simulated with its load, lengths and deployment.
An error is (simulated - measured)/measured, in percent; median and P90 are of absolute errors,
the bias is the mean of the signed ones. A run is saturated if the simulation exhausts its KV
cache or falls behind its arrivals; its times to the first token are nearly all queue, so they
have rows of their own. The figures of a run with random lengths are means over 4 simulations.
Constants were fitted on calibration rows and kernel tables alone.
`

// markdown writes p; lines are those of all splits.
func (p *SplitReport) markdown(b *strings.Builder, lines []Line) {
	fmt.Fprintf(b, "\n## %s\n\n%d rows, %d simulated, %d of them saturated.\n", p.Split.title(), p.Rows, p.Simulated, p.Saturated)
	if p.Split == HeldOut && len(p.Cells[ByModel]) > 0 {
		markdownJudged(b, judge(lines))
		markdownTargets(b, p.Cells[ByModel])
	}
	for _, by := range Groupings() {
		if len(p.Cells[by]) == 0 {
			continue
		}
		fmt.Fprintf(b, "\n### By %s\n\n", by)
		rows := table(by, p.Cells[by])
		left := len(by.heads()) + 1
		for i, row := range rows {
			b.WriteString("| " + strings.Join(row, " | ") + " |\n")
			if i == 0 {
				b.WriteString("|" + strings.Repeat("---|", left) + strings.Repeat("---:|", len(row)-left) + "\n")
			}
		}
	}
	if len(p.Skipped) > 0 {
		b.WriteString("\n### Rows that were not simulated\n\n| rows | why |\n|---:|---|\n")
		markdownCounts(b, p.Skipped)
	}
	if len(p.Figures) > 0 {
		b.WriteString("\n### Figures of simulated rows that are left out\n\n| figures | why |\n|---:|---|\n")
		markdownCounts(b, p.Figures)
	}
}

func markdownCounts(b *strings.Builder, counts []Count) {
	for _, c := range counts {
		fmt.Fprintf(b, "| %d | %s |\n", c.N, strings.ReplaceAll(c.What, "|", `\|`))
	}
}
