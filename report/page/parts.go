package page

import (
	"strings"

	"servesim/report"
)

// A part is blocks that stand together: items of a list, a table with the line above
// it, or a line.
type part struct {
	Items []Fact
	Table *table
	Line  string
	// Pre is lines that stand as they are.
	Pre string
}

// A table is a report.Table for the template.
type table struct {
	Caption string
	Heads   []cell
	Rows    [][]cell
}

// A cell is one of a table.
type cell struct {
	Text string
	// Left tells that it is aligned to the left, Within that it is part of what stands
	// above.
	Left, Within bool
}

// Words cuts the text of a head where a line may be broken.
func (c cell) Words() []string {
	return strings.FieldsFunc(strings.NewReplacer("_", "_\x00", "=", "\x00=", "+", "\x00+", ",", ",\x00", "/", "/\x00").Replace(c.Text),
		func(r rune) bool { return r == 0 })
}

// partsOf cuts blocks into parts. A line right before a table is its caption.
func partsOf(blocks []report.Block) []part {
	var list []part
	for i := range blocks {
		b := &blocks[i]
		n := len(list) - 1
		switch {
		case b.Table != nil:
			t := tableOf(b.Table)
			if n >= 0 && list[n].Line != "" {
				t.Caption = list[n].Line
				list = list[:n]
			}
			list = append(list, part{Table: t})
		case b.Item && n >= 0 && list[n].Items != nil:
			list[n].Items = append(list[n].Items, Fact{b.Name, b.Text})
		case b.Item:
			list = append(list, part{Items: []Fact{{b.Name, b.Text}}})
		default:
			if text := prose(strings.Split(b.Text, "\n")); strings.Contains(text, "\n") {
				list = append(list, part{Pre: text})
			} else {
				list = append(list, part{Line: text})
			}
		}
	}
	return list
}

// tableOf makes rows as long as the heads, and says what is aligned how.
func tableOf(t *report.Table) *table {
	width := len(t.Heads)
	for _, row := range t.Rows {
		width = max(width, len(row))
	}
	cells := func(row []string) []cell {
		out := make([]cell, width)
		for i := range out {
			out[i].Left = i < t.Left
			if i < len(row) {
				out[i].Text = strings.TrimSpace(row[i])
				out[i].Within = i == 0 && strings.HasPrefix(row[i], " ")
			}
		}
		return out
	}
	out := &table{Heads: cells(t.Heads)}
	for _, row := range t.Rows {
		out.Rows = append(out.Rows, cells(row))
	}
	return out
}
