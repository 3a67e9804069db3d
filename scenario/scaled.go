package scenario

import (
	"slices"

	"servesim/sim"
)

// A Scale changes how much load a plan is put under, and by how many replicas.
type Scale struct {
	// Rate multiplies the rate of the workload, by the rates of its parts if
	// Draws, otherwise by transform.rate, which thins it or lays shifted copies of
	// it over each other.
	Rate  float64
	Draws bool
	// Duration, if it isn't 0, takes the place of the limits of every part, which
	// must be drawn.
	Duration sim.Duration
	// Replicas takes the place of the number of replicas.
	Replicas int64
	// Seed takes the place of the seed.
	Seed uint64
}

// Scaled returns p under another load. Several of what it returns may run at the
// same time, if p itself does not. The text of the result, unlike what it runs, is
// that of p.
func (p *Plan) Scaled(by Scale) *Plan {
	s := *p.Scenario
	s.Workload.Merge = slices.Clone(s.Workload.Merge)
	s.Seed, s.Pool.Replicas = &by.Seed, &by.Replicas
	_ = s.Pool.settle() // a number above 1 needs a router
	if !by.Draws && by.Rate != 1 {
		rate := by.Rate
		if r := s.Transform.Rate; r != nil {
			rate *= *r
		}
		s.Transform.Rate = &rate
	}
	for _, w := range s.Workload.Parts() {
		if by.Draws {
			mean, _ := w.MeanRate()
			rate := float64(mean * by.Rate)
			w.RatePerS = &rate
		}
		if by.Duration > 0 {
			w.Requests, w.Duration = nil, &by.Duration
		}
	}
	scaled := *p
	scaled.Scenario, scaled.Cost = &s, p.Cost.Clone()
	return &scaled
}
