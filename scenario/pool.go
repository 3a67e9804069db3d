package scenario

import (
	"fmt"

	"servesim/internal/strict"
	"servesim/sim"
	"servesim/sim/engine"
)

// PoolSection is the replicas that serve the requests: equal engines, each a machine
// as HardwareSection describes it, behind a router.
type PoolSection struct {
	// Replicas is the number of engines.
	Replicas *int64 `toml:"replicas"`
	// Router is the name of one of engine.Routers.
	Router string `toml:"router"`
	// Retry is one of engine.RetryRules, MaxRetries and RetryDelay how often at most,
	// and how long after a failure, a request is tried again.
	Retry      string        `toml:"retry"`
	MaxRetries *int64        `toml:"max_retries"`
	RetryDelay *sim.Duration `toml:"retry_delay"`
	// WaitForReplica is how long a request waits while no replica takes any.
	WaitForReplica *sim.Duration `toml:"wait_for_replica"`
	// Rolling restarts the replicas one after the other.
	Rolling *RollingSection `toml:"rolling_restart"`
	// Failures are replicas that fail on purpose.
	Failures []FailureSection `toml:"failure,tables"`
}

// settle gives the absent keys their defaults, and returns the faults of the others.
func (p *PoolSection) settle() []strict.Fault {
	settle(&p.Replicas, 1)
	var faults []strict.Fault
	if n := *p.Replicas; n < 1 || n > engine.MaxReplicas {
		faults = append(faults, strict.Fault{Key: "pool.replicas", Text: fmt.Sprintf("found %d; must be from 1 to %d engines", n, engine.MaxReplicas)})
	}
	if p.Router == "" && *p.Replicas > 1 {
		p.Router = engine.DefaultRouter
	}
	if _, ok := engine.FindRouter(p.Router); p.Router != "" && !ok {
		faults = append(faults, strict.Fault{Key: "pool.router", Text: UnknownName("router", p.Router, routerNames())})
	}
	return append(faults, p.settleDrill()...)
}

// router returns the router of a run, nil if there is nothing to choose.
func (p *PoolSection) router(seed sim.Seed) engine.Router {
	r, ok := engine.FindRouter(p.Router)
	if !ok {
		return nil
	}
	return r.New(seed)
}

// routerNames lists the routers.
func routerNames() []string {
	var names []string
	for _, r := range engine.Routers() {
		names = append(names, r.Name)
	}
	return names
}

// Replicas returns the number of engines.
func (p *Plan) Replicas() int64 { return *p.Scenario.Pool.Replicas }

// GPUs returns the number of GPUs of all engines.
func (p *Plan) GPUs() int64 { return p.Replicas() * *p.Scenario.Hardware.TensorParallelSize }
