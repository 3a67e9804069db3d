package main

import (
	"fmt"
	"slices"
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

// apart parts lists of lines, which go by labels, into the lines that are in all of
// them and, folded, what is each one's own.
func apart(all []lines, labels []string) (common lines, own string) {
	shared := func(line string) bool {
		for _, list := range all {
			if !slices.Contains(list, line) {
				return false
			}
		}
		return true
	}
	var tail strings.Builder
	for i, list := range all {
		tail.WriteString(labels[i] + "\n")
		tail.WriteString(slices.DeleteFunc(slices.Clone(list), shared).folded(2))
	}
	return slices.DeleteFunc(slices.Clone(all[0]), func(line string) bool { return !shared(line) }), tail.String()
}
