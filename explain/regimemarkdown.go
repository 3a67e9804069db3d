package explain

import (
	"io"
	"strings"
	"unicode/utf8"
)

// mapIntroduction says what the map is and how to read it.
const mapIntroduction = `# Where chunked prefill helps

Written by ` + "`servesim explain --regimes --markdown`" + `; do not edit.

Chunked prefill is said to protect P99. Which P99, of what, and under which load? Every mark below compares the same
requests with and without chunked prefill, under the same seeds, and is given only where the 95 % interval of the
difference tells; what it doesn't tell is a question mark. The engine, machine, model, short requests and limits of
goodput are those of the scenario named below; ` + "`servesim explain --regimes mine.toml`" + ` draws the map of another.

`

// mapReading says what to see in a map and what not, whatever its figures.
const mapReading = `## How to read it

A row is a workload: a share of long prompts, all of one length, among short ones. A column is a latency. In it stands a
group of marks for each budget, and in a group a mark for each load, so that ` + "`++- =-- ===`" + ` is: with the first budget
better at the two lower loads and worse at the highest; with the second the same at the lowest and worse above; with the
third the same at all.

The capacity, of which a load is a share, is measured with chunked prefill at the engine's own default budget: the rate at
which requests end while others queue. A smaller budget can carry less: ` + "`!`" + ` marks queues that grow as long as requests
arrive, whose latencies depend on how long the run is.

## The rule

`

// mapLimits says what the map doesn't tell.
const mapLimits = `## What it doesn't say

Long prompts here are all of one length and independent of each other; bursts of them are worse than the map says. One
machine, one model and one kind of short request: the boundaries are in shares of gaps, which hold elsewhere, but where on
the axes they lie moves with the speed of a prefill. Each mark is right with 95 %, so that of a hundred of them some are
wrong. P99 of the TTFT of long prompts rests on few requests where their share is small.
`

// Markdown writes the map as a document. The only errors are those of w.
func (m *Map) Markdown(w io.Writer) error {
	var b strings.Builder
	b.WriteString(mapIntroduction)
	indented := func(text string) {
		for line := range strings.Lines(text) {
			b.WriteString(strings.TrimRight("    "+line, " \n") + "\n")
		}
		b.WriteString("\n")
	}
	for _, f := range m.Plan.Facts() {
		if f.Name == "Scenario" || f.Name == "Machine" {
			b.WriteString(bullet(f.Name, f.Text))
		}
	}
	b.WriteString(bullet("Map", m.describe()) + "\n## The map\n\n")
	for _, p := range m.pictures() {
		indented(p)
	}
	b.WriteString(paragraph(m.legend()+".") + "\n")
	indented(m.totals())
	b.WriteString(paragraph("In short: "+m.short()+".") + "\n" + mapReading)
	b.WriteString(paragraph(ruleText) + "\n")
	b.WriteString(paragraph("Checked against the simulation, cell by cell; at the boundary, "+boundaryText+". The last two columns are of the rule if every step with prompts counted, whatever its length.") + "\n")
	indented(m.ruleTable())
	items := m.ruleWords()
	b.WriteString(paragraph("Exceptions: "+items[len(items)-1][1]+".") + "\n")
	if t := m.exceptionTable(); t != "" {
		indented(t)
	}
	b.WriteString(mapLimits)
	_, err := io.WriteString(w, b.String())
	return err
}

// markdownWidth is the most columns of a line of a document.
const markdownWidth = 120

// bullet is a member of a list.
func bullet(name, text string) string { return wrapped("* "+name+": "+text+".", "  ") }

// paragraph folds text.
func paragraph(text string) string { return wrapped(text, "") }

// wrapped breaks text into lines, those after the first behind an indent.
func wrapped(text, indent string) string {
	var b strings.Builder
	column := 0
	for i, word := range strings.Fields(text) {
		n := utf8.RuneCountInString(word)
		switch {
		case i > 0 && column+1+n > markdownWidth:
			b.WriteString("\n" + indent)
			column = len(indent)
		case i > 0:
			b.WriteString(" ")
			column++
		}
		b.WriteString(word)
		column += n
	}
	return b.String() + "\n"
}
