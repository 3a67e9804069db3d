package blame

import (
	"servesim/sim"
	"servesim/sim/observe"
)

// difference returns the entry whose differences count from entries[i] on, which
// may be the next to come.
func (t *timeline) difference(i int) *entry {
	if i < len(t.entries) {
		return &t.entries[i]
	}
	return &t.later
}

// trim forgets the steps that ended by bound, but for the latest of all, and
// settles with the prompts in them.
func (t *timeline) trim(bound sim.Time, b *book) {
	for t.head < len(t.entries)-1 && t.entries[t.head].end <= bound {
		t.settle(&t.entries[t.head], b)
		t.head++
	}
	if t.head < 256 || 2*t.head < len(t.entries) {
		return
	}
	from := t.entries[t.head].chunk
	t.chunks = t.chunks[:copy(t.chunks, t.chunks[from-t.gone:])]
	t.gone = from
	t.entries = t.entries[:copy(t.entries, t.entries[t.head:])]
	t.starts = t.starts[:copy(t.starts, t.starts[t.head:])]
	t.past += int64(t.head)
	t.head = 0
	t.gaps.forget(t.entries[0].serial)
}

// settle charges the prompts of e for those who decoded or queued through it.
func (t *timeline) settle(e *entry, b *book) {
	t.decoding += e.decoding
	t.queued += e.queued
	if e.chunks == 0 {
		return
	}
	d := e.lasts(1)
	excess := d
	if e.decodes > 0 {
		excess -= e.base
	}
	waited := int64(0)
	if waitCauses()[e.wait] == Behind {
		waited = int64(t.queued)
	}
	chunks := t.chunksOf(e)
	before := int64(0)
	for i := range chunks {
		c := &chunks[i]
		upTo := before + int64(c.tokens)
		c.decode = plus(c.decode, int64(t.decoding), portion(excess, upTo, e.tokens)-portion(excess, before, e.tokens))
		c.wait = plus(c.wait, waited, portion(d, upTo, e.tokens)-portion(d, before, e.tokens))
		before = upTo
		b.settle(c)
	}
}

// close settles with every prompt that is left.
func (t *timeline) close(b *book) {
	for ; t.head < len(t.entries); t.head++ {
		t.settle(&t.entries[t.head], b)
	}
}

// keep is the earliest instant that the pending requests ask about, or bound if
// that is earlier.
func (t *timeline) keep(bound sim.Time) sim.Time {
	for i := range t.pending {
		if joined := t.pending[i].Joined(); joined != observe.Never {
			bound = min(bound, joined)
		}
	}
	return bound
}
