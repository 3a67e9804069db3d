package main

import (
	"slices"

	"servesim/analysis"
	"servesim/report"
	"servesim/report/page"
	"servesim/scenario"
)

// writePage writes the page of runs that are compared, if they were seen for one.
func (o *compareOptions) writePage(c *analysis.Comparison, results []*scenario.Result, seen []*watcher) error {
	if seen == nil {
		return nil
	}
	common, own := commonFacts(results)
	var runs []page.Run
	for i, r := range results {
		run, err := seen[i].run(o.labels[i], r.Report, r.Plan.SLO, own[i])
		if err != nil {
			return err
		}
		run.Prompts = r.Plan.Prompts()
		runs = append(runs, run)
	}
	var plans []*scenario.Plan
	for _, r := range results {
		plans = append(plans, r.Plan)
	}
	if caution := scenario.FittedCaution(plans, o.labels); caution != "" {
		common = append(common, scenario.Fact{Name: "Caution", Text: caution})
	}
	p, err := page.OfComparison(&page.Content{
		Draw: drawStill, Title: titleOf(results[0].Plan), Runs: runs, Facts: pageFacts(common), Blocks: report.Blocks(&report.Document{Comparison: c}),
	}, c)
	if err != nil {
		return err
	}
	return o.html.write(p)
}

// commonFacts divides the facts of results into what is common to all, and what is
// each one's own.
func commonFacts(results []*scenario.Result) (common []scenario.Fact, own [][]scenario.Fact) {
	var all [][]scenario.Fact
	for _, r := range results {
		all = append(all, r.Facts())
	}
	shared := func(f scenario.Fact) bool {
		return !slices.ContainsFunc(all, func(list []scenario.Fact) bool { return !slices.Contains(list, f) })
	}
	common = slices.DeleteFunc(slices.Clone(all[0]), func(f scenario.Fact) bool { return !shared(f) })
	for _, list := range all {
		own = append(own, slices.DeleteFunc(slices.Clone(list), shared))
	}
	return common, own
}
