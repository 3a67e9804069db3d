package analysis

import (
	"servesim/sim"
	"servesim/sim/observe"
)

// WarmUp is what the figures of a run leave out because the system was still
// filling: the requests that arrived before an instant and the runs of steps that
// began before it. They were simulated all the same, and load the engine.
type WarmUp struct {
	// Rule says in words how the instant was found.
	Rule string
	// From is the instant from which on requests and steps are in the figures.
	From sim.Time
	// Requests and Steps are the numbers left out.
	Requests, Steps int64
	// Unsettled tells that a rule found no such instant, and nothing is left out.
	Unsettled bool
}

// A Cut is an observe.Sink that hands on only what comes after a warm-up: requests
// that arrive and runs of steps that begin at From or later. A request with an ID
// below First is left out too, so that of requests that arrive together the first
// ones can be.
type Cut struct {
	First int64
	From  sim.Time
	To    observe.Sink

	requests, steps int64
}

// LeftOut returns the numbers of requests and of steps left out so far.
func (c *Cut) LeftOut() (requests, steps int64) { return c.requests, c.steps }

// Leaves tells whether the request id that arrives at an instant is left out.
func (c *Cut) Leaves(id int64, arrival sim.Time) bool { return arrival < c.From || id < c.First }

// Request implements observe.Sink. Its errors are those of To.
func (c *Cut) Request(r *observe.Request) error {
	if c.Leaves(r.ID, r.Arrival) {
		c.requests++
		return nil
	}
	return c.To.Request(r)
}

// Step implements observe.Sink. Its errors are those of To.
func (c *Cut) Step(r *observe.StepRun) error {
	if r.Start < c.From {
		c.steps += r.Steps
		return nil
	}
	return c.To.Step(r)
}

// WarmedUp sets what r leaves out.
func (r *Report) WarmedUp(w *WarmUp) {
	r.WarmUp = w
	if w.Unsettled {
		(*warnings)(&r.Warnings).add(NoWarmUp, w.Rule+" finds no end of a warm-up in the first half of the run, which is too short or in no steady state; nothing is left out")
	}
}
