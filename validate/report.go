package validate

import (
	"cmp"
	"math"
	"slices"
)

// Report is what all rows together say.
type Report struct {
	// Lines are those of every row.
	Lines []Line
	// Splits are the summaries of the splits that have rows.
	Splits []SplitReport
	// Notes are the rules that filled in what sources leave open, with the
	// number of rows, most first.
	Notes []Count
}

// SplitReport is what the rows of one split say.
type SplitReport struct {
	Split Split
	// Rows is the number of rows, Simulated that of those that were simulated, and
	// Saturated that of those of them that were saturated.
	Rows, Simulated, Saturated int
	// Skipped are the reasons of the rows that were not, most frequent first.
	Skipped []Count
	// Figures are the reasons of figures of simulated rows that are left out, with
	// the number of figures.
	Figures []Count
	// Cells are the error tables, by grouping.
	Cells map[By][]Cell
	// Worst are the lines with the largest absolute errors, largest first.
	Worst []Line
}

// Count is a number of rows.
type Count struct {
	// What they have in common.
	What string
	N    int
}

// worstLines is the number of worst lines that are told.
const worstLines = 10

// NewReport sums results up.
func NewReport(results []RowResult) *Report {
	r := &Report{Lines: Lines(results)}
	notes := map[string]int{}
	for _, s := range Splits() {
		p := SplitReport{Split: s, Cells: map[By][]Cell{}}
		skipped := map[string]int{}
		for i := range results {
			row := &results[i]
			if row.Row.Split != s {
				continue
			}
			p.Rows++
			if row.Skipped != "" {
				skipped[row.Skipped]++
				continue
			}
			p.Simulated++
			if row.Saturated {
				p.Saturated++
			}
			for _, n := range row.Notes {
				notes[n]++
			}
		}
		if p.Rows == 0 {
			continue
		}
		lines := slices.DeleteFunc(slices.Clone(r.Lines), func(l Line) bool { return l.Row.Split != s })
		for _, b := range Groupings() {
			p.Cells[b] = Cells(lines, b)
		}
		figures := map[string]int{}
		for i := range lines {
			if why := lines[i].Skipped; why != "" && skipped[why] == 0 {
				figures[why]++
			}
		}
		p.Skipped, p.Figures, p.Worst = counts(skipped), counts(figures), worst(lines)
		r.Splits = append(r.Splits, p)
	}
	r.Notes = counts(notes)
	return r
}

// counts returns the entries of m, most first, then by name.
func counts(m map[string]int) []Count {
	out := make([]Count, 0, len(m))
	for what, n := range m {
		out = append(out, Count{what, n})
	}
	slices.SortFunc(out, func(a, b Count) int { return cmp.Or(b.N-a.N, cmp.Compare(a.What, b.What)) })
	return out
}

// worst returns the lines with the largest errors.
func worst(lines []Line) []Line {
	lines = slices.DeleteFunc(lines, func(l Line) bool { return l.Skipped != "" })
	slices.SortStableFunc(lines, func(a, b Line) int { return cmp.Compare(math.Abs(b.Error()), math.Abs(a.Error())) })
	return lines[:min(len(lines), worstLines)]
}
