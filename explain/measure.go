package explain

import (
	"context"
	"sync"

	"servesim/analysis"
	"servesim/internal/workers"
	"servesim/scenario"
	"servesim/sim"
	"servesim/sim/observe"
)

// Measures are what one run came to.
type Measures struct {
	// Values are the statistics asked for, in their order, and OK tells which have
	// data.
	Values []sim.Duration
	OK     []bool
	// Goodput is the share of good requests, if the scenario has limits.
	Goodput    float64
	HasGoodput bool
	// Overloaded tells that the queue grew as long as requests arrived.
	Overloaded bool
	// Beside is what prompts did to others' gaps, for each of the budgets asked
	// about.
	Beside []Beside
	// Longer is the number of gaps as long as P99 of ITL or longer that coincide
	// with a step with prompts, and Tail about the number of all that long.
	Longer, Tail int64
	// Run has the report of the run, and its requests if they were to be paired.
	Run analysis.Run
	// Result is the whole of it.
	Result *scenario.Result
}

// A job is a run to be measured.
type job struct {
	source scenario.Source
	// change changes the settled scenario of the run; nil leaves it.
	change     func(*scenario.Scenario)
	statistics []Statistic
	budgets    []int32 // of Beside
	exposed    bool    // Beside is asked for
	paired     bool    // requests are kept
}

// measure simulates j.
func (j *job) measure(ctx context.Context) (*Measures, error) {
	p, err := scenario.Load(j.source)
	if err != nil {
		return nil, err
	}
	if j.change != nil {
		j.change(p.Scenario)
	}
	o := scenario.Options{Percentiles: percentiles()}
	m := &Measures{}
	exposure := NewExposure()
	if j.exposed {
		o.Sinks = append(o.Sinks, exposure)
	}
	if j.paired {
		m.Run.Pairs = &analysis.Pairing{Goodput: p.SLO.Goodput}
		o.Watch = func(*scenario.Opened) observe.Sink { return m.Run.Pairs }
	}
	r, err := p.Simulate(ctx, o)
	if err != nil {
		return nil, err
	}
	m.Result, m.Run.Report = r, r.Report
	for _, s := range j.statistics {
		v, ok := s.of(r.Report)
		m.Values, m.OK = append(m.Values, v), append(m.OK, ok)
	}
	if g := r.Report.Goodput; g != nil {
		m.Goodput, m.HasGoodput = g.Share()
	}
	for _, w := range r.Report.Warnings {
		m.Overloaded = m.Overloaded || w.Kind == analysis.Overload
	}
	if !j.exposed {
		return m, nil
	}
	for _, b := range j.budgets {
		m.Beside = append(m.Beside, exposure.Beside(b))
	}
	if p99, ok := Statistics()[itl99].of(r.Report); ok {
		m.Longer, m.Tail = exposure.Longer(p99), (r.Report.ITL.Count+99)/100
	}
	return m, nil
}

// Work says how runs are done.
type Work struct {
	// Jobs is the number of runs under way at once, at least 1. What comes of them
	// doesn't depend on it.
	Jobs int
	// Progress, if it isn't nil, is called as runs begin and end, with how many are
	// done of how many, from one goroutine at a time.
	Progress func(done, of int)
}

// part returns w for runs that begin when some of all are done.
func (w Work) part(begun, of int) Work {
	if progress := w.Progress; progress != nil {
		w.Progress = func(done, _ int) { progress(begun+done, of) }
	}
	return w
}

// all returns what do does of 0 to n-1, in that order, with w.Jobs of them at once.
// The error is that of the first that failed; those not begun by then never are.
func all[T any](ctx context.Context, w Work, n int, do func(ctx context.Context, i int) (T, error)) ([]T, error) {
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	results, faults := make([]T, n), make([]error, n)
	var mu sync.Mutex
	done := 0
	one := func() {
		mu.Lock()
		defer mu.Unlock()
		if done++; w.Progress != nil {
			w.Progress(done, n)
		}
	}
	workers.Each(ctx, w.Jobs, n, func(i int) bool {
		if results[i], faults[i] = do(ctx, i); faults[i] != nil {
			cancel()
		}
		one()
		return faults[i] == nil
	})
	return results, firstOf(ctx, faults)
}
