package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"math"
	"runtime"
	"slices"
	"strconv"
	"sync"
	"sync/atomic"

	"servesim/analysis"
	"servesim/report"
	"servesim/scenario"
	"servesim/sim/observe"
)

// A replicated is the runs of one scenario under successive seeds.
type replicated struct {
	first *scenario.Result // that of the scenario's own seed
	pool  *analysis.Replicated
	cut   int64 // requests of all runs left out as a warm-up
}

// replicate simulates a scenario n times, under its own seed and those after it,
// on all cores. What comes of it doesn't depend on their number.
func (o *runOptions) replicate(ctx context.Context, n int) (*replicated, error) {
	src := o.source
	if src.Path == scenario.StdinPath && src.Content == "" {
		text, err := io.ReadAll(src.Stdin)
		if err != nil {
			return nil, err
		}
		src.Content = string(text)
	}
	p, err := scenario.Load(src)
	if err != nil {
		return nil, err
	}
	if !slices.ContainsFunc(p.Scenario.Workload.Parts(), func(w scenario.Part) bool { return w.Trace == "" }) {
		return nil, usagef("--replications %d: every request comes from a trace, which is the same under each seed, so the runs would say nothing of chance; leave the flag out: each percentile of one run has an interval of its own", n)
	}
	if seed := *p.Scenario.Seed; seed > math.MaxInt64-uint64(n) {
		return nil, usagef("--replications %d: the seeds from %d on would exceed %d; choose a smaller one", n, seed, int64(math.MaxInt64))
	}
	ps, err := percentiles(o.percentiles)
	if err != nil {
		return nil, err
	}
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	runs := make([]*analysis.Replication, n)
	results := make([]*scenario.Result, n)
	faults := make([]error, n)
	var next atomic.Int64
	var group sync.WaitGroup
	bar := newRunsProgress(o.env, "replications", n)
	for range min(n, runtime.GOMAXPROCS(0)) {
		group.Go(func() {
			for i := int(next.Add(1)) - 1; i < n && ctx.Err() == nil; i = int(next.Add(1)) - 1 {
				runs[i] = analysis.NewReplication(p.SLO, n)
				if results[i], faults[i] = replication(ctx, src, *p.Scenario.Seed+uint64(i), runs[i]); faults[i] != nil {
					cancel()
				}
				bar.one()
			}
		})
	}
	group.Wait()
	bar.finish()
	if err := firstOf(faults); err != nil {
		return nil, err
	}
	if err := ctx.Err(); err != nil {
		return nil, err
	}
	out := &replicated{first: results[0], pool: analysis.Replicate(runs, ps)}
	for _, r := range results {
		if w := r.Report.WarmUp; w != nil {
			out.cut += w.Requests
		}
	}
	return out, nil
}

// replication simulates src under a seed. It loads the scenario anew: plans share
// nothing that a run changes.
func replication(ctx context.Context, src scenario.Source, seed uint64, sink observe.Sink) (*scenario.Result, error) {
	settings := slices.DeleteFunc(slices.Clone(src.Settings), func(s scenario.Setting) bool { return s.Key == "seed" })
	text := strconv.FormatUint(seed, 10)
	src.Settings = append(settings, scenario.Setting{Key: "seed", Value: scenario.TOMLValue(text), Text: text, Flag: "--replications"})
	p, err := scenario.Load(src)
	if err != nil {
		return nil, err
	}
	return p.Simulate(ctx, scenario.Options{Measured: []observe.Sink{sink}})
}

// firstOf returns the first error that isn't of a run that another one's error
// interrupted, or the first.
func firstOf(faults []error) error {
	for _, err := range faults {
		if err != nil && !errors.Is(err, context.Canceled) {
			return err
		}
	}
	return errors.Join(faults...)
}

// writeReplicated prints what came of replications.
func (o *runOptions) writeReplicated(r *replicated) error {
	seed := *r.first.Plan.Scenario.Seed
	last := seed + uint64(r.pool.Runs) - 1
	form, err := o.form.chosen()
	if err != nil {
		return err
	}
	before := fmt.Sprintf("%s\nWhat is above is of seed %d, what is below of seeds %d to %d.\n\n", linesOf(r.first.Facts()).folded(0), seed, seed, last)
	if r.first.Report.WarmUp != nil {
		before += report.Item("Warm-up", fmt.Sprintf("of all runs together %s left out, each by its own (%s)", analysis.Counted(r.cut, "request"), r.first.Report.WarmUp.Rule))
	}
	return form.Write(o.env.stdout, &report.Document{
		Replicated: r.pool,
		Before:     before,
		Members:    []report.Member{{Key: "seeds", Value: [2]uint64{seed, last}}, {Key: "warm_up_requests", Value: r.cut}, {Key: "input", Value: r.first.Input()}},
	})
}

// runReplicated simulates a scenario several times and prints what came of it.
func runReplicated(ctx context.Context, o *runOptions) error {
	r, err := o.replicate(ctx, o.replications)
	if err != nil {
		return err
	}
	if err := o.writeReplicated(r); err != nil {
		return err
	}
	return judge(r.pool.Verdicts)
}
