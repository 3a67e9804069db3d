package dialect

import (
	"servesim/analysis/transcript"
	"servesim/sim"
	"servesim/sim/observe"
)

// pauses are those of one call, each way that some Measure takes them, so that
// measures that take them alike go through the chunks once.
type pauses struct {
	ways []way
	n    int // ways of the call, of those that there is room for
}

// way is the pauses between the chunks of a set, spread over tokens.
type way struct {
	among  Set
	spread Spread
	runs   []observe.Gaps
	ok     bool // each chunk's tokens are known, as far as they matter
}

// pauses returns the pauses between the chunks of among as runs, those that grow
// or shrink evenly in one, as the steps of one batch do. ok is false if the source
// doesn't say how many tokens a chunk has and spread asks for it.
func (v *view) pauses(among Set, spread Spread) (runs []observe.Gaps, ok bool) {
	if among == Choices && v.choices == v.texts {
		among = Text
	}
	if among == Text && v.texts == v.visible {
		among = Visible
	}
	if v.single {
		spread = PerChunk
	}
	p := v.gaps
	for i := range p.ways[:p.n] {
		if w := &p.ways[i]; w.among == among && w.spread == spread {
			return w.runs, w.ok
		}
	}
	if p.n == len(p.ways) {
		p.ways = append(p.ways, way{})
	}
	w := &p.ways[p.n]
	p.n++
	w.among, w.spread, w.runs, w.ok = among, spread, w.runs[:0], true
	w.fill(v.call.Chunks)
	return w.runs, w.ok
}

// fill makes the runs of w.
func (w *way) fill(chunks []transcript.Chunk) {
	last, newest := transcript.Never, sim.Duration(0)
	var run observe.Gaps
	flush := func() {
		if run.Steps > 0 {
			w.runs = append(w.runs, run)
		}
		run.Steps = 0
	}
	for i := range chunks {
		c := &chunks[i]
		if !w.among.has(c) {
			continue
		}
		gap, first := c.At.Sub(last), last == transcript.Never
		last = c.At
		if w.spread != PerChunk && c.Tokens != 1 {
			flush()
			if c.Tokens == transcript.Unknown {
				w.runs, w.ok = w.runs[:0], false
				return
			}
			w.bundle(gap, c.Tokens, first)
			continue
		}
		switch {
		case first:
			continue
		case run.Steps == 0 || run.Steps == maxRun || run.Steps > 1 && gap-newest != run.Inc:
			flush()
			run = observe.Gaps{Seqs: 1, First: gap}
		case run.Steps == 1:
			run.Inc = gap - newest
		}
		run.Steps++
		newest = gap
	}
	flush()
}

// bundle adds the pause before a chunk of k tokens, other than 1, by the tokens; a
// first chunk has none before it.
func (w *way) bundle(gap sim.Duration, k int32, first bool) {
	switch {
	case k > 1 && w.spread == Burst:
		w.runs = append(w.runs, observe.Gaps{Seqs: k - 1, Steps: 1})
		if !first {
			w.runs = append(w.runs, observe.Gaps{Seqs: 1, Steps: 1, First: gap})
		}
	case k > 1 && !first:
		each := quotient{gap, int64(k)}.rounded(ToPicosecond)
		w.runs = append(w.runs, observe.Gaps{Seqs: k, Steps: 1, First: sim.Duration(each)})
	case !first: // a chunk that only a set of chunks without text has
		w.runs = append(w.runs, observe.Gaps{Seqs: 1, Steps: 1, First: gap})
	}
}

// worst returns the longest pause between two chunks of set.
func (v *view) worst(set Set) (worst sim.Duration, any bool) {
	runs, _ := v.pauses(set, PerChunk)
	for i := range runs {
		g := &runs[i]
		worst = max(worst, g.First, g.First+sim.Duration(g.Steps-1)*g.Inc)
	}
	return worst, len(runs) > 0
}
