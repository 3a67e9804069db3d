package reproduce

import (
	"fmt"
	"io"
	"strings"

	"servesim/report"
)

// introduction begins the document.
const introduction = `# Published claims, simulated

Written by ` + "`servesim reproduce -o markdown`" + `; do not edit.

Figures that others published of serving engines, and what comes out here of the setups that they name. Nothing is fitted
to them: the scenarios have ordinary keys, defaults and the shipped profiles, whose accuracy [accuracy.md](accuracy.md)
tells. ` + "`servesim reproduce NAME`" + ` computes one again.

`

// Markdown writes results as a document. The only errors are those of w.
func Markdown(w io.Writer, results []*Result) error {
	var b strings.Builder
	b.WriteString(introduction + report.Fold(Rule(), 0) + "\n\n")
	row := func(cells ...string) {
		for i := range cells {
			cells[i] = strings.ReplaceAll(cells[i], "|", "\\|")
		}
		b.WriteString("| " + strings.Join(cells, " | ") + " |\n")
	}
	row("claim", "verdict", "says")
	b.WriteString("|---|---|---|\n")
	for _, r := range results {
		row(fmt.Sprintf("[%s](#%s)", r.Name, r.Name), string(r.Verdict), oneLine(r.Says))
	}
	b.WriteString("\n" + total(results) + ".\n")
	for _, r := range results {
		b.WriteString("\n## " + r.Name + "\n\n")
		for _, part := range [][2]string{
			{"Says", r.Says}, {"Source", r.Source}, {"Setup", r.Setup}, {"Verdict", string(r.Verdict)}, {"Because", r.because()},
		} {
			b.WriteString(report.Fold(fmt.Sprintf("* %s: %s", part[0], oneLine(part[1])), 2) + "\n")
		}
		b.WriteString("\n")
		row("check", "claimed", "simulated", "95 % interval", "runs", "met")
		b.WriteString("|---|---|---:|---|---:|---|\n")
		for i := range r.Checks {
			row(append([]string{r.Checks[i].Says}, r.Checks[i].cells()...)...)
		}
		for i := range r.Facts {
			row(append([]string{"fact: " + r.Facts[i].Says}, r.Facts[i].cells()...)...)
		}
	}
	_, err := io.WriteString(w, b.String())
	return err
}
