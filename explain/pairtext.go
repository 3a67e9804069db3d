package explain

import (
	"fmt"
	"io"
	"slices"
	"strings"

	"servesim/report"
	"servesim/scenario"
)

// common returns what is common to all of results: the scenario, workload and machine.
func common(results []*scenario.Result) (facts []scenario.Fact) {
	for _, f := range results[0].Facts() {
		if f.Name != "" && !slices.ContainsFunc(results, func(r *scenario.Result) bool { return !slices.Contains(r.Facts(), f) }) {
			facts = append(facts, f)
		}
	}
	return facts
}

// how says what the figures rest on.
func (p *Pairs) how() string {
	if p.Seeds == 1 {
		return "one run of each on the requests of the trace"
	}
	first := *p.Results[0].Plan.Scenario.Seed
	return fmt.Sprintf("means of %d runs, seeds %d to %d, the same requests under each scenario; verdicts are by 95 %% intervals of the differences by seed", p.Seeds, first, first+uint64(p.Seeds)-1)
}

// Write writes the pairs for people. The only errors are those of w.
func (p *Pairs) Write(w io.Writer) error {
	var b strings.Builder
	facts := append(common(p.Results), scenario.Fact{Name: "Figures", Text: p.how()})
	for i, r := range p.Results {
		for _, f := range r.Facts() {
			if f.Name == "Caution" && !slices.Contains(facts, f) {
				facts = append(facts, scenario.Fact{Name: f.Name, Text: p.Labels[i] + ": " + f.Text})
			}
		}
	}
	for _, f := range facts {
		b.WriteString(report.Item(f.Name, f.Text))
	}
	for i := range p.List {
		one := &p.List[i]
		b.WriteString("\n" + report.Fold(fmt.Sprintf("From %s to %s", one.Coarse, one.Fine), 2) + "\n")
		for _, s := range one.Sentences() {
			b.WriteString(report.Item(s.Name, s.Text))
		}
	}
	_, err := io.WriteString(w, b.String())
	return err
}
