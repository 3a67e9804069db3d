package sweep

import (
	"cmp"
	"math"
	"slices"
	"strings"

	"servesim/internal/strict"
)

// Rank returns the indices of the rows from the best to the worst by the column
// called name, those without data last; rows that are equal stay in the order of
// the plan.
func (t *Table) Rank(name string) ([]int, error) {
	k, err := ordered(name)
	if err != nil {
		return nil, err
	}
	better := float64(Columns()[k].Better)
	list := make([]int, len(t.Rows))
	for i := range list {
		list[i] = i
	}
	slices.SortStableFunc(list, func(a, b int) int {
		x, y := t.Rows[a].at(k), t.Rows[b].at(k)
		if math.IsNaN(x) || math.IsNaN(y) {
			return compareBool(math.IsNaN(x), math.IsNaN(y))
		}
		return cmp.Compare(float64(better*y), float64(better*x))
	})
	return list, nil
}

// compareBool orders false before true.
func compareBool(a, b bool) int {
	switch {
	case a == b:
		return 0
	case a:
		return 1
	}
	return -1
}

// ordered returns the index of a column of which more or less is better.
func ordered(name string) (int, error) {
	var names []string
	for i, c := range Columns() {
		if c.Better == 0 {
			continue
		}
		if c.Name == name {
			return i, nil
		}
		names = append(names, c.Name)
	}
	if _, ok := column(name); ok {
		return 0, usagef("%q is neither better when it is more nor when it is less, so nothing can be ranked by it", name)
	}
	near, ok := strict.Nearest(name, names)
	if i := slices.IndexFunc(names, func(n string) bool { return name != "" && strings.HasPrefix(n, name) }); i >= 0 {
		near, ok = names[i], true
	}
	if ok {
		return 0, usagef("no column is called %q; did you mean %q?", name, near)
	}
	return 0, usagef("no column is called %q; servesim list columns shows them", name)
}

// Front returns the indices of the rows on the Pareto front of two columns: those
// than which no other is better in one and at least as good in the other. They
// come from the best to the worst by the first column. Of rows that are equal in
// both the first of the plan stands for all.
func (t *Table) Front(first, second string) ([]int, error) {
	b, err := ordered(second)
	if err != nil {
		return nil, err
	}
	a, err := ordered(first)
	if err != nil {
		return nil, err
	}
	columns := Columns()
	good := func(i, k int) float64 { return float64(float64(columns[k].Better) * t.Rows[i].at(k)) }
	var list []int
	for i := range t.Rows {
		if !math.IsNaN(good(i, a)) && !math.IsNaN(good(i, b)) {
			list = append(list, i)
		}
	}
	slices.SortStableFunc(list, func(i, j int) int {
		return cmp.Or(cmp.Compare(good(j, a), good(i, a)), cmp.Compare(good(j, b), good(i, b)))
	})
	var front []int
	best := math.Inf(-1)
	for _, i := range list {
		if g := good(i, b); g > best {
			front, best = append(front, i), g
		}
	}
	return front, nil
}

// defaultRank returns the column that ranks points if nobody says otherwise: good
// requests per second and GPU where there are limits, else output tokens per second
// and GPU.
func defaultRank(points []Point) string {
	if slices.ContainsFunc(points, func(pt Point) bool { return pt.limited }) {
		return "goodput_requests_per_s_per_gpu"
	}
	return "output_tokens_per_s_per_gpu"
}

// Ranked returns the column called name, or the one by which points are ranked if
// name is empty or no column, and its index in Columns.
func (s *Sweep) Ranked(name string) (int, Column) {
	k, err := ordered(name)
	if err != nil {
		k, _ = column(defaultRank(s.Points))
	}
	return k, Columns()[k]
}
