package explain

import (
	"context"
	"fmt"
	"math"
	"reflect"

	"servesim/analysis"
	"servesim/scenario"
)

// Pairs are two or more scenarios on the same requests, the first against each of
// the others.
type Pairs struct {
	// Results are the runs of the scenarios under their own seed.
	Results []*scenario.Result
	Labels  []string
	Seeds   int
	List    []Pair
}

// A Pair is what changes between two scenarios, and why. It goes from the one whose
// steps may hold more prompt tokens, Coarse, to the other.
type Pair struct {
	// Coarse and Fine are the names of both, Budget the most tokens of a step of
	// Fine, math.MaxInt32 if it doesn't cut prompts.
	Coarse, Fine string
	Budget       int32
	// Cuts tells that Fine cuts prompts that Coarse doesn't.
	Cuts bool
	// Statistics and their Changes, and that of goodput, nil without limits.
	Statistics []Statistic
	Changes    []analysis.Change
	Goodput    *analysis.ShareChange
	// Before and After are what prompts did to gaps, means over seeds.
	Before, After Spread
	// Rules are what the shares of gaps beside steps over the budget foretell.
	Rules []Rule
}

// A Spread is what prompts did to the gaps between the tokens of others, over one
// run or in the mean of some.
type Spread struct {
	// Lost is by how much the gaps were longer for prompts, all together, in seconds.
	Lost float64
	// Tokens is the number of prompt tokens that gaps were beside.
	Tokens float64
	// Share is the share of gaps beside prompts, and Each by how much such a gap was
	// longer, in seconds.
	Share, Each float64
	// Tail is the share, of the gaps as long as P99 of ITL or longer, that are beside
	// prompts.
	Tail float64
}

// spreadOf returns the mean of runs.
func spreadOf(runs []*Measures) (s Spread) {
	n := float64(len(runs))
	var prompted, gaps, longer, tail float64
	for _, m := range runs {
		b := &m.Beside[0]
		s.Lost += b.Lost / n
		s.Tokens += float64(b.Tokens) / n
		prompted, gaps = prompted+float64(b.Prompted), gaps+float64(b.Gaps)
		longer, tail = longer+float64(m.Longer), tail+float64(m.Tail)
	}
	if gaps > 0 {
		s.Share = prompted / gaps
	}
	if prompted > 0 {
		s.Each = s.Lost * n / prompted
	}
	if tail > 0 {
		s.Tail = min(1, longer/tail)
	}
	return s
}

// budgetOf returns the most tokens of one prompt in a step of p.
func budgetOf(p *scenario.Plan) int32 {
	e := &p.Scenario.Engine
	if !*e.EnableChunkedPrefill {
		return math.MaxInt32
	}
	if t := *e.LongPrefillTokenThreshold; t > 0 {
		return min(t, *e.MaxNumBatchedTokens)
	}
	return *e.MaxNumBatchedTokens
}

// Compare simulates scenarios on the same requests, under so many seeds, and says
// what changes from the first to each of the others; scenarios without draws have one
// run each. The error is a scenario.UsageError if one of them is at fault.
func Compare(ctx context.Context, sources []scenario.Source, labels []string, seeds int, w Work) (*Pairs, error) {
	var plans []*scenario.Plan
	drawn := true
	for i := range sources {
		p, err := scenario.Load(sources[i])
		if err != nil {
			return nil, fmt.Errorf("%s: %w", labels[i], err)
		}
		plans, drawn = append(plans, p), drawn && Drawn(p)
		sources[i] = withShelf(sources[i])
		if err := together(plans[0], p, labels[0], labels[i]); err != nil {
			return nil, &scenario.UsageError{Err: err}
		}
	}
	if !drawn {
		seeds = 1
	}
	budgets := make([]int32, len(plans)) // of each with the first
	for i, p := range plans {
		budgets[i] = min(budgetOf(plans[0]), budgetOf(p))
	}
	runs, err := all(ctx, w, len(sources)*seeds, func(ctx context.Context, i int) (*Measures, error) {
		at := i / seeds
		j := job{statistics: Statistics(), exposed: true, paired: seeds == 1, budgets: budgets[at : at+1]}
		if at == 0 {
			j.budgets = budgets
		}
		j.source = seeded(sources[at], *plans[at].Scenario.Seed+uint64(i%seeds))
		m, err := j.measure(ctx)
		if err != nil {
			return nil, fmt.Errorf("%s: %w", labels[at], err)
		}
		return m, nil
	})
	if err != nil {
		return nil, err
	}
	all := &Pairs{Labels: labels, Seeds: seeds}
	for i := range sources {
		all.Results = append(all.Results, runs[i*seeds].Result)
		if i == 0 {
			continue
		}
		p, err := pairOf(plans, runs, i, seeds)
		if err != nil {
			return nil, err
		}
		p.name(labels[0], labels[i], budgetOf(plans[0]) < budgetOf(plans[i]))
		all.List = append(all.List, *p)
	}
	return all, nil
}

// together returns why two scenarios are no pair, nil if they are.
func together(a, b *scenario.Plan, first, other string) error {
	if x, y := a.SLO.String(), b.SLO.String(); x != y {
		return fmt.Errorf("%s has the limits %q, %s has %q; goodput can be compared only under the same: set --goodput", first, x, other, y)
	}
	x, y := a.Scenario, b.Scenario
	if *x.Seed != *y.Seed || !reflect.DeepEqual(x.Workload, y.Workload) || !reflect.DeepEqual(x.Transform, y.Transform) {
		return fmt.Errorf("%s and %s have other requests, in seed, workload or transform; a pair is told of the same requests: servesim compare takes others", first, other)
	}
	return nil
}

// name names the scenarios of p, which are the other way round if swapped.
func (p *Pair) name(first, other string, swapped bool) {
	p.Coarse, p.Fine = first, other
	if swapped {
		p.Coarse, p.Fine = other, first
	}
}

// pairOf returns the pair of the first scenario and the i-th.
func pairOf(plans []*scenario.Plan, runs []*Measures, i, seeds int) (*Pair, error) {
	first := make([]*Measures, seeds)
	for k := range first { // of which only the i-th budget counts here
		m := *runs[k]
		m.Beside = m.Beside[i : i+1]
		first[k] = &m
	}
	other := runs[i*seeds : (i+1)*seeds]
	a, b := budgetOf(plans[0]), budgetOf(plans[i])
	coarse, fine := first, other
	if a < b {
		coarse, fine = other, first
	}
	p := &Pair{Budget: min(a, b), Cuts: a != b, Statistics: Statistics(), Before: spreadOf(coarse), After: spreadOf(fine)}
	var err error
	if p.Changes, p.Goodput, err = changesOf(p.Statistics, coarse, fine); err != nil {
		return nil, err
	}
	p.Rules = rules(coarse, fine, 0, p.Changes)
	return p, nil
}
