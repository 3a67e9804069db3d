package gate

import (
	"fmt"
	"io"
	"strings"

	"servesim/analysis"
)

// Markdown writes a summary of o for a comment on a pull request.
func (o *Outcome) Markdown(w io.Writer) error {
	var b strings.Builder
	fmt.Fprintf(&b, "### servesim gate: %s, %s\n\n", o.Verdict, cell(o.Gate.Name))
	if o.Verdict != analysis.Pass {
		fmt.Fprintf(&b, "**%s**\n\n", cell(o.verdictText()))
	}
	markdownTable(&b, o.checkHeads(), o.checkRows())
	fmt.Fprintf(&b, "\nGood: %s\n\n", cell(o.Gate.SLO.Goodput.String()))
	markdownTable(&b, o.loadHeads(), o.loadRows())
	fall := o.fallText()
	fall = strings.ToUpper(fall[:1]) + fall[1:]
	if o.Fall.Flagged {
		fall = "**" + fall + "**"
	}
	fmt.Fprintf(&b, "\n%s\n\n**Measure next** %s\n\n", fall, cell(o.Advice))
	b.WriteString("<details><summary>Percentiles and what was judged</summary>\n\n")
	heads, rows := o.latencyTable()
	markdownTable(&b, heads, rows)
	if heads, rows := o.toolTable(); rows != nil {
		b.WriteString("\n")
		markdownTable(&b, heads, rows)
	}
	b.WriteString("\n")
	for _, f := range o.facts() {
		fmt.Fprintf(&b, "- %s: %s\n", f[0], cell(f[1]))
	}
	b.WriteString("\n</details>\n")
	_, err := io.WriteString(w, b.String())
	return err
}

// RefusedMarkdown writes the error of a gate that was refused or is at fault.
func RefusedMarkdown(w io.Writer, file string, err error) error {
	var b strings.Builder
	fmt.Fprintf(&b, "### servesim gate: REFUSED, %s\n\n", cell(file))
	for line := range strings.Lines(err.Error()) {
		b.WriteString("- " + cell(strings.TrimSpace(line)) + "\n")
	}
	_, err = io.WriteString(w, b.String())
	return err
}

// markdownTable writes a table whose cells after the first are numbers or short.
func markdownTable(b *strings.Builder, heads []string, rows [][]string) {
	line := func(cells []string) {
		for i := range heads {
			text := ""
			if i < len(cells) {
				text = cell(cells[i])
			}
			b.WriteString("| " + text + " ")
		}
		b.WriteString("|\n")
	}
	line(heads)
	b.WriteString(strings.Repeat("|---", len(heads)) + "|\n")
	for _, r := range rows {
		line(r)
	}
}

// cell keeps s from being read as markup.
func cell(s string) string {
	return strings.NewReplacer("|", `\|`, "<", "&lt;", ">", "&gt;", "*", `\*`, "\n", " ").Replace(s)
}
