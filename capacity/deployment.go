package capacity

import (
	"context"

	"servesim/scenario"
	"servesim/sim/observe"
)

// A Deployment is a scenario that is put under one rate after the other. It keeps
// what it simulated, and is for one goroutine.
type Deployment struct{ bench *bench }

// Unmet is the error that no rate keeps the limits, within a scenario.UsageError.
type Unmet struct {
	// Text says at which rate, the lowest, which limits are missed.
	Text string
}

// Error implements error.
func (u *Unmet) Error() string {
	return u.Text + "; loosen them, or take more or faster GPUs (hardware.gpu, hardware.tensor_parallel_size)"
}

// Open returns the deployment of the scenario of src, on which nothing was simulated
// yet. Cancelling ctx ends what it is asked for. The error is a scenario.UsageError if
// o or the scenario is at fault.
func Open(ctx context.Context, src scenario.Source, o Options) (*Deployment, error) {
	if err := o.Check(); err != nil {
		return nil, err
	}
	l, slo, err := prepare(src, &o)
	if err != nil {
		return nil, err
	}
	return &Deployment{newBench(ctx, l, slo, &o)}, nil
}

// Plan returns the scenario as it is, at its own rate.
func (d *Deployment) Plan() *scenario.Plan { return d.bench.load.plan }

// Bounds returns the lowest and the highest rate that can be simulated, in requests/s.
func (d *Deployment) Bounds() (low, high float64) { return d.bench.load.bounds() }

// Capacity returns the highest rate that keeps the limits, without a table of the
// rates around it. The error is a scenario.UsageError with an Unmet in it if none does.
func (d *Deployment) Capacity() (*Answer, error) {
	b := d.bench
	a := &Answer{Plan: b.load.plan, Load: b.load.String(), SLO: b.slo, Resolution: b.options.Resolution, Today: b.load.rate}
	if err := b.search(a); err != nil {
		return nil, err
	}
	if err := b.saturate(a); err != nil {
		return nil, err
	}
	a.Cost = costOf(b.load.plan.Machine.Profile, a.At.Report, b.options)
	a.Trials, a.Requests = len(b.trials), b.requests
	return a, nil
}

// Measure simulates rate requests/s under runs seeds, whatever the limits say of fewer.
// One of them is all that a trace at its own rate has. Sinks get the records of the
// first run.
func (d *Deployment) Measure(rate float64, runs int, sinks ...observe.Sink) (*Trial, error) {
	b := d.bench
	t, err := b.load.first(b.ctx, &b.slo, setup{short(rate), b.load.plan.Replicas()}, b.options, sinks...)
	if err != nil {
		return nil, err
	}
	verdicts := t.Report.Verdicts
	if runs > 1 && !b.load.alone(t.Rate) {
		if err := t.more(b.ctx, b.load, &b.slo, runs, b.options); err != nil {
			return nil, err
		}
		verdicts = t.Pool.Verdicts
	}
	t.judge(limits(&b.slo, verdicts), 1)
	t.runs = nil
	b.requests += t.Requests
	if b.options.Progress != nil {
		b.options.Progress(t)
	}
	return t, nil
}

// Find returns the highest rate at which the scenario of src keeps its limits.
// The error is a scenario.UsageError if the scenario is at fault or no rate does.
func Find(ctx context.Context, src scenario.Source, o Options) (*Answer, error) {
	d, err := Open(ctx, src, o)
	if err != nil {
		return nil, err
	}
	if err := o.CheckCosts(d.Plan().Machine.Profile.Name); err != nil {
		return nil, err
	}
	a, err := d.Capacity()
	if err != nil {
		return nil, err
	}
	if err := d.bench.table(a); err != nil {
		return nil, err
	}
	a.Trials, a.Requests = len(d.bench.trials), d.bench.requests
	return a, nil
}
