package engine

import (
	"errors"
	"fmt"

	"servesim/sim"
	"servesim/sim/gpu"
	"servesim/sim/observe"
	"servesim/sim/scheduler"
	"servesim/sim/workload"
)

// Config says what to run.
type Config struct {
	// Scheduler is the batching policy with its limits.
	Scheduler scheduler.Config
	// Replicas is the number of engines that serve the requests, all equal; 0 is 1.
	Replicas int
	// Router sends each request to one of several replicas; one needs none.
	Router Router
	// Cost says how long a step of a replica takes.
	Cost gpu.Cost
	// Drill is what goes wrong on purpose.
	Drill Drill
	// Source yields the requests.
	Source workload.Source
	// Sink takes the records.
	Sink observe.Sink
	// Detail fills in Request.Made, StepRun.Base and StepRun.Oldest, which take some per cent of a
	// run's time: a quarter where every prompt interrupts every decode.
	Detail bool
	// Seed decides the draws of RequestDelay and ResponseDelay.
	Seed sim.Seed
	// RequestDelay is the time from the client's call to the engine's queue,
	// ResponseDelay the time back. The zero Delay is none.
	RequestDelay, ResponseDelay workload.Delay
	// Timeout is how long after its arrival a client gives a request up; 0 is never.
	Timeout sim.Duration
	// Horizon ends the run: no step runs past it, and what is not finished then
	// stays unfinished. 0 is to run until every request has left.
	Horizon sim.Duration
}

// Check returns all faults of c, joined, or nil.
func (c *Config) Check() error {
	var faults []error
	if err := c.Scheduler.Check(); err != nil {
		faults = append(faults, err)
	}
	if c.Cost == nil || c.Source == nil || c.Sink == nil {
		faults = append(faults, errors.New("engine: cost model, source and sink are all needed"))
	}
	if c.Replicas < 0 || c.Replicas > MaxReplicas {
		faults = append(faults, fmt.Errorf("replicas: found %d; there are from 1 to %d", c.Replicas, MaxReplicas))
	}
	if c.Replicas > 1 && c.Router == nil {
		faults = append(faults, fmt.Errorf("router: %d replicas need one", c.Replicas))
	}
	if err := c.Drill.Check(c.replicas()); err != nil {
		faults = append(faults, err)
	}
	if c.Timeout < 0 {
		faults = append(faults, fmt.Errorf("timeout: found %v; it must be 0 (never) or more", c.Timeout))
	}
	if c.Horizon < 0 {
		faults = append(faults, fmt.Errorf("horizon: found %v; it must be 0 (none) or more", c.Horizon))
	}
	if c.Scheduler.AllowLivelock && c.Horizon == 0 {
		faults = append(faults, errors.New("horizon: with the engine's livelock allowed, a request that can never fit runs for ever; set a horizon"))
	}
	return errors.Join(faults...)
}

// MaxReplicas is the most replicas of a pool.
const MaxReplicas = 4096

// replicas returns the number of replicas.
func (c *Config) replicas() int { return max(c.Replicas, 1) }

// The reasons of requests that are rejected, lost or left unfinished, beside those
// that a policy gives.
const (
	ReasonModelLen = "prompt leaves no room for output within max_model_len"
	ReasonHorizon  = "the run's horizon came first"
	ReasonBlocked  = "blocked for ever behind a request that cannot be served"
	// Of requests that a Drill hit.
	ReasonNoReplica = "no replica took requests"
	ReasonLost      = "its replica failed"
	ReasonStarted   = "its replica failed when the answer had begun to stream"
	ReasonRetries   = "its replica failed, and it had been tried again as often as allowed"
)
