package sweep

import (
	"fmt"
	"math"
	"strings"

	"servesim/analysis"
	"servesim/report"
	"servesim/scenario"
)

// seedKey is the key in which points may differ by luck alone.
const seedKey = "seed"

// A pool is the rows of points that differ in nothing but their seeds.
type pool []Row

// interval returns the mean of column k with its interval.
func (p pool) interval(k int) analysis.Rate {
	values := make([]float64, len(p))
	for i := range p {
		values[i] = p[i].at(k)
	}
	return analysis.RateOf(values)
}

// seeds returns the table with a row for all points that differ in nothing but
// their seeds: the means of their columns, under the number of the first of them.
// Points that all have one seed stay as they are.
func (t *Table) seeds() *Table {
	seeded := false
	for _, a := range t.Axes {
		seeded = seeded || a.Key == seedKey && t.differ(a)
	}
	if !seeded {
		return t
	}
	out := &Table{}
	for _, a := range t.Axes {
		if a.Key != seedKey {
			out.Axes = append(out.Axes, a)
		}
	}
	at := map[string]int{}
	for i, row := range t.Rows {
		var parts []string
		for _, s := range t.Points[i].Settings {
			if s.Key != seedKey {
				parts = append(parts, s.Key+"="+scenario.ValueText(s.Value))
			}
		}
		key := strings.Join(parts, "\n")
		k, ok := at[key]
		if !ok {
			k = len(out.Points)
			at[key] = k
			out.Points, out.Rows, out.pooled = append(out.Points, t.Points[i]), append(out.Rows, Row{}), append(out.pooled, nil)
		}
		out.pooled[k] = append(out.pooled[k], row)
	}
	for k := range out.Rows {
		out.Rows[k] = out.pooled[k].mean()
	}
	return out
}

// mean returns the means of the columns, of states the greatest; a pool with a row that could not be
// simulated has none.
func (p pool) mean() Row {
	for _, r := range p {
		if r.Reason != "" {
			return r
		}
	}
	row := Row{Values: make([]float64, len(Columns()))}
	for k, c := range Columns() {
		if c.Words != nil {
			row.Values[k] = p.worst(k)
		} else {
			row.Values[k] = p.interval(k).Mean
		}
	}
	return row
}

// worst returns the greatest value of column k, NaN if a row has no data.
func (p pool) worst(k int) float64 {
	worst := 0.0
	for i := range p {
		worst = max(worst, p[i].at(k))
	}
	return worst
}

// plusMinus writes how far the 95 % interval of column k reaches to either side of
// the mean of row i, nothing if there is none.
func (t *Table) plusMinus(i, k int) string {
	r := t.pooled[i].interval(k)
	if !r.OK {
		return "-"
	}
	return report.Number((r.Hi - r.Lo) / 2)
}

// saySeeds says how rows are pooled, or nothing if they aren't.
func (t *Table) saySeeds() string {
	if t.pooled == nil {
		return ""
	}
	fewest, most := math.MaxInt, 0
	for _, p := range t.pooled {
		fewest, most = min(fewest, len(p)), max(most, len(p))
	}
	n := fmt.Sprint(fewest)
	if most > fewest {
		n = fmt.Sprintf("%d to %d", fewest, most)
	}
	text := "; each line is the mean over " + n + " seeds"
	if most >= analysis.FewestReplications {
		return text + ", ± its 95 % interval"
	}
	return text + fmt.Sprintf(", too few for an interval: that takes %d", analysis.FewestReplications)
}
