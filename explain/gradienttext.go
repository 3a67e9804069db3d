package explain

import (
	"fmt"
	"io"
	"math"
	"strconv"
	"strings"

	"servesim/analysis"
	"servesim/report"
)

// sure is the character after a change that says how sure it is.
func sure(d analysis.Direction) string {
	switch mark(d) {
	case '=':
		return "="
	case '?':
		return "?"
	}
	return " "
}

// relative writes the change of a latency as a share of the base, with how sure it
// is.
func relative(c *analysis.Change) string {
	if c.Name == "" || c.Base == 0 {
		return "none "
	}
	by := 100 * float64(c.Difference()) / float64(c.Base)
	digits := 1
	if math.Abs(by) >= 9.95 {
		digits = 0
	}
	text := strconv.FormatFloat(by, 'f', digits, 64)
	if by > 0 {
		text = "+" + text
	}
	return text + "%" + sure(c.Direction)
}

// pointsOf writes the change of a share in percentage points, with how sure it is.
func pointsOf(g *analysis.ShareChange) string {
	if g == nil {
		return ""
	}
	text := strconv.FormatFloat(100*(g.Run-g.Base), 'f', 2, 64)
	if g.Run > g.Base {
		text = "+" + text
	}
	return text + sure(g.Direction)
}

// heads returns the heads of the columns of a gradient, in two rows.
func (g *Gradient) heads() [][]string {
	above, below := []string{"change"}, []string{""}
	for _, i := range gradientStatistics() {
		at, name, _ := strings.Cut(g.Statistics[i].Title(), " ")
		above, below = append(above, at+" "), append(below, strings.TrimPrefix(name, "worst ")+" ")
	}
	if g.limited() {
		above, below = append(above, "good- "), append(below, "put ")
	}
	return [][]string{above, below}
}

// limited tells whether the scenario says which requests are good.
func (g *Gradient) limited() bool { return g.Result.Report.Goodput != nil }

// rows returns a row for the scenario as it is, and one for each knob.
func (g *Gradient) rows() (rows [][]string) {
	last := ""
	for i := range g.Knobs {
		k := &g.Knobs[i]
		if k.Reason != "" {
			continue
		}
		if rows == nil {
			rows = append(rows, g.base(k))
		}
		key, value, _ := strings.Cut(k.Name, " ")
		if key != last {
			rows, last = append(rows, []string{key}), key
		}
		row := []string{"  " + value}
		if k.Overloaded {
			row[0] += " !"
		}
		for _, s := range gradientStatistics() {
			row = append(row, relative(&k.Changes[s]))
		}
		if g.limited() {
			row = append(row, pointsOf(k.Goodput))
		}
		rows = append(rows, row)
	}
	return rows
}

// base is the row of the scenario as it is.
func (g *Gradient) base(k *KnobChange) []string {
	row := []string{"none, ms"}
	for _, s := range gradientStatistics() {
		row = append(row, report.Number(k.Changes[s].Base.Milliseconds())+" ")
	}
	if k.Goodput != nil {
		row = append(row, strconv.FormatFloat(100*k.Goodput.Base, 'f', 1, 64)+"% ")
	}
	return row
}

// how says what the figures rest on.
func (g *Gradient) how() string {
	if g.Seeds == 1 {
		return "one run of each on the requests of the trace; intervals follow requests through both runs, and those of ITL take the runs as independent"
	}
	first := *g.Plan.Scenario.Seed
	return fmt.Sprintf("means of %d runs, seeds %d to %d, the same requests under each change; intervals are of the differences by seed", g.Seeds, first, first+uint64(g.Seeds)-1)
}

// Write writes the gradient for people. The only errors are those of w.
func (g *Gradient) Write(w io.Writer) error {
	var b strings.Builder
	for _, f := range g.Result.Facts() {
		b.WriteString(report.Fold(fmt.Sprintf("%-*s%s", report.Hang, f.Name, f.Text), report.Hang) + "\n")
	}
	b.WriteString("\n" + report.Columns(nil, 1, append(g.heads(), g.rows()...)) + "\n")
	b.WriteString(report.Item("changes", "in per cent of what is without a change, of goodput in percentage points; gap is the worst gap of an answer. "+strings.ToUpper(g.how()[:1])+g.how()[1:]+"; without a mark the 95 % interval leaves out 0, = it has 0 or the change is below 1 %, ? too close to call, ! the queue grows without end"))
	for i := range g.Knobs {
		if k := &g.Knobs[i]; k.Reason != "" {
			b.WriteString(report.Item("left out", k.Name+": "+strings.ReplaceAll(k.Reason, "\n", "; ")))
		}
	}
	_, err := io.WriteString(w, b.String())
	return err
}
