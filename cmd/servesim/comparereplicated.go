package main

import (
	"context"

	"servesim/analysis"
	"servesim/report"
	"servesim/scenario"
	"servesim/sim/observe"
)

// compareReplicated simulates every scenario under the same seeds and compares the
// others with the first.
func (o *compareOptions) compareReplicated(ctx context.Context, plans []*scenario.Plan, ps []analysis.Percentile) error {
	n := o.replications
	for i := range o.sources {
		if _, err := replicable(o.sources[i], n); err != nil {
			return err
		}
	}
	runs := make([][]*analysis.Replication, len(plans))
	results := make([][]*scenario.Result, len(plans))
	for i := range runs {
		runs[i], results[i] = make([]*analysis.Replication, n), make([]*scenario.Result, n)
	}
	err := forEachSeed(ctx, o.env, n, func(ctx context.Context, k int) error {
		list := make([]*scenario.Plan, len(plans))
		for i, p := range plans {
			var err error
			if list[i], err = seeded(o.sources[i], *p.Scenario.Seed+uint64(k)); err != nil {
				return err
			}
		}
		warmup, err := o.warmUp(ctx, list)
		if err != nil {
			return err
		}
		for i, p := range list {
			runs[i][k] = analysis.NewReplication(p.SLO, n*len(plans))
			if results[i][k], err = p.Simulate(ctx, scenario.Options{Measured: []observe.Sink{runs[i][k]}, WarmUp: warmup}); err != nil {
				return err
			}
		}
		return nil
	})
	if err != nil {
		return err
	}
	c, err := analysis.CompareReplications(o.labels, runs, ps)
	if err != nil {
		return err
	}
	var first []*scenario.Result
	for _, r := range results {
		first = append(first, r[0])
	}
	return o.write(&report.Document{Replications: c, Members: []report.Member{{Key: "replications", Value: n}}}, plans, first)
}
