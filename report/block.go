package report

import (
	"fmt"
	"strings"
)

// A Block is a part of what text says of a document, for formats that lay it out
// in their own way: one of a table, an item beside its name, or a line.
type Block struct {
	// Table is nil in the others.
	Table *Table
	// Item tells that Text stands beside Name, which is empty where it goes on under
	// the name before.
	Item       bool
	Name, Text string
}

// A Table is rows under heads, the first Left columns of them aligned to the left.
// Rows may have fewer cells than others; those of a part of what stands above begin
// with spaces.
type Table struct {
	Left  int
	Heads []string
	Rows  [][]string
}

// Blocks returns what text says of d, in its order, without Before and After.
func Blocks(d *Document) []Block {
	var p page
	p.document(d)
	return p.blocks
}

// block returns t, whose first rows are the lines of its heads, as a block. The
// lines of a head are parts of a name, which were broken after a space or none.
func (t *table) block() Block {
	head := min(max(1, t.head), len(t.rows))
	b := Table{Left: t.left, Rows: t.rows[head:]}
	for _, row := range t.rows[:head] {
		for len(b.Heads) < len(row) {
			b.Heads = append(b.Heads, "")
		}
		for i, cell := range row {
			b.Heads[i] += cell
		}
	}
	return Block{Table: &b}
}

// document is the numbers of d.
func (p *page) document(d *Document) {
	switch {
	case d.Comparison != nil:
		p.comparison(d.Comparison)
	case d.Replicated != nil:
		p.replicated(d.Replicated)
	case d.Replications != nil:
		p.replications(d.Replications)
	default:
		p.run(d.Run)
	}
}

// line writes one formatted line.
func (p *page) line(format string, args ...any) {
	text := strings.TrimRight(fmt.Sprintf(format, args...), " ")
	p.raw(text)
	if text != "" {
		p.blocks = append(p.blocks, Block{Text: strings.TrimSpace(text)})
	}
}

// raw writes one line of text.
func (p *page) raw(text string) {
	p.b.WriteString(text)
	p.b.WriteByte('\n')
}

// item writes a line that begins with a name.
func (p *page) item(name, format string, args ...any) {
	text := fmt.Sprintf(format, args...)
	p.b.WriteString(Item(name, text))
	p.blocks = append(p.blocks, Block{Item: true, Name: name, Text: text})
}
