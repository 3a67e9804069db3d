package explain

import (
	"context"
	"fmt"

	"servesim/scenario"
	"servesim/sim"
	"servesim/sim/observe"
)

// capacityRequests is the number of requests that queue to measure a capacity.
const capacityRequests = 3000

// A clearance is an observe.Sink that keeps when requests were admitted.
type clearance struct{ scheduled, ended []sim.Time }

// Request implements observe.Sink.
func (c *clearance) Request(r *observe.Request) error {
	if r.Scheduled != observe.Never {
		c.scheduled = append(c.scheduled, r.Scheduled)
	}
	if r.Outcome == observe.Completed {
		c.ended = append(c.ended, r.End)
	}
	return nil
}

// Step implements observe.Sink.
func (c *clearance) Step(*observe.StepRun) error { return nil }

// rate returns the requests that ended per second from the middle of the time in
// which some queued to its end: what came before may have been the filling of an
// empty engine, and what follows its emptying.
func (c *clearance) rate() float64 {
	last := sim.Time(0)
	for _, t := range c.scheduled {
		last = max(last, t)
	}
	n := 0
	for _, t := range c.ended {
		if t > last/2 && t <= last {
			n++
		}
	}
	return float64(n) / (last - last/2).Sub(0).Seconds()
}

// capacity returns the requests/s that the engine of src completes of the workload u
// while requests queue, when it chunks prompts by its own default budget.
func capacity(ctx context.Context, src scenario.Source, u *setup, k kinds) (float64, error) {
	p, err := scenario.Load(with(src, setting("engine.enable_chunked_prefill", "true")))
	if err != nil {
		return 0, err
	}
	u.draws(k, 1e6, capacityRequests)(p.Scenario)
	c := &clearance{}
	// All requests come at once, so that a warm-up would leave out every one.
	_, err = p.Simulate(ctx, scenario.Options{WarmUp: &scenario.WarmUp{}, Watch: func(*scenario.Opened) observe.Sink { return c }})
	if err != nil {
		return 0, err
	}
	rate := c.rate()
	if !(rate > 0) {
		return 0, fmt.Errorf("no capacity can be measured with %.3g %% prompts of %d tokens: nothing was completed while requests queued", 100*u.share, u.length)
	}
	return rate, nil
}
