package hardware

import (
	"context"
	"errors"
	"fmt"
	"math"
	"strings"
	"sync"

	"servesim/analysis"
	"servesim/capacity"
	"servesim/internal/workers"
	"servesim/scenario"
	"servesim/sim/gpu"
)

// Options say how configurations are compared.
type Options struct {
	// Options are those of each one's capacity. Jobs is the number of simulations at
	// once of all together. Progress may be called by several goroutines, one at a time.
	capacity.Options
	// Rate is that at which all are measured, in requests/s; 0 is the lowest of their
	// capacities.
	Rate float64
	// Share is that of its own capacity at which each is measured, from 0 to 1.
	Share float64
}

// DefaultShare is the Share of Options if nobody says it.
const DefaultShare = 0.8

// measuredRuns is the number of runs, under seeds of their own, of a rate at which
// configurations are measured.
const measuredRuns = analysis.FewestReplications

// A Comparison is what several configurations make of one workload.
type Comparison struct {
	// Load says how the rate is raised, and SLO is what users must get.
	Load string
	SLO  analysis.SLO
	// Resolution is that of Options.
	Resolution float64
	// Rate is that at which all are measured, in requests/s; RateGiven tells that
	// Options said it. Share is that of Options.
	Rate      float64
	RateGiven bool
	Share     float64
	// Sides are the configurations, in the order in which they were named.
	Sides []*Side
	// Flips are of each two that serve and have different GPUs.
	Flips []Flip
	// Requests is the number of all requests that were simulated.
	Requests int64
}

// A Side is one configuration of a comparison.
type Side struct {
	// Label is GPU:DTYPE:tpN in full, or what was written if there is no Plan.
	Label string
	// Plan is the scenario on it, nil if the model doesn't lie on the GPUs so.
	Plan *scenario.Plan
	// Reason says why it serves nothing, "" if it does: it doesn't fit, and then what
	// would, or no rate keeps the limits. What follows is then nil.
	Reason string
	// Answer is its capacity.
	Answer *capacity.Answer
	// AtRate and AtShare are what it does at the rate of all, and at its share.
	AtRate, AtShare *capacity.Trial
	// Prefill and Decode are its steps at its share, of the first run: those with
	// prompt tokens, and the others.
	Prefill, Decode *Phase

	deployment *capacity.Deployment
}

// GPUs returns the number of GPUs of all replicas of s.
func (s *Side) GPUs() float64 { return float64(s.Plan.GPUs()) }

// Compare runs the scenario of src on each of configs. The error is a
// scenario.UsageError if what is given is at fault, or none of them serves it.
func Compare(ctx context.Context, src scenario.Source, configs []Config, o Options) (*Comparison, error) {
	if err := o.check(); err != nil {
		return nil, err
	}
	if err := checkConfigs(&src, configs); err != nil {
		return nil, err
	}
	if src.Shelf == nil {
		src.Shelf = &scenario.Shelf{}
	}
	c := &Comparison{Resolution: o.Resolution, Rate: o.Rate, RateGiven: o.Rate > 0, Share: o.Share}
	w := newWork(ctx, &o, len(configs))
	for _, one := range configs {
		s, err := w.open(src, one)
		if err != nil {
			return nil, err
		}
		c.Sides = append(c.Sides, s)
	}
	if err := c.checkSides(configs, &o); err != nil {
		return nil, err
	}
	if err := w.each(c.Sides, (*Side).findCapacity); err != nil {
		return nil, err
	}
	if err := c.serving(); err != nil {
		return nil, err
	}
	c.settleRate()
	if err := w.each(c.Sides, func(s *Side) error { return s.measure(c) }); err != nil {
		return nil, err
	}
	c.Requests = w.requests
	c.flips()
	return c, nil
}

// check returns a scenario.UsageError of what is wrong with o.
func (o *Options) check() error {
	switch {
	case o.Rate != 0 && !(o.Rate > 0 && o.Rate <= 1e6):
		return usagef("rate: found %g; must be more than 0 and at most 1,000,000 requests/s", o.Rate)
	case !(o.Share > 0 && o.Share <= 1):
		return usagef("share: found %g; must be more than 0 and at most 1, a share of each one's capacity", o.Share)
	}
	return o.Options.Check()
}

// work is simulations of several sides at once.
type work struct {
	ctx     context.Context
	options capacity.Options // of each side
	jobs    int

	mu       sync.Mutex
	requests int64
}

// newWork returns the work on n sides. Few jobs are divided among sides, and what is
// left among the runs of each.
func newWork(ctx context.Context, o *Options, n int) *work {
	w := &work{ctx: ctx, options: o.Options, jobs: o.Jobs}
	w.options.Jobs = max(1, o.Jobs/n)
	w.options.Progress = func(t *capacity.Trial) {
		w.mu.Lock()
		defer w.mu.Unlock()
		w.requests += t.Requests
		if o.Progress != nil {
			o.Progress(t)
		}
	}
	return w
}

// open returns the side of a configuration.
func (w *work) open(src scenario.Source, c Config) (*Side, error) {
	d, err := capacity.Open(w.ctx, src.Override(c.settings()), w.options)
	if why, ok := scenario.Unfit(err); ok {
		return &Side{Label: c.Text, Reason: why}, nil
	}
	if err != nil {
		return nil, err
	}
	m := d.Plan().Machine
	label := fmt.Sprintf("%s:%s:tp%d", m.Profile.Name, m.Weights, *d.Plan().Scenario.Hardware.TensorParallelSize)
	return &Side{Label: label, Plan: d.Plan(), deployment: d}, nil
}

// each does something for each of sides that serves, several at once.
func (w *work) each(sides []*Side, do func(s *Side) error) error {
	faults := make([]error, len(sides))
	workers.Each(w.ctx, w.jobs, len(sides), func(i int) bool {
		if sides[i].Reason == "" {
			faults[i] = do(sides[i])
		}
		return faults[i] == nil
	})
	if err := workers.Fault(faults); err != nil {
		return err
	}
	return context.Cause(w.ctx)
}

// checkSides returns the fault of configurations that are the same, and of prices of
// GPUs that aren't there.
func (c *Comparison) checkSides(configs []Config, o *Options) error {
	var names []string
	for i, one := range configs {
		p, err := gpu.LoadProfile(one.GPU)
		if err != nil {
			return &scenario.UsageError{Err: err}
		}
		names = append(names, p.Name)
		for k, s := range c.Sides[:i] {
			switch {
			case s.Label != c.Sides[i].Label:
			case !strings.EqualFold(configs[k].GPU, one.GPU):
				return usagef("%s and %s: both profiles are called %s; give them names of their own", configs[k].Text, one.Text, p.Name)
			default:
				return usagef("%s and %s are the same configuration, %s; leave one out", configs[k].Text, one.Text, s.Label)
			}
		}
	}
	return o.CheckCosts(names...)
}

// findCapacity finds what s carries.
func (s *Side) findCapacity() error {
	a, err := s.deployment.Capacity()
	var none *capacity.Unmet
	if errors.As(err, &none) {
		s.Reason = none.Text
		return nil
	}
	s.Answer = a
	return err
}

// serving returns the error that no side serves.
func (c *Comparison) serving() error {
	var faults []error
	for _, s := range c.Sides {
		if s.Reason == "" {
			c.Load, c.SLO = s.Answer.Load, s.Answer.SLO
			return nil
		}
		faults = append(faults, fmt.Errorf("%s: %s", s.Label, s.Reason))
	}
	return &scenario.UsageError{Err: errors.Join(faults...)}
}

// settleRate finds the rate at which all are measured.
func (c *Comparison) settleRate() {
	if c.RateGiven {
		return
	}
	c.Rate = math.Inf(1)
	for _, s := range c.Sides {
		if s.Reason == "" {
			c.Rate = min(c.Rate, s.Answer.Rate)
		}
	}
}

// measure measures s at the rate of c and at its own share.
func (s *Side) measure(c *Comparison) error {
	if low, high := s.deployment.Bounds(); c.Rate < low || c.Rate > high {
		return usagef("rate: found %g; this workload, of %g requests/s, can be replayed at %g to %g", c.Rate, s.Answer.Today, low, high)
	}
	var err error
	if s.AtRate, err = s.deployment.Measure(c.Rate, measuredRuns); err != nil {
		return err
	}
	steps := newPhases(s.Plan.Cost.Clone())
	if s.AtShare, err = s.deployment.Measure(c.Share*s.Answer.Rate, measuredRuns, steps); err != nil {
		return err
	}
	s.Prefill, s.Decode = steps.phases()
	return nil
}
