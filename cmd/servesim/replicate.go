package main

import (
	"context"
	"errors"
	"fmt"

	"servesim/analysis"
	"servesim/internal/workers"
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
	src, err := rereadable(o.source)
	if err != nil {
		return nil, err
	}
	p, err := replicable(src, n)
	if err != nil {
		return nil, err
	}
	ps, err := percentiles(o.percentiles)
	if err != nil {
		return nil, err
	}
	runs := make([]*analysis.Replication, n)
	results := make([]*scenario.Result, n)
	err = forEachSeed(ctx, o.env, n, func(ctx context.Context, i int) error {
		p, err := seeded(src, *p.Scenario.Seed+uint64(i))
		if err != nil {
			return err
		}
		runs[i] = analysis.NewReplication(p.SLO, n)
		results[i], err = p.Simulate(ctx, scenario.Options{Measured: []observe.Sink{runs[i]}})
		return err
	})
	if err != nil {
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

// firstOf returns the first error that isn't of a run that another one's error
// interrupted, or the first.
func firstOf(faults []error) error {
	if err := workers.Fault(faults); err != nil {
		return err
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
