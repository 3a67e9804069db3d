package validate

import (
	"servesim/sim"
	"servesim/sim/gpu"
)

// uncachedTokens is what is computed of a prompt that the prefix cache holds
// nearly whole. Step traces of the runs that the rule is for have a median of 1
// to 4 such tokens a prompt.
const uncachedTokens = 4

// A cachedCost costs steps whose prompts come out of a prefix cache but for
// their last uncachedTokens: the engine is shown whole prompts, whose blocks and
// token budget it counts, and only the last tokens of each take time.
type cachedCost struct {
	gpu.Cost
	prompt int64 // tokens of each prompt
}

// Step implements gpu.Cost.
func (c cachedCost) Step(w gpu.Work) sim.Duration {
	done := w.Samples - w.DecodeSeqs
	w.PrefillTokens, w.PrefillSeqs, w.PrefillPairs = 0, 0, 0
	for range done {
		w.AddChunk(max(0, c.prompt-uncachedTokens), min(uncachedTokens, c.prompt), false)
	}
	return c.Cost.Step(w)
}
