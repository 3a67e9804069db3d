package blame

import (
	"servesim/sim"
	"servesim/sim/observe"
)

// serve charges the time from the first step that computed anything for the
// request to its end.
func (y *tally) serve() {
	r := y.r
	w := &y.walk
	*w = walk{tally: y, at: r.Scheduled, owner: nobody}
	if r.Preemptions > 0 || r.First == observe.Never || y.tell != nil {
		w.to(r.End)
		return
	}
	w.to(r.First)
	if !y.steady(w.entry) {
		w.to(r.End)
		return
	}
	w.at, w.found, w.decoding, w.made = r.Last, false, true, len(r.Made)
	w.to(r.End)
}

// steady charges the time from First to Last if each step between them that
// decoded made a token of the request, and tells whether that is so. Entry i is
// the one after First.
func (y *tally) steady(i int) bool {
	t, r := y.t, y.r
	if r.Output == 1 {
		return true
	}
	if i >= len(t.entries) {
		return false
	}
	j, a, b := len(t.entries)-1, &t.entries[i].before, &t.sums
	if t.entries[j].end != r.Last {
		j = t.at(r.Last-1, len(t.entries))
		s := t.until(j, r.Last)
		b = &s
	}
	if b.decodes-a.decodes != int64(r.Output)-1 {
		return false
	}
	y.into = &y.life.AfterFirst
	y.span(y.into, a, b, r.Last.Sub(r.First))
	if y.book != nil && i <= j {
		t.entries[i].decoding++
		t.difference(j+1).decoding--
	}
	if r.Outcome == observe.Completed { // whose last token is of the latest step
		y.longest(i)
	}
	return true
}

// span charges the steps between two sums, all of which but those that decode
// nothing made a token, and what of d they leave.
func (y *tally) span(into *Parts, a, b *sums, d sim.Duration) {
	into[Decode] += b.base - a.base
	into[DecodeSlowed] += b.slowed - a.slowed
	into[Stalled] += b.stalled - a.stalled
	into[Idle] += d - (b.total - a.total)
}

// longest charges the longest gap of a request that is steady from entry i on.
func (y *tally) longest(i int) {
	t := y.t
	first := &t.entries[i].before
	for t.entries[i].decodes == 0 {
		if i++; i == len(t.entries) {
			return // of records that contradict each other
		}
	}
	e := &t.entries[i]
	gap, b := e.start.Add(e.first).Sub(y.r.First), e.after(1)
	g := t.gaps.since(e.serial)
	if g.gap < gap {
		y.span(&y.life.Gap, first, &b, gap)
		return
	}
	y.life.Gap = Parts{Decode: g.base, DecodeSlowed: g.slowed, Stalled: g.stalled, Idle: g.gap - g.base - g.slowed - g.stalled}
}
