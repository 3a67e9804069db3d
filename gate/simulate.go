package gate

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"

	"servesim/analysis"
	"servesim/analysis/dialect"
	"servesim/analysis/transcript"
	"servesim/internal/workers"
	"servesim/scenario"
	"servesim/sim/observe"
)

// Options say how runs are simulated.
type Options struct {
	// Jobs is the number of runs under way at once, at least 1.
	Jobs int
	// Progress, if it isn't nil, hears that one more run is done, from any goroutine.
	Progress func()
}

// Simulations returns the number of runs that Simulate makes.
func (g *Gate) Simulations() int { return len(g.Levels) * g.Runs }

// Simulate runs the scenario at every load, at each under the same seeds, and judges
// what comes of it. The error is a scenario.UsageError if the gate turns out to be
// refused, and the context's if that ended it.
func (g *Gate) Simulate(ctx context.Context, o Options) (*Outcome, error) {
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	runs := make([]*run, g.Simulations())
	faults := make([]error, len(runs))
	workers.Each(ctx, o.Jobs, len(runs), func(i int) bool {
		runs[i], faults[i] = g.one(ctx, i/g.Runs, i%g.Runs)
		if faults[i] != nil {
			cancel()
			return false
		}
		if o.Progress != nil {
			o.Progress()
		}
		return true
	})
	if err := workers.Fault(faults); err != nil {
		return nil, err
	}
	if err := ctx.Err(); err != nil {
		return nil, err
	}
	var rows []Row
	var refused []string
	for i, l := range g.Levels {
		mine := runs[i*g.Runs : (i+1)*g.Runs]
		rows = append(rows, g.row(l, mine, true))
		refused = append(refused, g.evidence(&l, mine)...)
	}
	if refused != nil {
		return nil, g.refusals(refused)
	}
	return g.conclude(rows, false, append(g.plan.Cautions(), extrapolated(runs)...))
}

// extrapolated is a caution if steps lie outside what was measured.
func extrapolated(runs []*run) []string {
	most := 0.0
	for _, r := range runs {
		most = max(most, r.outside)
	}
	if most == 0 {
		return nil
	}
	return []string{fmt.Sprintf("up to %.2g %% of a run's steps are outside the measurements that step times were fitted on", 100*most)}
}

// refusals makes one error of reasons why the runs aren't enough.
func (g *Gate) refusals(list []string) error {
	return usagef("%s: refused: %s", g.File, strings.Join(slices.Compact(list), "\n"+g.File+": refused: "))
}

// evidence returns why the runs at a load aren't enough.
func (g *Gate) evidence(l *Level, runs []*run) []string {
	if len(runs) == 0 {
		return nil
	}
	var reasons []string
	n := analysis.Counted(int64(len(runs)), "run")
	same, few, least := true, 0, runs[0].requests
	prints := map[uint64]bool{}
	for _, r := range runs {
		prints[r.print] = true
		same = same && !r.differ && r.prompt == runs[0].prompt
		least = min(least, r.requests)
		if r.requests < LeastRequests {
			few++
		}
	}
	if few > 0 {
		reasons = append(reasons, fmt.Sprintf("at %s %d of %s have fewer than %d requests, the least %d, and of so few a P99 is the one slowest; make runs longer",
			l.Title, few, n, LeastRequests, least))
	}
	if copies := len(runs) - len(prints); copies > 0 {
		reasons = append(reasons, fmt.Sprintf("at %s %d of %s are copies of others, call for call, and a copy tells nothing more; give each run a seed of its own",
			l.Title, copies, n))
	}
	if same && runs[0].prompt >= 0 {
		reasons = append(reasons, fmt.Sprintf("identical prompts: at %s each has %s, so that no long one ever stalls the others, as happens to users; measure with prompts of the lengths that users send",
			l.Title, analysis.Counted(int64(runs[0].prompt), "token")))
	}
	return reasons
}

// one simulates run n at level i.
func (g *Gate) one(ctx context.Context, i, n int) (*run, error) {
	src, err := g.sourceOf(i, n)
	if err != nil {
		return nil, err
	}
	p, err := scenario.Load(src)
	if err != nil {
		return nil, err
	}
	r := g.newRun()
	calls := g.listen(transcript.Everything())
	cut := new(analysis.Cut)
	t, err := transcript.NewTranscriber(scenario.MeasuredCalls(cut, calls), p.Streaming())
	if err != nil {
		return nil, err
	}
	result, err := p.Simulate(ctx, scenario.Options{
		Sinks: []observe.Sink{t}, Measured: []observe.Sink{r.pool, r.observer}, Cut: cut,
	})
	if err := errors.Join(err, t.Close()); err != nil {
		return nil, err
	}
	r.outside = result.Outside
	r.overloaded = result.Report.Saturation.State == analysis.Overloaded
	r.hear(calls)
	return r, nil
}

// listen returns what computes the figures of the gate's dialect from calls of which
// facts are known.
func (g *Gate) listen(facts transcript.Facts) *dialect.Sink {
	return dialect.New([]*dialect.Dialect{g.Dialect}, dialect.Options{
		Facts: facts, Percentiles: g.Percentiles, Goodput: g.SLO.Goodput, Run: g.SLO.Run,
	})
}

// hear keeps what s says of a run.
func (r *run) hear(s *dialect.Sink) {
	result := s.Results()[0]
	r.figures, r.tool = result.Values, result.Goodput
}
