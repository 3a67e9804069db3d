package report

import (
	"strings"
	"unicode/utf8"
)

// table lays rows out in columns.
type table struct {
	left int // the number of columns, from the first, that are aligned to the left
	rows [][]string
}

// add appends a row. Rows may have fewer cells than others.
func (t *table) add(cells ...string) { t.rows = append(t.rows, cells) }

// write writes the rows to p, two spaces between columns.
func (t *table) write(p *page) {
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
		p.line("%s", b.String())
	}
}
