package explain

import (
	"fmt"
	"io"
	"math"
	"slices"
	"strconv"
	"strings"

	"servesim/analysis"
	"servesim/report"
)

// mark is the character of a change in a map.
func mark(d analysis.Direction) byte {
	switch d {
	case analysis.Better:
		return '+'
	case analysis.Worse:
		return '-'
	case analysis.Same, analysis.BetterSlightly, analysis.WorseSlightly:
		return '='
	}
	return '?'
}

// A column of a map is one statistic, or goodput.
type column struct {
	title string
	of    func(*Cell) (analysis.Direction, float64) // and the change as a share of the base, NaN if it has none
}

// columns returns those of m.
func (m *Map) columns() (list []column) {
	for _, i := range []int{tpot99, itl99, itl999, gap99, statistics, statistics + 1} {
		list = append(list, column{m.Statistics[i].Title(), func(c *Cell) (analysis.Direction, float64) {
			ch := &c.Changes[i]
			if ch.Base == 0 {
				return ch.Direction, math.NaN()
			}
			return ch.Direction, float64(ch.Difference()) / float64(ch.Base)
		}})
	}
	if len(m.Cells) > 0 && m.Cells[0].Goodput != nil {
		list = append(list, column{"goodput", func(c *Cell) (analysis.Direction, float64) {
			return c.Goodput.Direction, c.Goodput.Run - c.Goodput.Base
		}})
	}
	return list
}

// mapWidth is the width of the tables of a map.
const mapWidth = 80

// pictures returns the tables of the map, each of as many columns as there is room.
func (m *Map) pictures() (list []string) {
	groups := len(m.Grid.Budgets)
	each := groups*len(m.Grid.Loads) + groups - 1
	const label = len("10.0 %  128,000  ")
	room := max(1, (mapWidth-label)/(max(each, 10)+2))
	for some := range slices.Chunk(m.columns(), room) {
		heads := []string{"long prompts", "tokens"}
		for _, c := range some {
			heads = append(heads, c.title)
		}
		var rows [][]string
		for _, u := range m.byWorkload() {
			row := []string{percent(u[0].Share), analysis.Grouped(int64(u[0].Length))}
			for _, c := range some {
				row = append(row, m.picture(u, c))
			}
			rows = append(rows, row)
		}
		list = append(list, report.Columns(heads, 0, rows))
	}
	return list
}

// byWorkload returns the cells of each workload.
func (m *Map) byWorkload() [][]Cell {
	return slices.Collect(slices.Chunk(m.Cells, len(m.Grid.Budgets)*len(m.Grid.Loads)))
}

// picture is what of becomes of the cells of one workload: a group for each budget,
// in it a mark for each load.
func (m *Map) picture(cells []Cell, of column) string {
	var groups []string
	for b := range m.Grid.Budgets {
		var marks []byte
		for i := b; i < len(cells); i += len(m.Grid.Budgets) {
			c := &cells[i]
			d, _ := of.of(c)
			if c.Before || c.Overloaded {
				marks = append(marks, '!')
				continue
			}
			marks = append(marks, mark(d))
		}
		groups = append(groups, string(marks))
	}
	return strings.Join(groups, " ")
}

// percent writes a share in per cent, with what digits it needs.
func percent(share float64) string {
	return strconv.FormatFloat(math.Round(share*1e6)/1e4, 'f', -1, 64) + " %"
}

// kindsOfChange are the marks of a map, in the order of tally.
const kindsOfChange = "+-=?!"

// tally counts the cells of each kind of change, and returns the median change of
// those that aren't in an overload.
func (m *Map) tally(of column) (n [len(kindsOfChange)]int64, middle float64) {
	var changes []float64
	for i := range m.Cells {
		c := &m.Cells[i]
		d, by := of.of(c)
		k := strings.IndexByte(kindsOfChange, mark(d))
		if c.Before || c.Overloaded {
			k = strings.IndexByte(kindsOfChange, '!')
		} else if !math.IsNaN(by) {
			changes = append(changes, by)
		}
		n[k]++
	}
	return n, median(changes)
}

// totals returns a table of how many cells are of each kind.
func (m *Map) totals() string {
	heads := []string{"change", "better", "worse", "same", "too close to call", "in an overload", "median change"}
	var rows [][]string
	for _, col := range m.columns() {
		n, middle := m.tally(col)
		row := []string{col.title}
		for _, k := range n {
			row = append(row, analysis.Grouped(k))
		}
		rows = append(rows, append(row, signedPercent(middle)))
	}
	return report.Columns(heads, 1, rows)
}

// short says in a sentence how many cells are better and worse.
func (m *Map) short() string {
	var parts []string
	calm := int64(0)
	for _, col := range m.columns() {
		n, _ := m.tally(col)
		calm = n[0] + n[1] + n[2] + n[3]
		parts = append(parts, fmt.Sprintf("%s better in %s and worse in %s", col.title, analysis.Grouped(n[0]), analysis.Grouped(n[1])))
	}
	return fmt.Sprintf("of %s without an overload, chunked prefill makes %s", analysis.Counted(calm, "cell"), strings.Join(parts, "; "))
}

// median returns the median of list, NaN of nothing.
func median(list []float64) float64 {
	n := len(list)
	if n == 0 {
		return math.NaN()
	}
	list = slices.Sorted(slices.Values(list))
	return (list[(n-1)/2] + list[n/2]) / 2
}

// signedPercent writes a share in per cent with its sign, nothing of NaN.
func signedPercent(share float64) string {
	if math.IsNaN(share) {
		return ""
	}
	text := strconv.FormatFloat(100*share, 'f', 1, 64) + " %"
	if share > 0 {
		return "+" + text
	}
	return text
}

// list joins words with commas.
func list[T any](items []T, word func(T) string) string {
	var words []string
	for _, x := range items {
		words = append(words, word(x))
	}
	return strings.Join(words, ", ")
}

// grouped is analysis.Grouped of any integer.
func grouped(n int32) string { return analysis.Grouped(int64(n)) }

// describe says what m is of, in a sentence.
func (m *Map) describe() string {
	g := &m.Grid
	return fmt.Sprintf("chunked prefill with budgets of %s tokens against none, on the same requests: %s of the prompts are long, of %s tokens; loads are %s of the capacity; %s a run, %d seeds",
		list(g.Budgets, grouped), list(g.Shares, percent), list(g.Lengths, grouped), list(g.Loads, percent), analysis.Counted(g.Requests, "request"), g.Seeds)
}

// legend says how to read a map.
func (m *Map) legend() string {
	g := &m.Grid
	return fmt.Sprintf("+ better than without chunking, - worse, = changed by less than 1 %%, ? too close to call, ! a queue that grows without end; by 95 %% intervals of the difference over seeds. A group of marks is a budget, %s; in it are the loads, %s",
		list(g.Budgets, grouped), list(g.Loads, percent))
}

// Write writes the map for people. The only errors are those of w.
func (m *Map) Write(w io.Writer) error {
	var b strings.Builder
	for _, f := range m.Plan.Facts() {
		if f.Name == "Scenario" || f.Name == "Machine" {
			b.WriteString(report.Item(f.Name, f.Text))
		}
	}
	b.WriteString(report.Item("Map", m.describe()) + "\n")
	for _, p := range m.pictures() {
		b.WriteString(p + "\n")
	}
	b.WriteString(report.Item("marks", m.legend()) + "\n")
	b.WriteString(m.totals() + "\n" + report.Item("in short", m.short()) + "\n")
	b.WriteString(m.ruleTable() + "\n")
	for _, s := range m.ruleWords() {
		b.WriteString(report.Item(s[0], s[1]))
	}
	if t := m.exceptionTable(); t != "" {
		b.WriteString("\n" + t)
	}
	_, err := io.WriteString(w, b.String())
	return err
}
