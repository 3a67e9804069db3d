package scenario

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strconv"

	"servesim/analysis"
	"servesim/analysis/transcript"
	"servesim/sim"
	"servesim/sim/engine"
	"servesim/sim/observe"
	"servesim/sim/workload"
)

// A WarmUp is which requests a run leaves out of its figures: those of the first
// Requests, those that arrive before For, or as many as MSER-5 finds. One of them
// is set.
type WarmUp struct {
	Requests int64
	For      sim.Duration
	Auto     bool

	found, unsettled bool // Requests is what MSER-5 found, or it found nothing
}

// errWarmUp is what a warm-up may be.
var errWarmUp = errors.New(`must be "auto", a time such as "30s", or a number of requests such as 500`)

// UnmarshalTOML reads a number of requests, a duration or "auto".
func (w *WarmUp) UnmarshalTOML(x any) error {
	var v WarmUp
	switch x := x.(type) {
	case int64:
		v.Requests = x
	case string:
		if n, err := strconv.ParseInt(x, 10, 64); err == nil {
			v.Requests = n
		} else if v.Auto = x == "auto"; !v.Auto {
			if err := v.For.UnmarshalText([]byte(x)); err != nil {
				return fmt.Errorf("found %q; %w", x, errWarmUp)
			}
		}
	default:
		return fmt.Errorf("found %v; %w", x, errWarmUp)
	}
	if !v.Auto && v.Requests <= 0 && v.For <= 0 {
		return fmt.Errorf("found %v; %w, more than 0, or absent for none", x, errWarmUp)
	}
	*w = v
	return nil
}

// MarshalText writes w as UnmarshalTOML reads it.
func (w WarmUp) MarshalText() ([]byte, error) {
	switch {
	case w.Auto:
		return []byte("auto"), nil
	case w.Requests > 0:
		return strconv.AppendInt(nil, w.Requests, 10), nil
	}
	return w.For.MarshalText()
}

// A warming is a source that tells a cut when its first request after the warm-up
// arrives.
type warming struct {
	workload.Source
	cut *analysis.Cut
}

// Next implements workload.Source.
func (w *warming) Next() (workload.Request, error) {
	r, err := w.Source.Next()
	w.see(&r, err == nil)
	return r, err
}

// see takes note of a request, if it is one.
func (w *warming) see(r *workload.Request, ok bool) {
	if ok && r.ID == w.cut.First {
		w.cut.From = r.Arrival
	}
}

// A reactiveWarming is a warming of a source that is reactive.
type reactiveWarming struct {
	warming
	to workload.Reactive
}

// Done implements workload.Reactive.
func (w *reactiveWarming) Done(id int64, t sim.Time) (workload.Request, bool) {
	r, ok := w.to.Done(id, t)
	w.see(&r, ok)
	return r, ok
}

// FindWarmUp returns the warm-up of p with what "auto" stands for, by a simulation;
// nil if p has none.
func (p *Plan) FindWarmUp(ctx context.Context) (*WarmUp, error) {
	w := p.Scenario.Run.WarmUp
	if w == nil || !w.Auto {
		return w, nil
	}
	n, ok, err := p.mser(ctx)
	return &WarmUp{Requests: n, found: true, unsettled: !ok}, err
}

// LaterWarmUp returns the one of two warm-ups found by MSER-5 that leaves out more,
// for runs that are to be compared request by request.
func LaterWarmUp(a, b *WarmUp) *WarmUp {
	if a == nil || b != nil && b.Requests > a.Requests {
		return b
	}
	return a
}

// mser simulates p and returns the number of requests that MSER-5 says to leave
// out; ok is false if it finds no steady state.
func (p *Plan) mser(ctx context.Context) (requests int64, ok bool, err error) {
	if p.ReadsStdin() {
		return 0, false, usagef(`run.warmup = "auto" simulates twice, and standard input can be read only once; write the trace to a file, or give a time or a number of requests`)
	}
	in, err := p.Open()
	if err != nil {
		return 0, false, err
	}
	rule := new(analysis.MSER)
	err = engine.Run(ctx, p.Engine(in.Source, rule))
	if err = errors.Join(err, workload.CloseSource(in.Source)); err != nil {
		return 0, false, runError(err)
	}
	requests, ok = rule.Cut()
	return requests, ok, nil
}

// warmUp returns a cut that hands on to sinks what comes after the warm-up of p, and
// what a report says of it; both nil without one.
func (p *Plan) warmUp(ctx context.Context, o Options) (*analysis.Cut, *analysis.WarmUp, error) {
	w, err := o.WarmUp, error(nil)
	if w == nil {
		w, err = p.FindWarmUp(ctx)
	}
	if w == nil || err != nil {
		return nil, nil, err
	}
	said := &analysis.WarmUp{Rule: "run.warmup", Unsettled: w.unsettled}
	if w.found {
		said.Rule = "MSER-5"
	}
	cut := o.Cut
	if cut == nil {
		cut = new(analysis.Cut)
	}
	cut.First, cut.From = w.Requests, sim.Time(w.For)
	if w.Requests > 0 {
		cut.From = sim.MaxTime // until that request comes
	}
	return cut, said, nil
}

// warm returns src, which tells cut when its first request arrives, if it is by
// number.
func warm(src workload.Source, cut *analysis.Cut) workload.Source {
	if cut == nil || cut.First == 0 {
		return src
	}
	w := warming{src, cut}
	if to, ok := src.(workload.Reactive); ok {
		return &reactiveWarming{w, to}
	}
	return &w
}

// measured returns the sinks that a cut, which may be nil, stands before.
func measured(cut *analysis.Cut, sinks ...observe.Sink) observe.Sink {
	tee := observe.Tee(slices.Clone(sinks))
	if cut == nil {
		return tee
	}
	cut.To = tee
	return cut
}

// measuredCalls is a sink of the calls that a cut doesn't leave out.
type measuredCalls struct {
	cut *analysis.Cut
	to  transcript.Sink
}

// MeasuredCalls returns a sink that hands on to to the calls that come after the
// warm-up of cut, that of Options.
func MeasuredCalls(cut *analysis.Cut, to transcript.Sink) transcript.Sink {
	return &measuredCalls{cut, to}
}

// Call implements transcript.Sink.
func (m *measuredCalls) Call(c *transcript.Call) error {
	if m.cut.Leaves(c.ID, c.Scheduled) {
		return nil
	}
	return m.to.Call(c)
}
