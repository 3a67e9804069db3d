package main

import (
	"cmp"
	"context"
	"fmt"
	"strings"
	"time"

	"servesim/analysis"
	"servesim/scenario"
	"servesim/sim/observe"
)

// simulate runs a plan with options that have no watch. A terminal shows how far
// it is.
func simulate(ctx context.Context, e env, p *scenario.Plan, o scenario.Options) (*scenario.Result, error) {
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
	began := time.Now()
	r, err := p.Simulate(ctx, o)
	if err == nil {
		e.took("simulated "+analysis.Counted(r.Report.Counts.Requests, "request"), began)
	}
	return r, err
}

// judge returns errMissedSLO if a limit that a scenario sets was missed.
func judge(verdicts []analysis.Verdict) error {
	var missed []string
	for _, v := range analysis.Missed(verdicts) {
		if v.IsGoodput {
			share, _ := v.Share()
			missed = append(missed, fmt.Sprintf("%s (slo.min_goodput), found %.2f %%", v.Limit, 100*share))
			continue
		}
		missed = append(missed, v.Limit)
	}
	if missed == nil {
		return nil
	}
	return fmt.Errorf("%w: %s", errMissedSLO, strings.Join(missed, "; "))
}
