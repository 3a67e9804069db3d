package scenario

import (
	"sort"

	"servesim/sim/gpu"
	"servesim/sim/observe"
)

// An extrapolation is an observe.Sink that counts the steps whose work is
// outside what the profile's coefficients were fitted on.
type extrapolation struct {
	cost           *gpu.StepTime
	steps, outside int64
}

// Request implements observe.Sink.
func (x *extrapolation) Request(*observe.Request) error { return nil }

// Step implements observe.Sink. Contexts grow along a run, so the steps outside
// are its last ones.
func (x *extrapolation) Step(r *observe.StepRun) error {
	x.steps += r.Steps
	last := stepWork(r)
	last.DecodeKV += (r.Steps - 1) * int64(r.Decodes)
	if !x.cost.Extrapolated(last) {
		return nil
	}
	inside := sort.Search(int(r.Steps), func(i int) bool {
		w := stepWork(r)
		w.DecodeKV += int64(i) * int64(r.Decodes)
		return x.cost.Extrapolated(w)
	})
	x.outside += r.Steps - int64(inside)
	return nil
}

// share returns the share of steps outside, 0 if there were none.
func (x *extrapolation) share() float64 {
	if x.steps == 0 {
		return 0
	}
	return float64(x.outside) / float64(x.steps)
}

// stepWork returns what the first step of r computed, as far as Extrapolated
// asks: who samples is left out.
func stepWork(r *observe.StepRun) gpu.Work {
	w := gpu.Work{DecodeSeqs: int64(r.Decodes), DecodeKV: r.DecodeKV}
	for i := range r.Chunks {
		c := &r.Chunks[i]
		w.AddChunk(int64(c.Start), int64(c.Tokens), false)
	}
	return w
}
