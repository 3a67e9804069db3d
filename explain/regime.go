package explain

import (
	"context"
	"errors"
	"fmt"
	"math"
	"strconv"

	"servesim/analysis"
	"servesim/scenario"
	"servesim/sim/workload"
)

// A Grid says which workloads a map of regimes has, and how each is simulated.
type Grid struct {
	// Shares are the shares of long prompts, from 0 to 1, and Lengths their tokens.
	Shares  []float64
	Lengths []int32
	// Loads are the rates of arrivals, as shares of the measured capacity.
	Loads []float64
	// Budgets are the values of max_num_batched_tokens with chunked prefill, each of
	// which is compared with none.
	Budgets []int32
	// Requests is the number of requests of a run, and Seeds that of runs of each.
	Requests int64
	Seeds    int
}

// DefaultGrid is the map that is drawn if nothing else is asked for.
func DefaultGrid() Grid {
	return Grid{
		Shares: []float64{0.003, 0.01, 0.03, 0.1}, Lengths: []int32{4000, 16000, 64000},
		Loads: []float64{0.25, 0.5, 0.75}, Budgets: []int32{512, 2048, 8192},
		Requests: 5000, Seeds: 10,
	}
}

// Check returns every fault of g, a line each.
func (g *Grid) Check() error {
	var faults []error
	fault := func(bad bool, format string, args ...any) {
		if bad {
			faults = append(faults, fmt.Errorf(format, args...))
		}
	}
	fault(len(g.Shares)*len(g.Lengths)*len(g.Loads)*len(g.Budgets) == 0, "shares, lengths, loads and budgets need a value each")
	for _, x := range g.Shares {
		fault(!(x > 0 && x < 1), "found a share of long prompts of %v %%; it must be more than 0 and less than 100", 100*x)
	}
	for _, n := range g.Lengths {
		fault(n < 1, "found long prompts of %d tokens; they need 1 or more", n)
	}
	for _, x := range g.Loads {
		fault(!(x > 0 && x <= 1), "found a load of %v %% of the capacity; it must be more than 0 and at most 100", 100*x)
	}
	for _, n := range g.Budgets {
		fault(n < 1, "found a budget of %d tokens; it needs 1 or more", n)
	}
	fault(!ascending(g.Shares) || !ascending(g.Lengths) || !ascending(g.Loads) || !ascending(g.Budgets), "shares, lengths, loads and budgets must ascend, each value once")
	fault(g.Requests < 100 || g.Requests > 1_000_000, "found %d requests of a run; from 100 to 1,000,000 are possible", g.Requests)
	fault(g.Seeds < analysis.FewestReplications || g.Seeds > 1000, "found %d seeds; from %d to 1,000 are possible, for fewer have no intervals", g.Seeds, analysis.FewestReplications)
	return errors.Join(faults...)
}

// ascending tells whether each of list is larger than the one before.
func ascending[T int32 | float64](list []T) bool {
	for i := 1; i < len(list); i++ {
		if list[i] <= list[i-1] {
			return false
		}
	}
	return true
}

// The classes of a map's requests.
const (
	shortClass = "short"
	longClass  = "long"
)

// mapStatistics are the statistics of a map: those of all runs, and TTFT by class.
func mapStatistics() []Statistic {
	return append(Statistics(), Statistic{"ttft", "TTFT, short", shortClass, "p99"}, Statistic{"ttft", "TTFT, long", longClass, "p99"})
}

// A Map is where chunked prefill makes which latency better or worse.
type Map struct {
	Grid Grid
	// Plan is the scenario whose engine, machine and short requests the map has.
	Plan *scenario.Plan
	// Statistics are those of the cells' changes.
	Statistics []Statistic
	Cells      []Cell
}

// A Cell is one workload, load and budget.
type Cell struct {
	// Share, Length, Load and Budget are those of the Grid.
	Share  float64
	Length int32
	Load   float64
	Budget int32
	// Capacity is the rate at which the engine, chunking by its own default budget,
	// completes requests while they queue, and Rate that of arrivals, requests/s.
	Capacity, Rate float64
	// Changes are those of the map's statistics from no chunking to the budget.
	Changes []analysis.Change
	// Goodput is the change of goodput, nil without limits.
	Goodput *analysis.ShareChange
	// Overloaded tells that the queue grew without end with chunking in most runs,
	// and Before that it did without.
	Overloaded, Before bool
	// Rules are what the shares of gaps and answers beside prompts predict.
	Rules []Rule
}

// A kinds is the requests of a map.
type kinds struct{ short, long workload.ClassSpec }

// kindsOf returns the short and the long requests that a map draws from s: the
// most frequent class of the scenario, and prompts of other lengths with the
// outputs of its last.
func kindsOf(s *workload.Spec) kinds {
	k := kinds{workload.ClassSpec{Prompt: s.Prompt, Output: s.Output}, workload.ClassSpec{Output: s.Output}}
	most := math.Inf(-1)
	for _, c := range s.Classes {
		weight := 1.0
		if c.Weight != nil {
			weight = *c.Weight
		}
		if weight > most {
			most = weight
			k.short.Prompt, k.short.Output = s.Prompt, s.Output
			if c.Prompt != nil {
				k.short.Prompt = c.Prompt
			}
			if c.Output != nil {
				k.short.Output = c.Output
			}
		}
		if c.Output != nil {
			k.long.Output = c.Output
		}
	}
	k.short.Name, k.long.Name = shortClass, longClass
	return k
}

// usable returns why a map cannot be drawn from p, nil if it can.
func usable(p *scenario.Plan, g *Grid) error {
	var faults []error
	fault := func(bad bool, format string, args ...any) {
		if bad {
			faults = append(faults, fmt.Errorf(format, args...))
		}
	}
	w := &p.Scenario.Workload
	fault(w.Trace != "" || len(w.Merge) > 0, "a map draws its own requests, as many long ones as it says, and the scenario replays a trace or merges workloads; take a scenario with one drawn workload")
	fault(w.ClosedLoop != nil, "a map needs arrivals at a rate of their own, and the scenario's users wait for their answers; take a scenario with arrival, not closed_loop")
	for _, n := range g.Lengths {
		fault(n >= *p.Scenario.Engine.MaxModelLen, "long prompts of %d tokens don't fit max_model_len, %d", n, *p.Scenario.Engine.MaxModelLen)
	}
	return errors.Join(faults...)
}

// chunking returns the settings that turn chunked prefill on with a budget or, if
// that is 0, off. Without it, vLLM wants the budget of a step to hold any prompt.
func chunking(p *scenario.Plan, budget int32) []scenario.Setting {
	e := &p.Scenario.Engine
	on := budget > 0
	if !on {
		budget = max(*e.MaxModelLen, *e.MaxNumBatchedTokens)
	}
	return []scenario.Setting{
		setting("engine.enable_chunked_prefill", strconv.FormatBool(on)), setting("engine.max_num_batched_tokens", strconv.Itoa(int(budget))),
	}
}

// A setup is one workload of a map.
type setup struct {
	share    float64
	length   int32
	capacity float64
}

// draws changes a settled scenario so that it has the requests of u at a rate.
func (u *setup) draws(k kinds, rate float64, requests int64) func(*scenario.Scenario) {
	return func(s *scenario.Scenario) {
		one := func(c workload.ClassSpec, weight float64) workload.ClassSpec {
			c.Weight = &weight
			return c
		}
		length := int64(u.length)
		long := one(k.long, u.share)
		long.Prompt = &workload.LengthSpec{Dist: "constant", Value: &length}
		s.Workload.Spec.Classes = []workload.ClassSpec{one(k.short, 1-u.share), long}
		s.Workload.Spec.RatePerS, s.Workload.Spec.Requests, s.Workload.Spec.Duration = &rate, &requests, nil
	}
}

// Regimes draws the map of g with the engine, machine and limits of the scenario of
// src. The error is a scenario.UsageError if either is at fault.
func Regimes(ctx context.Context, src scenario.Source, g Grid, w Work) (*Map, error) {
	p, err := scenario.Load(src)
	if err != nil {
		return nil, err
	}
	if err := errors.Join(g.Check(), usable(p, &g)); err != nil {
		return nil, &scenario.UsageError{Err: err}
	}
	src = withShelf(src)
	setups, rest := g.setups(), len(g.Shares)*len(g.Lengths)
	k := kindsOf(&p.Scenario.Workload.Spec)
	runs := len(setups) * len(g.Loads) * (1 + len(g.Budgets)) * g.Seeds
	capacities, err := all(ctx, w.part(0, rest+runs), rest, func(ctx context.Context, i int) (float64, error) {
		return capacity(ctx, src, &setups[i], k)
	})
	if err != nil {
		return nil, err
	}
	for i := range setups {
		setups[i].capacity = capacities[i]
	}
	m := &Map{Grid: g, Plan: p, Statistics: mapStatistics()}
	measures, err := all(ctx, w.part(rest, rest+runs), runs, func(ctx context.Context, i int) (*Measures, error) {
		return m.run(ctx, src, setups, i)
	})
	if err != nil {
		return nil, err
	}
	return m, m.judge(setups, measures)
}

// setups returns the workloads of g.
func (g *Grid) setups() (list []setup) {
	for _, s := range g.Shares {
		for _, n := range g.Lengths {
			list = append(list, setup{share: s, length: n})
		}
	}
	return list
}

// run does the i-th run of the map: of each workload, of each load, without chunking
// and with each budget, of each seed.
func (m *Map) run(ctx context.Context, src scenario.Source, setups []setup, i int) (*Measures, error) {
	g := &m.Grid
	seed, i := i%g.Seeds, i/g.Seeds
	choice, i := i%(1+len(g.Budgets)), i/(1+len(g.Budgets))
	load, u := g.Loads[i%len(g.Loads)], &setups[i/len(g.Loads)]
	budget, budgets := int32(0), g.Budgets
	if choice > 0 {
		budget = g.Budgets[choice-1]
		budgets = []int32{budget}
	}
	j := job{
		source:     seeded(with(src, chunking(m.Plan, budget)...), *m.Plan.Scenario.Seed+uint64(seed)),
		change:     u.draws(kindsOf(&m.Plan.Scenario.Workload.Spec), u.capacity*load, g.Requests),
		statistics: m.Statistics, budgets: budgets, exposed: true,
	}
	r, err := j.measure(ctx)
	if err != nil {
		return nil, err
	}
	r.Result, r.Run.Report = nil, nil // so that a large map stays small
	return r, nil
}

// judge makes cells of the runs.
func (m *Map) judge(setups []setup, runs []*Measures) error {
	g := &m.Grid
	for ui := range setups {
		u := &setups[ui]
		for _, load := range g.Loads {
			off := runs[:g.Seeds]
			runs = runs[g.Seeds:]
			for bi, b := range g.Budgets {
				on := runs[:g.Seeds]
				runs = runs[g.Seeds:]
				c := Cell{Share: u.share, Length: u.length, Load: load, Budget: b, Capacity: u.capacity, Rate: u.capacity * load}
				var err error
				if c.Changes, c.Goodput, err = changesOf(m.Statistics, off, on); err != nil {
					return err
				}
				c.Before, c.Overloaded = overloaded(off), overloaded(on)
				c.Rules = rules(off, on, bi, c.Changes)
				m.Cells = append(m.Cells, c)
			}
		}
	}
	return nil
}

// overloaded tells whether most of runs were.
func overloaded(runs []*Measures) bool {
	n := 0
	for _, r := range runs {
		if r.Overloaded {
			n++
		}
	}
	return 2*n > len(runs)
}
