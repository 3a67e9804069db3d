package report

import (
	"io"

	"servesim/analysis"
)

// CompareJSON writes c for programs, in the form that JSON documents. Each run is
// whole, as JSON has it.
func CompareJSON(w io.Writer, c *analysis.Comparison, more ...Member) error {
	runs := []object{}
	for _, r := range c.Runs {
		runs = append(runs, append(object{{"name", r.Name}}, summaryMembers(r.Report)...))
	}
	pairs := []object{}
	for i := range c.Paired {
		pairs = append(pairs, pairedObject(c, &c.Paired[i]))
	}
	return writeJSON(w, append(object{
		{"schema", Schema}, {"kind", "servesim-comparison"}, {"runs", runs},
		{"paired_definition", "value of a request in run minus value of the same request in base, over requests completed in both; negative is better"},
		{"paired", pairs},
	}, more...))
}

// pairedObject is the differences between two runs.
func pairedObject(c *analysis.Comparison, d *analysis.Paired) object {
	differences := object{}
	for _, m := range d.Differences {
		differences = append(differences, Member{m.Key, append(
			object{{"name", m.Name}, {"better", m.Better}, {"equal", m.Equal}, {"worse", m.Worse}},
			distribution(&m.Distribution)...,
		)})
	}
	return object{
		{"base", c.Runs[d.Base].Name}, {"run", c.Runs[d.Run].Name},
		{"completed_in_both", d.Both}, {"only_in_base", d.OnlyBase}, {"only_in_run", d.OnlyRun},
		{"in_neither", d.Neither}, {"unmatched", d.Unmatched}, {"moved", d.Moved},
		{"differences", differences}, {"changes", changeObjects(d.Changes)}, {"goodput", shareChangeObject(d.Goodput)},
	}
}
