package main

import (
	"context"
	"errors"
	"fmt"
	"strings"

	"servesim/analysis"
	"servesim/report"
	"servesim/sim"
	"servesim/sim/engine"
	"servesim/sim/observe"
	"servesim/sim/workload"
)

// A result is what a run said, and what the reader of it should know of its input.
type result struct {
	plan    *plan
	report  *analysis.Report
	traces  []*workload.Report // of each part of the workload; nil if it's drawn
	counts  []workload.Count   // what a merge and transforms took, changed or left out
	outside float64            // share of steps outside the fitted range
}

// simulate runs a plan and hands its records to sinks as well.
func simulate(ctx context.Context, e env, p *plan, ps []analysis.Percentile, sinks ...observe.Sink) (*result, error) {
	s := p.scenario
	in, err := s.open(e)
	if err != nil {
		return nil, err
	}
	summary := analysis.NewSummary(analysis.Options{
		Percentiles: ps, Goodput: p.goodput, KVBlocks: p.config.NumGPUBlocks, Header: p.header(),
	})
	outside := &extrapolation{cost: p.cost}
	tee := observe.Tee{summary, outside}
	for _, s := range sinks {
		tee = append(tee, outlet{s})
	}
	source := in.source
	if e.tty {
		label := orElse(s.Name, "simulating")
		bar := newProgress(e.stderr, label, in.total)
		if t := in.tracked(s); t != nil {
			source, bar = t, newTraceProgress(e.stderr, label, t)
		}
		defer bar.finish()
		tee = append(tee, bar)
	}
	err = engine.Run(ctx, engine.Config{
		Scheduler: p.config, Cost: p.cost, Source: source, Sink: tee, Seed: sim.Seed(*s.Seed),
		RequestDelay: p.request, ResponseDelay: p.response,
		Timeout: value(s.Client.Timeout), Horizon: value(s.Run.Horizon),
	})
	if err = errors.Join(err, workload.CloseSource(in.source)); err != nil {
		return nil, runError(err)
	}
	r := &result{plan: p, report: summary.Report(), counts: workload.CountsOf(in.source), outside: outside.share()}
	for _, t := range in.traces {
		var read *workload.Report
		if t != nil {
			report := t.Report()
			read = &report
		}
		r.traces = append(r.traces, read)
	}
	return r, r.nonempty()
}

// nonempty returns a fault if no request arrived: a report of nothing isn't one.
func (r *result) nonempty() error {
	if r.report.Counts.Requests > 0 {
		return nil
	}
	var why []string
	for _, t := range r.traces {
		if t == nil {
			continue
		}
		why = append(why, fmt.Sprintf("%s has %s over %s", t.File, analysis.Counted(t.Kept, "request"), report.Number(t.Span.Seconds())+" s"))
	}
	if keys := r.plan.scenario.Transform.keys(); keys != "" {
		why = append(why, "transform keeps none of them: "+keys)
	}
	for _, c := range r.counts {
		if c.N > 0 {
			why = append(why, c.What+": "+analysis.Grouped(c.N))
		}
	}
	if h := r.plan.scenario.Run.Horizon; h != nil {
		why = append(why, fmt.Sprintf("run.horizon ends the run at %v", *h))
	}
	for _, p := range r.plan.scenario.Workload.parts() {
		if d := p.Duration; d != nil {
			why = append(why, fmt.Sprintf("%s.duration is %v", p.key, *d))
		}
	}
	return usagef("no request arrives, so there is nothing to simulate; %s", strings.Join(why, "; "))
}

// An outlet is a sink whose errors are about where records go, not about the run.
type outlet struct{ observe.Sink }

// An outletError is an error of an outlet.
type outletError struct{ err error }

// Error implements error.
func (e *outletError) Error() string { return e.err.Error() }

// Unwrap returns the error within.
func (e *outletError) Unwrap() error { return e.err }

// Request implements observe.Sink.
func (o outlet) Request(r *observe.Request) error {
	if err := o.Sink.Request(r); err != nil {
		return &outletError{err}
	}
	return nil
}

// Step implements observe.Sink.
func (o outlet) Step(r *observe.StepRun) error {
	if err := o.Sink.Step(r); err != nil {
		return &outletError{err}
	}
	return nil
}

// runError returns what to say of an error of a run: one of the trace as that of
// the input, and one of a record file without the instant of the simulation.
func runError(err error) error {
	var o *outletError
	if errors.As(err, &o) {
		return o.err
	}
	return inputError(err)
}

// judge returns errMissedSLO if fewer requests were good than the scenario wants.
func (r *result) judge() error {
	least := r.plan.scenario.SLO.MinGoodput
	if least == nil {
		return nil
	}
	share, ok := r.report.Goodput.Share()
	if !ok || share < *least {
		return fmt.Errorf("%w: %.2f %% of the requests were good, slo.min_goodput wants %.2f %%", errMissedSLO, 100*share, 100**least)
	}
	return nil
}

// header names a run in its records, the GPU profile and the model with the
// first 12 digits of the SHA-256 of what they say.
func (p *plan) header() observe.Header {
	s, m := p.scenario, p.machine
	short := func(what any) string { return digest(fmt.Sprintf("%+v", what))[:12] }
	return observe.Header{
		Version: version(), Seed: *s.Seed, Scenario: s.hash(),
		Profile: fmt.Sprintf("%s TP%d (%s)", m.profile.Name, *s.Hardware.TensorParallelSize, short(*m.profile)),
		Model:   fmt.Sprintf("%s %s (%s)", m.model.Name, m.weights, short(*m.model)),
		Policy:  s.Engine.Policy,
	}
}

// value returns what p points to, or zero.
func value[T any](p *T) T {
	var zero T
	if p == nil {
		return zero
	}
	return *p
}
