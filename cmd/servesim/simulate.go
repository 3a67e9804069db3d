package main

import (
	"cmp"
	"context"
	"fmt"

	"servesim/analysis"
	"servesim/scenario"
	"servesim/sim/observe"
)

// simulate runs a plan and hands its records to sinks as well. A terminal shows
// how far it is.
func simulate(ctx context.Context, e env, p *scenario.Plan, ps []analysis.Percentile, sinks ...observe.Sink) (*scenario.Result, error) {
	o := scenario.Options{Percentiles: ps, Sinks: sinks}
	if e.tty {
		var bar *progress
		defer func() { bar.finish() }()
		o.Watch = func(in *scenario.Opened) observe.Sink {
			label := cmp.Or(p.Scenario.Name, "simulating")
			if t := newTracked(in, p.Scenario); t != nil {
				in.Source, bar = t, newTraceProgress(e.stderr, label, t)
			} else {
				bar = newProgress(e.stderr, label, in.Total)
			}
			return bar
		}
	}
	return p.Simulate(ctx, o)
}

// judge returns errMissedSLO if fewer requests were good than the scenario wants.
func judge(r *scenario.Result) error {
	least := r.Plan.Scenario.SLO.MinGoodput
	if least == nil {
		return nil
	}
	share, ok := r.Report.Goodput.Share()
	if !ok || share < *least {
		return fmt.Errorf("%w: %.2f %% of the requests were good, slo.min_goodput wants %.2f %%", errMissedSLO, 100*share, 100**least)
	}
	return nil
}
