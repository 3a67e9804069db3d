package figure

// Stalls returns the picture of what chunked prefill does to the tail, and why: for
// each run the gaps between tokens over time, coloured by the prompt that made them
// long, and beside it, on the same axis of gaps, how many gaps are longer than each.
// Lines mark P99, P99.9 and the worst gap on both, so that it shows which of the few
// long or the many short ones each falls among.
func Stalls(runs []Run) *Figure {
	f := Timeline(runs)
	f.Kind, f.Title = "stalls", "Gaps between tokens: when, whose prompt made them long, and how many"
	f.Columns, f.Widths = 2, []float64{2, 1}
	var panels []Panel
	least := 100.0
	next := 0
	for i := range runs {
		r := &runs[i]
		if r.History == nil {
			continue
		}
		left := f.Panels[next]
		next++
		d := r.distribution(ITL)
		right := Panel{
			X:     Axis{Label: "share of gaps that are longer", Unit: "%", Scale: Log, Max: 100},
			Y:     left.Y,
			Marks: left.Marks,
		}
		if d.OK {
			s := distribution(r.Latencies.of(ITL).Buckets(), d.Count, true)
			s.Role, s.Index = RoleRun, i
			s.X, s.Y = s.Y, s.X
			for _, x := range s.X {
				least = min(least, x)
			}
			right.Series = []Series{s}
		}
		panels = append(panels, left, right)
	}
	for i := range panels {
		if i%2 == 1 {
			panels[i].X.Min = min(least, 10)
		}
	}
	f.Panels = panels
	return f.complete()
}
