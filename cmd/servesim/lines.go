package main

import (
	"fmt"
	"strings"

	"servesim/report"
	"servesim/scenario"
)

// lines are lines of text in the making.
type lines []string

// item adds a line that begins with a name, as report.Item does, not yet folded.
func (l *lines) item(name, format string, args ...any) {
	*l = append(*l, fmt.Sprintf("%-*s%s", report.Hang, name, fmt.Sprintf(format, args...)))
}

// folded returns the lines to print, each behind indent spaces.
func (l lines) folded(indent int) string {
	var b strings.Builder
	for _, line := range l {
		b.WriteString(report.Fold(strings.Repeat(" ", indent)+line, indent+report.Hang) + "\n")
	}
	return b.String()
}

// linesOf returns the lines that tell facts.
func linesOf(facts []scenario.Fact) lines {
	var l lines
	for _, f := range facts {
		l.item(f.Name, "%s", f.Text)
	}
	return l
}
