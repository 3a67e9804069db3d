package calibrate

import (
	"cmp"
	"context"
	"fmt"
	"io"
	"math/rand/v2"
	"slices"

	"servesim/internal/portable"
	"servesim/sim"
	"servesim/sim/engine"
	"servesim/sim/gpu"
	"servesim/sim/observe"
	"servesim/sim/workload"
)

// A run's figures jitter when a constant moves, as calls come at another time of a
// step. Each is the mean over so many replays, in all of which but the first calls
// come up to half a step sooner or later, if others are under way. Calls that are
// sent within together of each other are sent as one, and stay so.
const (
	replays  = 4
	together = sim.Duration(2 * sim.Millisecond)
)

// figures simulates the run under the constants of p.
func (o *replayed) figures(ctx context.Context, p *gpu.Profile) ([]Figure, error) {
	sums := make([]float64, len(o.cells))
	for k := range replays {
		ttft, tpot, err := o.replay(ctx, p, o.shifted(sim.Seed(k)))
		if err != nil {
			return nil, err
		}
		for n, x := range o.cells {
			for _, i := range x.calls {
				if x.ttft {
					sums[n] += ttft[i]
				} else {
					sums[n] += tpot[i]
				}
			}
		}
	}
	out := make([]Figure, 0, len(o.cells))
	for n, x := range o.cells {
		mean := sums[n] / float64(replays*len(x.calls))
		out = append(out, Figure{Metric: x.metric(), Part: x.block, Spread: x.spread, Log: portable.Log(mean / x.measured)})
	}
	return out, nil
}

// A shiftedCall is a call, by its number, that comes at another instant.
type shiftedCall struct {
	call int
	sent sim.Time
}

// shifted returns the calls in the order in which they come, shifted by draws from
// seed, none at seed 0.
func (o *replayed) shifted(seed sim.Seed) []shiftedCall {
	out := make([]shiftedCall, len(o.calls))
	draw := rand.New(seed.Stream("shift of calls"))
	shift := sim.Time(0)
	for i, c := range o.calls {
		if i == 0 || c.sent.Sub(o.calls[i-1].sent) > together {
			shift = 0
			if d := draw.Int64N(int64(max(1, o.step))) - int64(o.step)/2; seed > 0 && o.met[i] > 0 {
				shift = sim.Time(d)
			}
		}
		out[i] = shiftedCall{i, max(0, c.sent+shift)}
	}
	slices.SortStableFunc(out, func(a, b shiftedCall) int { return cmp.Compare(a.sent, b.sent) })
	return out
}

// replay simulates calls and returns TTFT and TPOT of each by its number, in seconds.
func (o *replayed) replay(ctx context.Context, p *gpu.Profile, calls []shiftedCall) (ttft, tpot []float64, err error) {
	s := o.run.Setup
	s.Profile, s.Host = p, gpu.Host{}
	cost, err := gpu.NewCost(s)
	if err != nil {
		return nil, nil, err
	}
	delay, err := constant(p.Engine[s.Engine].RequestS)
	if err != nil {
		return nil, nil, err
	}
	w := &watch{first: slices.Repeat([]sim.Time{observe.Never}, len(calls)), last: slices.Repeat([]sim.Time{observe.Never}, len(calls))}
	config := engine.Config{Scheduler: o.run.Scheduler, Cost: cost, Source: &callSource{run: o, calls: calls}, Sink: w, RequestDelay: delay}
	if err := engine.Run(ctx, config); err != nil {
		return nil, nil, err
	}
	ttft, tpot = make([]float64, len(calls)), make([]float64, len(calls))
	for id, x := range calls {
		c := &o.calls[x.call]
		if w.last[id] == observe.Never {
			return nil, nil, fmt.Errorf("the call at %v with %d and %d tokens never ends in the simulation, for it needs more KV blocks than the %d of the scenario", c.sent, c.prompt, c.output, config.Scheduler.NumGPUBlocks)
		}
		ttft[x.call] = w.first[id].Sub(x.sent).Seconds()
		tpot[x.call] = w.last[id].Sub(w.first[id]).Seconds() / float64(max(1, c.output-1))
	}
	return ttft, tpot, nil
}

// constant returns a delay that is always as many seconds.
func constant(seconds float64) (workload.Delay, error) {
	d, ok := sim.FromSeconds(seconds)
	if !ok {
		return workload.Delay{}, fmt.Errorf("request_s is %v; it must be a number of seconds", seconds)
	}
	s := workload.DelaySpec{Dist: "constant", Value: &d}
	return s.Delay()
}

// A watch is an observe.Sink that keeps when each request had its first and its last
// token, by ID; Never until then.
type watch struct{ first, last []sim.Time }

// Step implements observe.Sink.
func (w *watch) Step(*observe.StepRun) error { return nil }

// Request implements observe.Sink.
func (w *watch) Request(r *observe.Request) error {
	if r.Outcome == observe.Completed {
		w.first[r.ID], w.last[r.ID] = r.First, r.Last
	}
	return nil
}

// A callSource is a workload.Source of measured calls.
type callSource struct {
	run   *replayed
	calls []shiftedCall
	next  int
}

// Next implements workload.Source.
func (s *callSource) Next() (workload.Request, error) {
	if s.next == len(s.calls) {
		return workload.Request{}, io.EOF
	}
	c := &s.run.calls[s.calls[s.next].call]
	r := workload.Request{ID: int64(s.next), Arrival: s.calls[s.next].sent, Prompt: c.prompt, Output: c.output}
	s.next++
	return r, nil
}
