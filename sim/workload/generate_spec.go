package workload

import (
	"math"
	"math/rand/v2"

	"servesim/internal/strict"
	"servesim/sim"
)

// Spec describes a drawn workload in a scenario file:
//
//	preset = "azure-chat"     # a base; every key below replaces the preset's
//	requests = 10000          # end after so many
//	duration = "10m"          # and before this instant; one of the two is needed
//	rate_per_s = 12.5         # the mean rate, whatever the process
//	arrival = { process = "poisson", rate_per_s = 12.5 }          # see ArrivalSpec
//	prompt = { dist = "lognormal", mean = 1000, sigma = 0.8 }     # see LengthSpec
//	output = { dist = "lognormal", mean = 250, sigma = 0.7 }      # see LengthSpec
//	cancel = { fraction = 0.02, after = { dist = "exponential", mean = "5s" } }
//
//	[[classes]]               # optional
//	name = "long"
//	weight = 1
//	priority = 0
//	prompt = { dist = "uniform", min = 8192, max = 32768 }
//
// Instead of arrival, closed_loop has users who wait for their answers:
//
//	closed_loop = { users = 32, think_time = { dist = "exponential", mean = "2s" } }
//
// A key replaces the preset's key whole, tables too, with two rules: requests
// or duration replaces both of the preset's limits, and arrival replaces its
// closed_loop or the other way round.
type Spec struct {
	// Preset names the workload that the other keys change; see Presets.
	Preset string `toml:"preset"`
	// Requests ends the workload after so many requests.
	Requests *int64 `toml:"requests"`
	// Duration ends it before the first arrival at or after this instant.
	Duration *sim.Duration `toml:"duration"`
	// RatePerS replaces the rate of the arrival process, as its rate_per_s
	// would.
	RatePerS *float64 `toml:"rate_per_s"`
	// Arrival says when requests arrive: an open loop.
	Arrival *ArrivalSpec `toml:"arrival"`
	// ClosedLoop has users who make a call, wait for its end, think, and make
	// the next.
	ClosedLoop *ClosedLoopSpec `toml:"closed_loop"`
	// Prompt is the number of prompt tokens.
	Prompt *LengthSpec `toml:"prompt"`
	// Output is the number of output tokens.
	Output *LengthSpec `toml:"output"`
	// Classes are kinds of requests; without them all requests are of one
	// kind, without a name.
	Classes []ClassSpec `toml:"classes"`
	// Cancel has clients give up some requests.
	Cancel *CancelSpec `toml:"cancel"`
}

// ClassSpec describes one kind of request.
type ClassSpec struct {
	// Name is the label in reports by class; names differ.
	Name string `toml:"name"`
	// Weight is the share of requests of this class; only ratios count.
	Weight *float64 `toml:"weight"`
	// Priority is Request.Priority: smaller runs first; the default is 0.
	Priority int32 `toml:"priority"`
	// Prompt and Output replace those of the Spec for this class.
	Prompt *LengthSpec `toml:"prompt"`
	Output *LengthSpec `toml:"output"`
}

// CancelSpec describes clients who give up.
type CancelSpec struct {
	// Fraction is the share of requests that are given up, from 0 to 1.
	Fraction *float64 `toml:"fraction"`
	// After is how long after its arrival a request is given up, if it has not
	// ended by then.
	After *DelaySpec `toml:"after"`
}

// ParseSpec reads a Spec from the TOML text of file. The error joins every
// fault of syntax, unknown key and value of the wrong kind, each with its line.
// The Spec is not checked yet.
func ParseSpec(file, text string) (Spec, error) {
	tree, err := strict.Parse(file, text)
	if err != nil {
		return Spec{}, err
	}
	var s Spec
	if err := strict.Join(strict.Decode(tree, &s, strict.Where(file, text))); err != nil {
		return Spec{}, err
	}
	return s, nil
}

// Check returns every fault of s, each a *SpecFault.
func (s Spec) Check() []error {
	_, faults := s.plan()
	return faults
}

// Source returns the workload that s describes, drawn from seed. It is a
// Reactive if s has a closed loop. The error is the first fault of Check.
func (s Spec) Source(seed sim.Seed) (Source, error) { return s.SourceOf(seed, "") }

// SourceOf is Source for one of several workloads that are drawn from one seed:
// label, which differs from theirs, begins the names of its streams, so that no
// two draw the same and none moves another's draws.
func (s Spec) SourceOf(seed sim.Seed, label string) (Source, error) {
	p, faults := s.plan()
	if len(faults) > 0 {
		return nil, faults[0]
	}
	if p.loop != nil {
		return p.loop.start(seed, label, p), nil
	}
	return &Generator{
		arrivals: p.arrivals(*seed.Stream(label + "arrival")),
		mix:      p.mix,
		draws: draws{
			class: *seed.Stream(label + "class"), prompt: *seed.Stream(label + "prompt"), output: *seed.Stream(label + "output"),
			cancel: *seed.Stream(label + "cancel"), after: *seed.Stream(label + "cancel after"),
		},
		requests: p.requests,
		until:    p.until,
	}, nil
}

// plan is a checked Spec.
type plan struct {
	arrivals func(rand.PCG) arrivals
	loop     *closedLoop // nil for an open loop
	mix      mix
	requests int64    // math.MaxInt64 without a limit
	until    sim.Time // sim.MaxTime without a limit
}

// plan resolves the preset and checks what results.
func (s Spec) plan() (plan, []error) {
	var c specCheck
	s, err := s.Resolve()
	if err != nil {
		return plan{}, []error{err}
	}
	p := plan{requests: math.MaxInt64, until: sim.MaxTime}
	if s.Requests != nil {
		p.requests = c.whole("requests", s.Requests, 1, maxRequests, "a number of requests")
	}
	if s.Duration != nil {
		p.until = sim.Time(c.span("duration", s.Duration, sim.Picosecond, sim.MaxDuration, "a duration"))
	}
	c.process(s, &p)
	c.mix(s, &p.mix)
	return p, c.faults
}
