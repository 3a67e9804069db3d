package blame

import (
	"sort"

	"servesim/sim"
	"servesim/sim/observe"
)

// waits is the number of causes of waiting in the queue that the sums tell apart.
const waits = 6

// waitCauses returns these causes.
func waitCauses() [waits]Cause { return [...]Cause{Slots, Blocks, Budget, Behind, Order, Idle} }

// waitOf returns the place in waitCauses of what a step that held the queue for
// the given reason is charged to.
func waitOf(why observe.Held, prompts bool) int {
	switch {
	case why == observe.HeldSlots:
		return 0
	case why == observe.HeldBlocks:
		return 1
	case why == observe.HeldBudget && !prompts:
		return 2
	case why == observe.HeldBudget || why == observe.HeldPartial && prompts:
		return 3
	case why == observe.HeldPartial || why == observe.HeldOrder:
		return 4
	}
	return 5
}

// sums adds up steps.
type sums struct {
	total   sim.Duration        // durations
	decodes int64               // steps that decode
	base    sim.Duration        // what those would have lasted without prompts
	slowed  sim.Duration        // and how much longer they did
	stalled sim.Duration        // durations of the steps that decode nothing
	wait    [waits]sim.Duration // durations by what they held the queue for
}

// entry is a run of steps in a timeline.
type entry struct {
	serial, steps    int64
	start, end       sim.Time
	first, inc, base sim.Duration
	tokens           int64 // of its chunks
	chunk            int64 // number of its first chunk among those of the timeline
	chunks           int32
	decodes          int32
	preempted, cut   bool
	wait             int8 // place in waitCauses
	before           sums // of all entries ahead of it
	// Differences, entry by entry, of the number of requests that were decoding,
	// and that were queued, while it went by.
	decoding, queued int32
}

// lasts returns how long the first n steps last.
func (e *entry) lasts(n int64) sim.Duration {
	k := sim.Duration(n)
	return k*e.first + e.inc*(k*(k-1)/2)
}

// after returns the sums after n of its steps.
func (e *entry) after(n int64) sums {
	s := e.before
	if n > 0 {
		s.add(e, n, e.lasts(n))
	}
	return s
}

// add adds n steps of e, which last d.
func (s *sums) add(e *entry, n int64, d sim.Duration) {
	s.total += d
	s.wait[e.wait] += d
	switch {
	case e.decodes == 0:
		s.stalled += d
	case e.chunks == 0:
		s.decodes += n
		s.base += d
	default:
		s.decodes += n
		s.base += e.base
		s.slowed += d - e.base
	}
}

// done returns how many of its steps have ended by t, which is not before its start.
func (e *entry) done(t sim.Time) int64 {
	if t >= e.end {
		return e.steps
	}
	if e.steps == 1 {
		return 0
	}
	d := t.Sub(e.start)
	return int64(sort.Search(int(e.steps), func(i int) bool { return e.lasts(int64(i)+1) > d }))
}

// chunk is a prompt's part of a step, and what it cost others.
type chunk struct {
	id           int64
	start        int32
	tokens       int32
	ghost        bool
	owner        int32 // of culprits, or nobody
	marks        int32 // the first of its marks, or nobody
	decode, wait sim.Duration
}

// mark is a chunk's share of gaps between tokens of about one length.
type mark struct {
	next  int32 // of the same chunk, or nobody
	place int32 // of the gaps, in the scale of all
	time  sim.Duration
}

// nobody is no owner.
const nobody = -1

// timeline is the steps of one replica that some request may still ask about.
type timeline struct {
	entries []entry
	starts  []sim.Time // of the entries, apart, since they are searched
	head    int        // entries[:head] are forgotten
	past    int64      // entries dropped before entries[0]
	firsts  [firsts]first
	chunks  []chunk
	gone    int64 // chunks forgotten before chunks[0]
	sums    sums  // of all entries
	next    int64 // serial to come
	any     bool

	decoding, queued int32 // sums of the differences of the forgotten entries
	later            entry // has the differences of the entry to come

	// end of the latest step that decoded, and the sums up to there
	lastDecode                           sim.Time
	baseThere, slowedThere, stalledThere sim.Duration

	regular sim.Duration // from the step that decoded before to the first of the latest run
	gaps    maxima
	pending []observe.Request // ended in a step that is not here yet
}

// end returns the end of the latest step, or observe.Never.
func (t *timeline) end() sim.Time {
	if !t.any {
		return observe.Never
	}
	return t.entries[len(t.entries)-1].end
}

// chunksOf returns the chunks of e.
func (t *timeline) chunksOf(e *entry) []chunk {
	i := e.chunk - t.gone
	return t.chunks[i : i+int64(e.chunks)]
}

// firsts is the number of requests whose first steps are looked up, not searched.
const firsts = 1 << 11

// first is the latest entry, counted from the first of all, that begins a prompt of
// request id.
type first struct{ id, entry int64 }

// first returns the index of the entry that began the prompt of request id, or one
// beyond the last if that is not known.
func (t *timeline) first(id int64) int {
	if f := &t.firsts[id&(firsts-1)]; f.id == id && f.entry >= t.past {
		return min(int(f.entry-t.past), len(t.entries))
	}
	return len(t.entries)
}

// at returns the index of the last entry that begins at or before instant x, or
// head - 1. It is quick if that is not far before entry near.
func (t *timeline) at(x sim.Time, near int) int {
	hi := len(t.entries)
	if near >= t.head && near < hi && t.starts[near] > x {
		hi = near
	}
	lo := t.head // entries[lo-1] begins at or before x, entries[hi] later
	for step := 1; hi > lo; step *= 2 {
		i := max(hi-step, lo)
		if t.starts[i] <= x {
			lo = i + 1
			break
		}
		hi = i
	}
	return t.between(lo, hi, x)
}

// after returns what at does, quickly if that is not far after entry i, which begins
// at or before x or is head - 1.
func (t *timeline) after(x sim.Time, i int) int {
	hi := len(t.entries)
	for step := 1; i+step < hi; step *= 2 {
		if t.starts[i+step] > x {
			hi = i + step
			break
		}
		i += step
	}
	return t.between(i+1, hi, x)
}

// between returns what at does, if entries[lo-1] begins at or before x and
// entries[hi] later.
func (t *timeline) between(lo, hi int, x sim.Time) int {
	for lo < hi {
		if m := int(uint(lo+hi) / 2); t.starts[m] <= x {
			lo = m + 1
		} else {
			hi = m
		}
	}
	return lo - 1
}

// push appends a run of steps.
func (t *timeline) push(r *observe.StepRun) {
	n := len(t.entries)
	if n == cap(t.entries) {
		t.entries = append(t.entries, entry{})
	}
	t.entries = t.entries[:n+1]
	e, d := &t.entries[n], r.Duration()
	e.serial, e.steps, e.start, e.end = r.Serial, r.Steps, r.Start, r.Start.Add(d)
	e.first, e.inc, e.base = r.First, r.Inc, r.Base
	e.decodes, e.preempted, e.cut = r.Decodes, r.Preempted > 0, r.Cut
	e.decoding, e.queued = t.later.decoding, t.later.queued
	e.wait = int8(waitOf(r.Held, len(r.Chunks) > 0))
	e.before = t.sums
	t.later.decoding, t.later.queued = 0, 0
	t.pushChunks(e, r.Chunks)
	t.sums.add(e, e.steps, d)
	if e.decodes > 0 {
		t.regularGaps(e)
		t.lastDecode, t.baseThere, t.slowedThere, t.stalledThere = e.end, t.sums.base, t.sums.slowed, t.sums.stalled
	}
	t.starts = append(t.starts, e.start)
	t.next, t.any = r.Serial+r.Steps, true
}

// pushChunks appends the chunks of e, which is the latest entry.
func (t *timeline) pushChunks(e *entry, chunks []observe.Chunk) {
	e.chunk, e.chunks, e.tokens = t.gone+int64(len(t.chunks)), int32(len(chunks)), 0
	for i := range chunks {
		c := &chunks[i]
		e.tokens += int64(c.Tokens)
		t.chunks = append(t.chunks, chunk{id: c.ID, start: c.Start, tokens: c.Tokens, ghost: c.Ghost, owner: nobody, marks: nobody})
		if c.Start == 0 {
			t.firsts[c.ID&(firsts-1)] = first{c.ID, t.past + int64(len(t.entries)-1)}
		}
	}
	own := t.chunks[len(t.chunks)-len(chunks):]
	for i := 1; i < len(own); i++ { // their order in records has no meaning
		for j := i; j > 0 && own[j].id < own[j-1].id; j-- {
			own[j], own[j-1] = own[j-1], own[j]
		}
	}
}
