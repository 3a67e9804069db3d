package blame

import (
	"servesim/sim"
	"servesim/sim/observe"
)

// Seen is gaps between tokens, and what prompts of others took of each.
type Seen struct {
	// Step is the run of steps that they end in, and Gaps are those of its gaps. A
	// function must keep neither.
	Step *observe.StepRun
	Gaps *observe.Gaps
	// Named is what prompts of others took of each gap, 0 if none had a part in it.
	Named sim.Duration
	// Culprit is the request whose prompt took the most of that in one step, which was
	// Took, for Tokens of its prompt; -1 if Named is 0.
	Culprit int64
	Took    sim.Duration
	Tokens  int32
	// Again tells that they may be gaps of a sequence that came back from a preemption.
	Again bool
}

// see counts what the prompts of e took, d in all, of the gaps that are seen.
func (g *gapScale) see(t *timeline, e *entry, d sim.Duration) {
	if g.tell == nil {
		return
	}
	s := &g.seen
	s.Named += d
	before := int64(0)
	chunks := t.chunksOf(e)
	for i := range chunks {
		c := &chunks[i]
		upTo := before + int64(c.tokens)
		if took := portion(d, upTo, e.tokens) - portion(d, before, e.tokens); took > s.Took {
			s.Culprit, s.Took, s.Tokens = c.id, took, c.tokens
		}
		before = upTo
	}
}
