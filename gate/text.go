package gate

import (
	"fmt"
	"io"
	"slices"
	"strconv"
	"strings"

	"servesim/analysis"
	"servesim/report"
	"servesim/scenario"
)

// Text writes o for people. The only errors are those of w.
func (o *Outcome) Text(w io.Writer) error {
	var b strings.Builder
	for _, i := range o.facts() {
		b.WriteString(report.Item(i[0], i[1]))
	}
	b.WriteString("\n" + report.Columns(o.checkHeads(), 2, o.checkRows()) + "\n")
	b.WriteString(report.Columns(o.loadHeads(), 1, o.loadRows()) + "\n")
	heads, rows := o.latencyTable()
	b.WriteString(report.Columns(heads, 2, rows) + "\n")
	if heads, rows := o.toolTable(); rows != nil {
		b.WriteString(report.Columns(heads, 2, rows) + "\n")
	}
	b.WriteString(report.Item("Fall", o.fallText()))
	b.WriteString(report.Item("Verdict", o.verdictText()))
	b.WriteString(report.Item("Next", "measure "+o.Advice))
	_, err := io.WriteString(w, b.String())
	return err
}

// facts says what was judged, by what, and with which cautions.
func (o *Outcome) facts() [][2]string {
	g := o.Gate
	list := [][2]string{
		{"Gate", fmt.Sprintf("%s (%s): class %s, %s at %s", g.Name, g.File, g.Class.Name, g.Class.limit(), g.targetText())},
		{"Limits", fmt.Sprintf("%s (from %s)", g.SLO.Goodput, g.From)},
		{"Runs", o.runsText()},
		{"Dialect", fmt.Sprintf("%s, version %s", g.Dialect.Tool, g.Version)},
	}
	for _, f := range o.ran() {
		list = append(list, [2]string{f.Name, f.Text})
	}
	for _, n := range g.Notes {
		list = append(list, [2]string{"Note", n})
	}
	for _, c := range o.Cautions {
		list = append(list, [2]string{"Caution", c})
	}
	return list
}

// ran says what was simulated at the target.
func (o *Outcome) ran() []scenario.Fact {
	if o.Measured {
		return nil
	}
	p := o.Gate.plan
	var list []scenario.Fact
	for _, w := range p.Scenario.Workload.Parts() {
		if w.Trace != "" {
			list = append(list, scenario.Fact{Name: "Trace", Text: w.Trace})
		}
	}
	return append(list, slices.DeleteFunc(p.Facts(), func(f scenario.Fact) bool {
		return !slices.Contains([]string{"Workload", "Engine", "Pool", "Machine"}, f.Name)
	})...)
}

// runsText says how many runs there are, and where they are from.
func (o *Outcome) runsText() string {
	least, most, requests := len(o.Rows[0].Shares), 0, int64(0)
	for i := range o.Rows {
		n := len(o.Rows[i].Shares)
		least, most, requests = min(least, n), max(most, n), requests+o.Rows[i].Pool.Requests
	}
	many := strconv.Itoa(least)
	if most > least {
		many += " to " + strconv.Itoa(most)
	}
	text := fmt.Sprintf("%s at each of %s, with %s in all", many, o.Gate.sweepText(), analysis.Counted(requests, "request"))
	if o.Measured {
		return "measured: " + text
	}
	if w := o.Gate.width; w > 0 {
		return fmt.Sprintf("simulated: %s; each run is a window of %s s of the trace, one after another", text, report.Number(w.Seconds()))
	}
	return fmt.Sprintf("simulated: %s; seeds %d to %d at each", text, o.Gate.seed, o.Gate.seed+uint64(o.Gate.Runs)-1)
}

// checkHeads are the heads of checkRows.
func (o *Outcome) checkHeads() []string {
	return []string{"Limit at 100 %", "verdict", "found", "from", "to"}
}

// checkRows are the limits at the target.
func (o *Outcome) checkRows() [][]string {
	var rows [][]string
	for i := range o.Checks {
		c := &o.Checks[i]
		row := []string{c.Name, string(c.Judgement), c.Found()}
		if c.Known {
			row = append(row, c.text(c.Lo), c.text(c.Hi))
		}
		rows = append(rows, row)
	}
	return rows
}

// loadHeads are the heads of loadRows.
func (o *Outcome) loadHeads() []string {
	heads := []string{"Load", "", "runs", "goodput", "from", "to", "requests/s", "tokens/s"}
	return append(heads, "limit that most missed")
}

// loadRows are the loads, a row each.
func (o *Outcome) loadRows() [][]string {
	var rows [][]string
	for i := range o.Rows {
		r := &o.Rows[i]
		row := []string{r.Level.Title, r.Level.Load(), strconv.Itoa(len(r.Shares)), percent(r.Pool.Share), "", "", "", "", "none"}
		if s := &r.Pool.ShareInterval; s.OK {
			row[4], row[5] = percent(s.Lo), percent(s.Hi)
		}
		if r.Clock {
			row[6], row[7] = report.Number(r.Pool.RequestsPerSecond.Mean), report.Number(r.Pool.OutputPerSecond.Mean)
		}
		if r.Binding >= 0 {
			row[8] = o.Gate.SLO.Goodput[r.Binding].String()
		}
		rows = append(rows, row)
	}
	return rows
}

// latencyTable has the percentiles of every metric at every load, by servesim's
// definitions, of all runs together, and the intervals at the target.
func (o *Outcome) latencyTable() (heads []string, rows [][]string) {
	at := o.row(strconv.Itoa(target))
	heads = []string{"Latency, ms", ""}
	for i := range o.Rows {
		heads = append(heads, o.Rows[i].Level.Title)
	}
	heads = append(heads, "100 % from", "to")
	for k, m := range at.Pool.Metrics {
		for p, q := range o.Gate.Percentiles {
			row := []string{"", q.String()}
			if p == 0 {
				row[0] = m.Name
			}
			for i := range o.Rows {
				row = append(row, quantile(&o.Rows[i].Pool.Metrics[k], p))
			}
			if m.OK && m.Quantiles[p].Interval.OK {
				row = append(row, report.Number(m.Quantiles[p].Interval.Lo.Milliseconds()), report.Number(m.Quantiles[p].Interval.Hi.Milliseconds()))
			}
			rows = append(rows, row)
		}
	}
	return heads, rows
}

// quantile writes percentile p of m.
func quantile(m *analysis.Metric, p int) string {
	if !m.OK {
		return "no data"
	}
	return report.Number(m.Quantiles[p].Value.Milliseconds())
}

// toolTable has what the dialect's tool says of a run at the target, nil if that is
// servesim's own table.
func (o *Outcome) toolTable() (heads []string, rows [][]string) {
	g := o.Gate
	if g.Dialect.Name == "servesim" {
		return nil, nil
	}
	heads = []string{"As " + g.Dialect.Name + " says at 100 %", "unit"}
	for _, p := range g.Percentiles {
		heads = append(heads, p.String(), "+-")
	}
	for _, f := range o.row(strconv.Itoa(target)).Figures {
		row := []string{f.Label, f.Unit}
		if f.Need != "" {
			rows = append(rows, append(row, "no data"))
			continue
		}
		for _, v := range f.Values {
			half := ""
			if v.OK {
				half = report.Number((v.Hi - v.Lo) / 2)
			}
			row = append(row, report.Number(v.Mean), half)
		}
		rows = append(rows, row)
	}
	return heads, rows
}

// fallText says by how much goodput falls beyond the target.
func (o *Outcome) fallText() string {
	f := &o.Fall
	points := report.Number(f.Points)
	text := fmt.Sprintf("goodput at %d %% is %s points below that at %d %%", beyond, points, target)
	if f.Points < 0 {
		text = fmt.Sprintf("goodput at %d %% is no less than at %d %%", beyond, target)
	}
	if f.Known {
		text += fmt.Sprintf(" (%s to %s)", report.Number(f.Lo), report.Number(f.Hi))
	}
	if f.Flagged {
		return text + fmt.Sprintf("; FLAGGED: more than %d", LargestFall)
	}
	return text
}

// verdictText says the verdict and what it follows from.
func (o *Outcome) verdictText() string {
	var names []string
	for _, c := range o.Checks {
		if c.Judgement == o.Verdict && o.Verdict != analysis.Pass {
			names = append(names, c.Name)
		}
	}
	if o.Verdict == analysis.Pass {
		return "PASS"
	}
	return string(o.Verdict) + ": " + strings.Join(slices.Compact(names), "; ")
}
