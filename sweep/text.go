package sweep

import (
	"fmt"
	"io"
	"math"
	"reflect"
	"slices"
	"strings"

	"servesim/analysis"
	"servesim/report"
	"servesim/scenario"
)

// TextOptions say what Text prints.
type TextOptions struct {
	// RankBy is the column that ranks the points; if it is empty, good requests per
	// second and GPU where there are limits, else output tokens.
	RankBy string
	// Top is the most points of a list; 0 is all.
	Top int
	// Fronts are the pairs of columns whose Pareto fronts are printed.
	Fronts [][2]string
}

// Check returns a fault if o names a column that isn't there or isn't ordered.
func (o *TextOptions) Check() error {
	names := []string{}
	if o.RankBy != "" {
		names = append(names, o.RankBy)
	}
	for _, f := range o.Fronts {
		names = append(names, f[0], f[1])
	}
	for _, n := range names {
		if _, err := ordered(n); err != nil {
			return err
		}
	}
	return nil
}

// DefaultFronts returns what a GPU gets done against what a user gets, and cost
// against the slowest first tokens.
func DefaultFronts() [][2]string {
	return [][2]string{
		{"output_tokens_per_s_per_gpu", "output_tokens_per_s_per_user"},
		{"usd_per_million_output_tokens", "ttft_p99_ms"},
	}
}

// shownColumns are those of the ranked list, beside the one that ranks.
func shownColumns() []string {
	return []string{
		"output_tokens_per_s_per_gpu", "output_tokens_per_s_per_user", "goodput_share",
		"ttft_p99_ms", "tpot_p99_ms", "max_gap_p99_ms", "usd_per_million_output_tokens", "load_state",
	}
}

// Text prints the best points and the Pareto fronts.
func (t *Table) Text(w io.Writer, o TextOptions) error {
	by := o.RankBy
	if by == "" {
		by = defaultRank(t.Points)
	}
	all := t
	t = t.seeds()
	rank, err := t.Rank(by)
	if err != nil {
		return err
	}
	var b strings.Builder
	names := []string{by}
	for _, n := range shownColumns() {
		if n != by && t.any(n) {
			names = append(names, n)
		}
	}
	b.WriteString(report.Fold(fmt.Sprintf("Ranked by %s%s%s", by, most(o.Top, len(rank)), t.saySeeds()), 0) + "\n\n")
	b.WriteString(t.list(rank, names, o.Top))
	for _, f := range o.Fronts {
		front, err := t.Front(f[0], f[1])
		if err != nil {
			return err
		}
		if len(front) == 0 {
			continue // as of costs where no profile has a price
		}
		b.WriteString("\n" + report.Fold(fmt.Sprintf("Pareto front of %s and %s: no other point is better in one and as good in the other%s", f[0], f[1], most(o.Top, len(front))), 0) + "\n\n")
		b.WriteString(t.list(front, []string{f[0], f[1]}, o.Top))
	}
	b.WriteString(all.infeasible())
	_, err = io.WriteString(w, b.String())
	return err
}

// Describe says what a sweep is, and which files have its results.
func (s *Sweep) Describe(w io.Writer, t *Table, paths []string) error {
	var b strings.Builder
	axes := []string{}
	for _, a := range s.Plan.Axes {
		axes = append(axes, a.Key)
	}
	name := s.Plan.File
	if s.Plan.Name != "" {
		name += ", " + s.Plan.Name
	}
	b.WriteString(report.Item("Plan", fmt.Sprintf("%s: %s that differ in %s", name, analysis.Counted(int64(len(s.Points)), "point"), strings.Join(axes, ", "))))
	b.WriteString(report.Item("Scenario", orDefault(s.Plan.Base.Path)))
	if n := len(s.Points) - len(t.Points); n > 0 {
		b.WriteString(report.Item("Caution", fmt.Sprintf("%s not done yet, and left out here", analysis.Counted(int64(n), "point"))))
	}
	b.WriteString(report.Item("Results", strings.Join(paths, ", ")) + "\n")
	_, err := io.WriteString(w, b.String())
	return err
}

// most says that a list of n has only the first of them.
func most(top, n int) string {
	if top == 0 || n <= top {
		return ""
	}
	return fmt.Sprintf(", the first %s of %s", analysis.Grouped(int64(top)), analysis.Counted(int64(n), "point"))
}

// any tells whether a row has data in the column called name.
func (t *Table) any(name string) bool {
	k, _ := column(name)
	for _, r := range t.Rows {
		if !math.IsNaN(r.at(k)) {
			return true
		}
	}
	return false
}

// differ tells whether points have different values of an axis.
func (t *Table) differ(a Axis) bool {
	return slices.ContainsFunc(t.Points, func(pt Point) bool {
		return !reflect.DeepEqual(pt.value(a), t.Points[0].value(a))
	})
}

// list lays out rows, each with its number in the plan, its axes and some columns.
func (t *Table) list(rows []int, names []string, top int) string {
	if top > 0 && len(rows) > top {
		rows = rows[:top]
	}
	heads := []string{"point"}
	var axes []Axis // those in which the points do differ
	for _, a := range t.Axes {
		if t.differ(a) {
			axes, heads = append(axes, a), append(heads, a.shortName())
		}
	}
	banded := t.pooled != nil
	for i, n := range names {
		if heads = append(heads, n); i == 0 && banded {
			heads = append(heads, "±")
		}
	}
	columns := Columns()
	var cells [][]string
	for _, i := range rows {
		pt := &t.Points[i]
		line := []string{analysis.Grouped(int64(pt.Index + 1))}
		for _, a := range axes {
			text := "-"
			if v := pt.value(a); v != nil {
				text = scenario.ValueText(v)
			}
			line = append(line, text)
		}
		for j, n := range names {
			k, _ := column(n)
			x := t.Rows[i].at(k)
			word, state := columns[k].word(x)
			switch {
			case state:
				line = append(line, word)
			case columns[k].Whole && x == math.Trunc(x):
				line = append(line, analysis.Grouped(int64(x)))
			default:
				line = append(line, report.Number(x))
			}
			if j == 0 && banded {
				line = append(line, t.plusMinus(i, k))
			}
		}
		cells = append(cells, line)
	}
	return report.Columns(heads, 0, cells)
}

// infeasible says how many points could not be simulated, and why the first.
func (t *Table) infeasible() string {
	n, first := int64(0), ""
	for i, r := range t.Rows {
		if r.Reason == "" {
			continue
		}
		if n++; n == 1 {
			first = fmt.Sprintf("the first is point %d, %s: %s", t.Points[i].Index+1, t.Points[i].Name(), r.Reason)
		}
	}
	if n == 0 {
		return ""
	}
	return "\n" + report.Item("Infeasible", fmt.Sprintf("%s; %s", analysis.Counted(n, "point"), first))
}
