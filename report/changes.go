package report

import (
	"fmt"
	"strconv"

	"servesim/analysis"
	"servesim/sim"
)

// changes is a table of what changed between two runs, with what chance makes
// of it, and how much would settle what is unclear.
func (p *page) changes(c *analysis.Comparison, d *analysis.Paired) {
	if len(d.Changes) == 0 {
		return
	}
	p.changeTable(c.Runs[d.Base].Name, c.Runs[d.Run].Name, d.Changes, d.Goodput)
	if d == &c.Paired[0] {
		p.item("verdict", verdictWords+"Intervals follow requests through both runs and count neighbours as one batch; those of ITL take the runs as independent", "n", "values")
	}
	p.line("")
}

// verdictWords says what the verdicts of changes mean, of so many things.
const verdictWords = "better, worse: the interval leaves out 0; slightly: and lies within 1 %% of the base; same: it has 0 and lies within 1 %% of the base; " +
	"unclear below %s: about so many %s would tell. "

// changeTable is a table of changes between two runs, of a name each.
func (p *page) changeTable(base, run string, changes []analysis.Change, g *analysis.ShareChange) {
	p.line("%s", Fold(fmt.Sprintf("Change from %s to %s, ms, with its 95 %% interval", base, run), 2))
	t := table{left: 2}
	t.add("", "", "base", "change", "from", "to", "")
	width := 0
	for i := range changes {
		width = max(width, len(verdictOf(&changes[i])))
	}
	last := ""
	for i := range changes {
		ch := &changes[i]
		name := ""
		if ch.Name != last {
			name, last = "  "+ch.Name, ch.Name
		}
		row := []string{name, ch.Statistic, milliseconds(ch.Base), signed(ch.Difference())}
		if ch.Interval.OK {
			row = append(row, signed(ch.Interval.Lo), signed(ch.Interval.Hi))
		} else {
			row = append(row, "", "")
		}
		t.add(append(row, fmt.Sprintf("%-*s", width, verdictOf(ch)))...)
	}
	if g != nil {
		row := []string{"  goodput", "share", Percent(g.Base), points(g.Run - g.Base), "", ""}
		if g.Interval.OK {
			row[4], row[5] = points(g.Interval.Lo), points(g.Interval.Hi)
		}
		t.add(append(row, fmt.Sprintf("%-*s", width, wayOf(g.Direction, g.Interval.Method, g.Settles)))...)
	}
	t.write(p)
}

// verdictOf says which way a change goes, or what would tell.
func verdictOf(c *analysis.Change) string { return wayOf(c.Direction, c.Interval.Method, c.Settles) }

// wayOf says a direction, or how many values or replications would tell it.
func wayOf(d analysis.Direction, by analysis.Method, settles int64) string {
	switch {
	case d == analysis.Unclear && settles > 0 && by == analysis.Replications:
		return "unclear below " + analysis.Counted(settles, "replication")
	case d == analysis.Unclear && settles > 0:
		return "unclear below n = " + analysis.Grouped(settles)
	}
	return string(d)
}

// points prints a difference of shares in percentage points (pp), with its sign.
func points(x float64) string {
	sign := ""
	if x > 0 {
		sign = "+"
	}
	return sign + strconv.FormatFloat(100*x, 'f', 2, 64) + " pp"
}

// signed prints d in milliseconds with its sign.
func signed(d sim.Duration) string {
	if d > 0 {
		return "+" + milliseconds(d)
	}
	return milliseconds(d)
}

// shareChangeObject is the change of goodput, or nil.
func shareChangeObject(g *analysis.ShareChange) any {
	if g == nil {
		return nil
	}
	return object{
		{"base", real(g.Base)}, {"run", real(g.Run)}, {"difference", real(g.Run - g.Base)},
		{"interval", shareIntervalObject(&g.Interval)}, {"verdict", string(g.Direction)}, {"settles_at_n", g.Settles},
	}
}

// changeObjects is changes as members of an array.
func changeObjects(list []analysis.Change) []object {
	out := []object{}
	for i := range list {
		c := &list[i]
		out = append(out, object{
			{"metric", c.Key}, {"statistic", c.Statistic}, {"base_ps", int64(c.Base)}, {"run_ps", int64(c.Run)},
			{"difference_ps", int64(c.Difference())}, {"interval", intervalObject(&c.Interval)}, {"paired", c.Paired},
			{"verdict", string(c.Direction)}, {"settles_at_n", c.Settles},
		})
	}
	return out
}

// intervalObject is a 95 % interval; what there is none of is null.
func intervalObject(i *analysis.Interval) object {
	o := object{{"method", string(i.Method)}, {"n_eff", real(i.Effective)}}
	if !i.OK {
		return append(append(o, object{{"lo_ps", nil}, {"hi_ps", nil}, {"needs_n", i.Needs}}...), withheldMember(&i.Evidence)...)
	}
	return append(o, object{{"lo_ps", int64(i.Lo)}, {"hi_ps", int64(i.Hi)}, {"needs_n", nil}}...)
}
