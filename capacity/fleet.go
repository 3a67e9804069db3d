package capacity

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"math"
	"slices"
	"strings"

	"servesim/analysis"
	"servesim/scenario"
	"servesim/sim/gpu"
)

// FleetOptions say which deployments may serve a rate.
type FleetOptions struct {
	// Rate is in requests/s; 0 is that of the scenario, a trace being replayed as
	// it is.
	Rate float64
	// GPUs are profiles and TPs numbers of GPUs that share each layer; of an empty
	// list the scenario's own.
	GPUs []string
	TPs  []int64
	// Spare is the number of replicas that may be lost while the limits still hold.
	Spare int64
}

// maxReplicas is the most replicas of a deployment.
const maxReplicas = 1024

// Fleet says what it takes to serve a rate.
type Fleet struct {
	SLO analysis.SLO
	// Rate is in requests/s.
	Rate  float64
	Spare int64
	// Choices are the deployments, the cheapest first, those without a price after
	// them by their GPUs, those that can't do it last.
	Choices []Choice
	// Trials and Requests are the number of pools that were simulated, and that of
	// their requests.
	Trials   int
	Requests int64
}

// Choice is a deployment.
type Choice struct {
	GPU string
	TP  int64
	// Plan is what runs the rate on Replicas, nil if there are none.
	Plan *scenario.Plan
	// Replicas is the fewest at which every limit is kept, and the spare ones beside
	// them. It is 0 if there is none, and Reason says why.
	Replicas, GPUs int64
	Reason         string
	// At is the trial without the spare replicas, Whole the one with them, the same
	// if there are none, and Less that with one replica less than At; nil if At has one.
	At, Whole, Less *Trial
	// Cost is that of Whole.
	Cost Cost
}

// Fewest returns the fewest GPUs that serve a rate within the limits of the
// scenario of src, for each kind of deployment that f allows. Pools are simulated
// as they are; no capacity is multiplied. The error is a scenario.UsageError if
// what is given is at fault, or no deployment does it.
func Fewest(ctx context.Context, src scenario.Source, o Options, f FleetOptions) (*Fleet, error) {
	if err := o.Check(); err != nil {
		return nil, err
	}
	if err := errors.Join(f.check(), f.refuse(src.Settings)); err != nil {
		return nil, err
	}
	if len(f.GPUs) > 0 {
		if err := o.CheckCosts(f.GPUs...); err != nil {
			return nil, err
		}
	}
	if src.Shelf == nil {
		src.Shelf = &scenario.Shelf{}
	}
	out := &Fleet{Spare: f.Spare}
	for _, s := range f.deployments() {
		c, err := out.choice(ctx, src, s, &o, &f)
		if err != nil {
			return nil, err
		}
		out.Choices = append(out.Choices, c)
	}
	slices.SortStableFunc(out.Choices, func(a, b Choice) int {
		return cmp.Or(cmp.Compare(rank(&a), rank(&b)), cmp.Compare(a.GPUs, b.GPUs))
	})
	if out.Choices[0].Replicas == 0 {
		return nil, out.impossible()
	}
	return out, nil
}

// check returns a scenario.UsageError of everything that is wrong with f.
func (f *FleetOptions) check() error {
	var faults []error
	fault := func(format string, args ...any) { faults = append(faults, fmt.Errorf(format, args...)) }
	if f.Rate != 0 && !(f.Rate > 0 && f.Rate <= 1e6) {
		fault("rate: found %g; must be more than 0 and at most 1,000,000 requests/s", f.Rate)
	}
	if f.Spare < 0 || f.Spare > 100 {
		fault("spare: found %d; must be from 0 to 100 replicas", f.Spare)
	}
	for i, g := range f.GPUs {
		if _, err := gpu.LoadProfile(g); err != nil {
			fault("gpus: %w", err)
		}
		if slices.Contains(f.GPUs[:i], g) {
			fault("gpus: %s is named twice; leave one out", g)
		}
	}
	for i, n := range f.TPs {
		if !slices.Contains([]int64{1, 2, 4, 8}, n) { // those of hardware.tensor_parallel_size
			fault("tps: found %d; must be 1, 2, 4 or 8 GPUs", n)
		}
		if slices.Contains(f.TPs[:i], n) {
			fault("tps: %d is named twice; leave one out", n)
		}
	}
	if err := errors.Join(faults...); err != nil {
		return &scenario.UsageError{Err: err}
	}
	return nil
}

// refuse returns a scenario.UsageError of settings that deployments take the place of.
func (f *FleetOptions) refuse(settings []scenario.Setting) error {
	var faults []error
	for _, s := range settings {
		switch {
		case s.Key == "pool.replicas":
			faults = append(faults, fmt.Errorf("%s: how many replicas it takes is what is looked for; leave it out", s))
		case s.Key == gpuKey && len(f.GPUs) > 0:
			faults = append(faults, fmt.Errorf("%s: --gpus says which are tried; leave one out", s))
		case s.Key == tpKey && len(f.TPs) > 0:
			faults = append(faults, fmt.Errorf("%s: --tps says which are tried; leave one out", s))
		}
	}
	if err := errors.Join(faults...); err != nil {
		return &scenario.UsageError{Err: err}
	}
	return nil
}

// rank orders choices by price, +Inf being one that can't do it.
func rank(c *Choice) float64 {
	switch {
	case c.Replicas == 0:
		return math.Inf(1)
	case math.IsNaN(c.Cost.USDPerHour):
		return math.MaxFloat64
	}
	return c.Cost.USDPerHour
}

// impossible returns the error that no choice serves the rate.
func (f *Fleet) impossible() error {
	var faults []error
	for _, c := range f.Choices {
		faults = append(faults, errors.New(c.name()+c.Reason))
	}
	return &scenario.UsageError{Err: errors.Join(faults...)}
}

// name names what differs between choices, behind it a colon, if anything does.
func (c *Choice) name() string {
	if c.GPU == "" && c.TP == 0 {
		return ""
	}
	return strings.TrimSpace(fmt.Sprintf("%s TP%d", c.GPU, c.TP)) + ": "
}

// The keys of a scenario that deployments give.
const (
	gpuKey = "hardware.gpu"
	tpKey  = "hardware.tensor_parallel_size"
)

// deployments returns the settings of each.
func (f *FleetOptions) deployments() []map[string]any {
	list := []map[string]any{{}}
	cross := func(key string, values []any) {
		if len(values) == 0 {
			return
		}
		var more []map[string]any
		for _, s := range list {
			for _, v := range values {
				one := map[string]any{key: v}
				for k, x := range s { // into a map
					one[k] = x
				}
				more = append(more, one)
			}
		}
		list = more
	}
	var gpus, tps []any
	for _, g := range f.GPUs {
		gpus = append(gpus, g)
	}
	for _, n := range f.TPs {
		tps = append(tps, n)
	}
	cross(gpuKey, gpus)
	cross(tpKey, tps)
	return list
}

// with returns src with settings in the place of its own of the same keys.
func with(src scenario.Source, settings map[string]any) (scenario.Source, error) {
	var list []scenario.Setting
	for _, key := range sortedKeys(settings) {
		s, err := scenario.NewSetting(key, settings[key], map[string]string{gpuKey: "--gpus"}[key])
		if err != nil {
			return src, err
		}
		s.Flag = cmp.Or(s.Flag, "--tps")
		list = append(list, s)
	}
	return src.Override(list), nil
}

// choice returns the fewest replicas of a deployment.
func (f *Fleet) choice(ctx context.Context, src scenario.Source, settings map[string]any, o *Options, want *FleetOptions) (Choice, error) {
	c := Choice{}
	c.GPU, _ = settings[gpuKey].(string)
	c.TP, _ = settings[tpKey].(int64)
	src, err := with(src, settings)
	if err != nil {
		return c, err
	}
	l, slo, err := prepare(src, o)
	if why, ok := scenario.Unfit(err); ok && len(want.deployments()) > 1 {
		c.Reason = why
		return c, nil
	}
	if err != nil {
		return c, err
	}
	if len(want.GPUs) == 0 {
		if err := o.CheckCosts(l.plan.Machine.Profile.Name); err != nil {
			return c, err
		}
	}
	f.SLO = slo
	c.GPU, c.TP = l.plan.Machine.Profile.Name, *l.plan.Scenario.Hardware.TensorParallelSize
	f.Rate = cmp.Or(want.Rate, l.rate)
	if low, high := l.bounds(); f.Rate < low || f.Rate > high {
		return c, usagef("rate: found %g; this workload, of %g requests/s, can be replayed at %g to %g", f.Rate, l.rate, low, high)
	}
	b := newBench(ctx, l, slo, o)
	if err := b.fewest(&c, f.Rate, want.Spare); err != nil {
		return c, err
	}
	f.Trials, f.Requests = f.Trials+len(b.trials), f.Requests+b.requests
	if c.Replicas > 0 {
		c.Plan = l.at(f.Rate, c.Replicas, o.Requests, 0)
		c.Cost = costOf(l.plan.Machine.Profile, c.Whole.Report, o)
	}
	return c, nil
}

// fewest finds the fewest replicas of c that serve rate.
func (b *bench) fewest(c *Choice, rate float64, spare int64) error {
	n, err := last(1, 1, maxReplicas, 1, func(n int) (bool, error) {
		t, err := b.get(rate, int64(n))
		if err != nil {
			return false, err
		}
		return !t.Holds, nil
	})
	if err != nil {
		return err
	}
	if n++; n < 1 {
		n = 1
	}
	if n > maxReplicas {
		t, err := b.get(rate, maxReplicas)
		if err != nil {
			return err
		}
		c.Reason = fmt.Sprintf("%d replicas don't keep the limits: %s", maxReplicas, missed(t))
		return nil
	}
	if c.At, err = b.get(rate, int64(n)); err != nil {
		return err
	}
	if c.Whole, err = b.get(rate, int64(n)+spare); err != nil {
		return err
	}
	if n > 1 {
		if c.Less, err = b.get(rate, int64(n)-1); err != nil {
			return err
		}
	}
	c.Replicas = int64(n) + spare
	c.GPUs = c.Replicas * c.TP
	return nil
}
