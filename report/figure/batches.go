package figure

import (
	"slices"

	"servesim/sim"
	"servesim/sim/observe"
)

const (
	// stepsBefore and stepsAfter are the steps that are shown around the longest gap.
	stepsBefore = 40
	stepsAfter  = 40
)

// A step is what an engine did at once.
type step struct {
	start   sim.Time
	lasts   sim.Duration
	prefill int64 // tokens of prompts
	decodes int64 // sequences, of a token each
}

// batches is the latest steps of a replica.
type batches struct {
	ring [stepsBefore]step
	n    int
}

// around is the steps around the longest gap of a run.
type around struct {
	gap     sim.Duration
	end     sim.Time // of the gap
	replica int32
	steps   []step
	left    int // steps that are still to come
}

// begin begins anew around a gap that ends in the first step of r.
func (a *around) begin(gap sim.Duration, r *observe.StepRun) {
	*a = around{gap: gap, end: r.Start.Add(r.First), replica: r.Replica, left: stepsAfter}
}

// latest returns the latest steps in order.
func (b *batches) latest() []step {
	if b.n < stepsBefore {
		return slices.Clone(b.ring[:b.n])
	}
	at := b.n % stepsBefore
	return append(slices.Clone(b.ring[at:]), b.ring[:at]...)
}

// add takes the steps of r: those that are among its latest, and those that still
// belong around the longest gap.
func (b *batches) add(r *observe.StepRun, a *around) {
	one := step{start: r.Start, lasts: r.First, decodes: int64(r.Decodes)}
	for _, c := range r.Chunks {
		one.prefill += int64(c.Tokens)
	}
	for i := int64(0); i < r.Steps; i++ {
		if i >= stepsAfter && i < r.Steps-stepsBefore {
			i = r.Steps - stepsBefore
			k := sim.Duration(i)
			one.start = r.Start.Add(k*r.First + r.Inc*(k*(k-1)/2))
			one.lasts = r.First + r.Inc*k
		}
		b.ring[b.n%stepsBefore] = one
		b.n++
		if a.left > 0 && a.replica == r.Replica {
			a.steps = append(a.steps, one)
			a.left--
		}
		one.start = one.start.Add(one.lasts)
		one.lasts += r.Inc
	}
}
