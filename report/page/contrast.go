package page

import (
	"fmt"
	"slices"
	"strings"

	"servesim/analysis"
	"servesim/report/figure"
	"servesim/sim"
)

// promptsOf says why gaps are long, and what each run does with prompts, empty unless
// that is known of all, differs, and the runs are few enough for a sentence.
func promptsOf(runs []Run) string {
	words := make([]string, 0, len(runs))
	for _, r := range runs {
		words = append(words, r.Name+" "+r.Prompts)
	}
	same := func(r Run) bool { return r.Prompts == runs[0].Prompts }
	if len(runs) > 3 || slices.ContainsFunc(runs, func(r Run) bool { return r.Prompts == "" }) || !slices.ContainsFunc(runs[1:], func(r Run) bool { return !same(r) }) {
		return ""
	}
	return "Every answer waits for the end of a step to get its next token, and a step with prompt tokens in it takes longer the more they are. " + strings.Join(words, "; ") + "."
}

// contrastOf says how many long gaps and how many short ones the runs have whose worst
// gaps differ most, empty if there are not two.
func contrastOf(runs []figure.Run) string {
	calm, rough := 0, 0
	worst := func(i int) sim.Duration { return runs[i].Report.ITL.Max }
	for i := range runs {
		if !runs[i].Report.ITL.OK {
			return ""
		}
		if worst(i) < worst(calm) {
			calm = i
		}
		if worst(i) > worst(rough) {
			rough = i
		}
	}
	long := roundAbove(worst(calm))
	if calm == rough || worst(rough) < long {
		return ""
	}
	at := func(i int, d sim.Duration) int64 { return runs[i].Latencies.AtLeast(figure.ITL, d) }
	text := fmt.Sprintf("Of %s or more %s has %s, %s none", brief(long), runs[rough].Name, analysis.Counted(at(rough, long), "gap"), runs[calm].Name)
	for d := long; d > runs[calm].Report.ITL.Mean; d = roundBelow(d - 1) {
		if a, b := at(rough, d), at(calm, d); b > 2*a {
			return text + fmt.Sprintf("; of %s or more %s and %s: few long stalls against many short ones.", brief(d), analysis.Grouped(a), analysis.Grouped(b))
		}
	}
	return text + "."
}

// roundAbove returns the least of 1, 2 and 5 ms, and their tenfolds, that isn't below d.
func roundAbove(d sim.Duration) sim.Duration {
	for unit := sim.Millisecond; ; unit *= 10 {
		for _, k := range []sim.Duration{1, 2, 5} {
			if k*unit >= d || unit > sim.Duration(1e17) {
				return k * unit
			}
		}
	}
}

// roundBelow returns the greatest of those that isn't above d, 0 if there is none.
func roundBelow(d sim.Duration) (below sim.Duration) {
	for unit := sim.Millisecond; unit <= d; unit *= 10 {
		for _, k := range []sim.Duration{1, 2, 5} {
			if k*unit <= d {
				below = k * unit
			}
		}
	}
	return below
}
