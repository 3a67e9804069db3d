package scenario

import (
	"context"
	"errors"
	"fmt"
	"runtime"
	"slices"
	"strings"

	"servesim/analysis"
	"servesim/internal/strict"
	"servesim/report"
	"servesim/sim"
	"servesim/sim/engine"
	"servesim/sim/observe"
	"servesim/sim/workload"
)

// A Result is what a run said, and what the reader of it should know of its input.
type Result struct {
	Plan    *Plan
	Report  *analysis.Report
	Traces  []*workload.Report // of each part of the workload; nil if it's drawn
	Counts  []workload.Count   // what a merge and transforms took, changed or left out
	Outside float64            // share of steps outside the fitted range
}

// Options say what is measured of a run, and who watches it.
type Options struct {
	// Percentiles are those of the report; nil is the default.
	Percentiles []analysis.Percentile
	// OutputEdges are those of analysis.Options.
	OutputEdges []int32
	// Sinks get the records of the run too, in detail (see engine.Config). Their
	// errors end it, and are told as they are.
	Sinks []observe.Sink
	// Beside get what Sinks do, and may get it in a goroutine of their own, all in the
	// same: they must share nothing with the others, and be asked only after the run.
	Beside []observe.Sink
	// Measured get what comes after the warm-up, and not in detail.
	Measured []observe.Sink
	// Cut, if it isn't nil, is set to that of the warm-up, for what is measured by
	// other ways.
	Cut *analysis.Cut
	// WarmUp, if it isn't nil, takes the place of that of the scenario.
	WarmUp *WarmUp
	// Watch, if it isn't nil, is called when the workload is open. It may put a
	// source that passes the same requests on in the place of in.Source, and
	// returns a sink that only looks on, or nil. It sees nothing of a simulation that
	// only finds the warm-up.
	Watch func(in *Opened) observe.Sink
}

// Simulate runs p. The error is a UsageError if what p names is at fault or no
// request arrives, the context's if that ended the run.
func (p *Plan) Simulate(ctx context.Context, o Options) (*Result, error) {
	cut, said, err := p.warmUp(ctx, o)
	if err != nil {
		return nil, err
	}
	in, err := p.Open()
	if err != nil {
		return nil, err
	}
	summary := analysis.NewSummary(analysis.Options{
		Percentiles: o.Percentiles, SLO: p.SLO, OutputEdges: o.OutputEdges, GPUs: p.GPUs(), Replicas: int(p.Replicas()), KVBlocks: p.Config.NumGPUBlocks, Header: p.Header(),
	})
	outside := &extrapolation{cost: p.Cost}
	tee := observe.Tee{measured(cut, append([]observe.Sink{summary}, o.Measured...)...), outside}
	for _, s := range o.Sinks {
		tee = append(tee, outlet{s})
	}
	beside, join := o.beside()
	tee = append(tee, beside...)
	opened := in.Source
	if o.Watch != nil {
		if s := o.Watch(in); s != nil {
			tee = append(tee, s)
		}
	}
	drill := p.Drill()
	var drilled *analysis.Drill
	if !drill.Empty() {
		drilled = analysis.NewDrill(p.SLO.Goodput, engine.ReasonNoReplica, cut)
		drill.Told = func(c engine.Change) { drilled.Change(c.At, c.Takes) }
		tee = append(tee, drilled)
	}
	config := p.Engine(warm(in.Source, cut), tee)
	config.Drill = drill
	config.Detail = len(o.Sinks)+len(o.Beside) > 0
	err = engine.Run(ctx, config)
	if err = errors.Join(err, join(), workload.CloseSource(opened)); err != nil {
		return nil, runError(err)
	}
	r := &Result{Plan: p, Report: summary.Report(), Counts: workload.CountsOf(opened), Outside: outside.share(), Traces: in.reports()}
	if drilled != nil {
		r.Report.Drill = drilled.Report()
	}
	if cut != nil {
		said.From = cut.From
		said.Requests, said.Steps = cut.LeftOut()
		r.Report.WarmedUp(said)
	}
	return r, r.nonempty()
}

// beside returns what hands records to o.Beside, in a goroutine if there is more than
// one processor, and what ends that.
func (o *Options) beside() (sinks []observe.Sink, join func() error) {
	for _, s := range o.Beside {
		sinks = append(sinks, outlet{s})
	}
	if len(sinks) == 0 || runtime.GOMAXPROCS(0) == 1 {
		return sinks, func() error { return nil }
	}
	b := observe.NewBeside(observe.Tee(sinks))
	return []observe.Sink{b}, b.Close
}

// ReadsStdin tells that p has a trace from standard input, so that it can be simulated
// once.
func (p *Plan) ReadsStdin() bool {
	return slices.ContainsFunc(p.Scenario.Workload.Parts(), func(w Part) bool { return w.Trace == StdinPath })
}

// Engine returns the configuration of an engine that runs the requests of src under
// p and hands its records to sink.
func (p *Plan) Engine(src workload.Source, sink observe.Sink) engine.Config {
	s := p.Scenario
	return engine.Config{
		Replicas: int(p.Replicas()), Router: s.Pool.router(sim.Seed(*s.Seed)), Drill: p.Drill(),
		Scheduler: p.Config, Cost: p.Cost, Source: src, Sink: sink, Seed: sim.Seed(*s.Seed),
		RequestDelay: p.Request, ResponseDelay: p.Response,
		Timeout: value(s.Client.Timeout), Horizon: value(s.Run.Horizon),
	}
}

// nonempty returns a fault if no request arrived: a report of nothing isn't one.
func (r *Result) nonempty() error {
	if r.Report.Counts.Requests > 0 {
		return nil
	}
	if w := r.Report.WarmUp; w != nil && w.Requests > 0 {
		return usagef("run.warmup leaves nothing to measure: each of the %s arrives in it; make it shorter, or the run longer", analysis.Counted(w.Requests, "request"))
	}
	var why []string
	for _, t := range r.Traces {
		if t == nil {
			continue
		}
		why = append(why, fmt.Sprintf("%s has %s over %s", t.File, analysis.Counted(t.Kept, "request"), report.Number(t.Span.Seconds())+" s"))
	}
	if keys := r.Plan.Scenario.Transform.keys(); keys != "" {
		why = append(why, "transform keeps none of them: "+keys)
	}
	for _, c := range r.Counts {
		if c.N > 0 {
			why = append(why, c.What+": "+analysis.Grouped(c.N))
		}
	}
	if h := r.Plan.Scenario.Run.Horizon; h != nil {
		why = append(why, fmt.Sprintf("run.horizon ends the run at %v", *h))
	}
	for _, p := range r.Plan.Scenario.Workload.Parts() {
		if d := p.Duration; d != nil {
			why = append(why, fmt.Sprintf("%s.duration is %v", p.Key, *d))
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

// Header names a run in its records, the GPU profile and the model with the
// first 12 digits of the SHA-256 of what they say of times and memory.
func (p *Plan) Header() observe.Header {
	s, m := p.Scenario, p.Machine
	profile := p.shelf.digest(m.Profile, func() string {
		said := *m.Profile
		said.Base, said.Price, said.Power, said.Origin = "", nil, nil, nil
		return digest(strict.Encode(said))
	})
	model := p.shelf.digest(m.Model, func() string { return digest(strict.Encode(*m.Model)) })
	gpus := fmt.Sprintf("%s TP%d", m.Profile.Name, *s.Hardware.TensorParallelSize)
	if n := p.Replicas(); n > 1 {
		gpus = fmt.Sprintf("%d replicas of %s", n, gpus)
	}
	return observe.Header{
		Version: Version(), Seed: *s.Seed, Scenario: s.Hash(),
		Profile: fmt.Sprintf("%s (%s)", gpus, profile[:12]),
		Model:   fmt.Sprintf("%s %s (%s)", m.Model.Name, m.Weights, model[:12]),
		Policy:  s.Engine.Policy, Streaming: p.Streaming().Record(),
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
