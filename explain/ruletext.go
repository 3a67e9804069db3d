package explain

import (
	"fmt"
	"strings"

	"servesim/analysis"
	"servesim/report"
)

// A score is how often a rule of one statistic was right.
type score struct {
	of                               int
	beyond                           float64
	told, right, plainTold, plainYes int64
	boundary, unclear                int64
	exceptions                       []exception
}

// An exception is a cell in which the simulation went another way.
type exception struct {
	cell *Cell
	rule *Rule
}

// scores returns those of the rules over the cells without overload.
func (m *Map) scores() (list []score) {
	for i, r := range ruled() {
		s := score{of: r.Of, beyond: r.Beyond}
		for k := range m.Cells {
			c := &m.Cells[k]
			if c.Before || c.Overloaded {
				continue
			}
			s.count(c, &c.Rules[i])
		}
		list = append(list, s)
	}
	return list
}

// count counts one cell.
func (s *score) count(c *Cell, r *Rule) {
	if r.Found == analysis.Unclear {
		s.unclear++
		return
	}
	if r.Plain != analysis.Unclear {
		s.plainTold++
		if sign(r.Plain) == sign(r.Found) {
			s.plainYes++
		}
	}
	switch {
	case r.Predicted == analysis.Unclear:
		s.boundary++
	case sign(r.Predicted) == sign(r.Found):
		s.told++
		s.right++
	default:
		s.told++
		s.exceptions = append(s.exceptions, exception{c, r})
	}
}

// ruleTable is a table of how often the rules were right.
func (m *Map) ruleTable() string {
	heads := []string{"rule", "boundary", "foretold", "right", "at the boundary", "too close to call", "every prompt counted", "right"}
	var rows [][]string
	for _, s := range m.scores() {
		row := []string{Statistics()[s.of].Title(), percent(s.beyond)}
		for _, n := range []int64{s.told, s.right, s.boundary, s.unclear} {
			row = append(row, analysis.Grouped(n))
		}
		if s.of == gap99 { // whose rule knows no other
			rows = append(rows, append(row, "", ""))
			continue
		}
		rows = append(rows, append(row, analysis.Grouped(s.plainTold), analysis.Grouped(s.plainYes)))
	}
	return report.Columns(heads, 1, rows)
}

// ruleText says the rule.
const ruleText = "Over the budget is a step of the budget's tokens or more, or with a part of a prompt longer than the budget. " +
	"Without chunking, gaps beside such steps last as long as whole prompts; with it, more gaps are beside such steps and none lasts longer than the budget takes. " +
	"A percentile that leaves 1 % (0.1 %) beyond it gets better if without chunking 1 % (0.1 %) of the gaps or more are beside steps over the budget, " +
	"worse if only with chunking so many are, and stays the same if even then fewer are, but for what chunks leave to other gaps of the share beyond it. For the worst gap, the shares are of answers."

// boundaryText says what isn't foretold.
const boundaryText = "seeds lie on both sides of the boundary, so nothing is foretold; too close to call: the interval of the change holds 0 and more than 1 % of the base"

// ruleWords are items about the rules: what they say, and how they failed.
func (m *Map) ruleWords() (items [][2]string) {
	items = append(items, [2]string{"rule", ruleText}, [2]string{"at boundary", boundaryText})
	kinds := map[[2]analysis.Direction]int64{}
	var order [][2]analysis.Direction
	for _, s := range m.scores() {
		for _, e := range s.exceptions {
			k := [2]analysis.Direction{e.rule.Predicted, e.rule.Found}
			if kinds[k]++; kinds[k] == 1 {
				order = append(order, k)
			}
		}
	}
	if len(order) == 0 {
		return append(items, [2]string{"exceptions", "none"})
	}
	return append(items, [2]string{"exceptions", list(order, func(k [2]analysis.Direction) string {
		return fmt.Sprintf("%s foretold %s and found %s", analysis.Grouped(kinds[k]), k[0], k[1])
	}) + "; without chunking (off) and with it (on) are the share over the budget, in per cent, and the percentile; rule is the mark foretold"})
}

// exceptionTable is a table of the cells in which a rule failed, "" if there are none.
func (m *Map) exceptionTable() string {
	heads := []string{"exception", "long", "tokens", "load", "budget", "% off", "% on", "rule", "is", "off, ms", "on, ms"}
	var rows [][]string
	for _, s := range m.scores() {
		for _, e := range s.exceptions {
			c, r := e.cell, e.rule
			ch := &c.Changes[r.Of]
			rows = append(rows, []string{
				strings.Replace(Statistics()[r.Of].Title(), "worst ", "", 1), percent(c.Share), grouped(c.Length), percent(c.Load), grouped(c.Budget),
				fmt.Sprintf("%.2f", 100*r.Off), fmt.Sprintf("%.2f", 100*r.On), string(mark(r.Predicted)), string(mark(r.Found)),
				report.Number(ch.Base.Milliseconds()), report.Number(ch.Run.Milliseconds()),
			})
		}
	}
	if rows == nil {
		return ""
	}
	return report.Columns(heads, 1, rows)
}
