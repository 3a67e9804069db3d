package report

import (
	"strings"
	"unicode/utf8"

	"servesim/analysis"
)

// table lays rows out in columns.
type table struct {
	left int // the number of columns, from the first, that are aligned to the left
	head int // the number of rows, from the first, that are heads; 0 is one
	rows [][]string
}

// add appends a row. Rows may have fewer cells than others.
func (t *table) add(cells ...string) { t.rows = append(t.rows, cells) }

// headWidth is the width beyond which the name of a run is broken into lines.
const headWidth = 10

// Columns lays rows out in columns under heads, the first left of them aligned to
// the left. A long head stands on several lines, and all end on the last. Rows may
// have fewer cells than others.
func Columns(heads []string, left int, rows [][]string) string {
	t := table{left: left}
	columns := make([][]string, len(heads))
	for i, h := range heads {
		columns[i] = broken(h)
	}
	t.heads(columns)
	for _, r := range rows {
		t.add(r...)
	}
	var p page
	t.write(&p)
	return p.b.String()
}

// heading adds the names of runs as heads of columns, after those of the first
// columns. A long name stands on several lines, and all end on the last.
func (t *table) heading(first []string, runs []analysis.Run, change bool) {
	columns := make([][]string, 0, len(first)+len(runs)+1)
	for _, f := range first {
		columns = append(columns, []string{f})
	}
	for _, r := range runs {
		columns = append(columns, broken(r.Name))
	}
	if change {
		columns = append(columns, []string{"change"})
	}
	t.heads(columns)
}

// heads adds heads of columns, each of one or more lines.
func (t *table) heads(columns [][]string) {
	lines := 0
	for _, c := range columns {
		lines = max(lines, len(c))
	}
	for i := range lines {
		row := make([]string, len(columns))
		for k, c := range columns {
			if at := i - (lines - len(c)); at >= 0 {
				row[k] = c[at]
			}
		}
		t.add(row...)
	}
	t.head = lines
}

// broken breaks name into lines of at most headWidth characters where it can:
// after an underscore, a hyphen, a slash or a space. An equals or plus sign
// begins a line.
func broken(name string) []string {
	var lines []string
	line := ""
	flush := func() {
		if line != "" {
			lines = append(lines, line)
		}
		line = ""
	}
	for _, word := range words(name) {
		sign := strings.HasPrefix(word, "=") || strings.HasPrefix(word, "+")
		if sign || utf8.RuneCountInString(line)+utf8.RuneCountInString(word) > headWidth {
			flush()
		}
		line += word
	}
	flush()
	return lines
}

// words cuts name where a line may be broken.
func words(name string) []string {
	var out []string
	start := 0
	for i, c := range name {
		switch c {
		case '_', ' ', '-', '/':
			out, start = append(out, name[start:i+1]), i+1
		case '=', '+':
			if i > start {
				out, start = append(out, name[start:i]), i
			}
		}
	}
	return append(out, name[start:])
}

// write writes the rows to p, two spaces between columns.
func (t *table) write(p *page) {
	if len(t.rows) > 0 {
		p.blocks = append(p.blocks, t.block())
	}
	var width []int
	for _, row := range t.rows {
		for i, cell := range row {
			if i == len(width) {
				width = append(width, 0)
			}
			width[i] = max(width[i], utf8.RuneCountInString(cell))
		}
	}
	for _, row := range t.rows {
		var b strings.Builder
		for i, cell := range row {
			pad := strings.Repeat(" ", width[i]-utf8.RuneCountInString(cell))
			if i > 0 {
				b.WriteString("  ")
			}
			if i < t.left {
				b.WriteString(cell + pad)
			} else {
				b.WriteString(pad + cell)
			}
		}
		p.raw(strings.TrimRight(b.String(), " "))
	}
}
