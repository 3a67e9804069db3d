package engine

import (
	"servesim/sim"
	"servesim/sim/kv"
	"servesim/sim/observe"
	"servesim/sim/scheduler"
)

// place says where a live request is.
type place uint8

const (
	free     place = iota // the handle is unused
	outside               // on its way to the pool
	engaged               // queued, or computing its prompt
	grouped               // decoding in step with the group
	stalled               // decoding, but the last step left it out
	departed              // its record is out, but the policy has not heard of it
	finished              // its record is out, and the policy will forget it by itself
	waiting               // at the router, while no replica takes requests
)

// live is the state of a request between its arrival and its record. Of a
// grouped request, emitted and the fields of rec that grow with each token are
// those it joined with; settle brings them up to date.
type live struct {
	rec      observe.Request
	limit    int32    // tokens it will generate
	reached  int32    // tokens whose KV was held at some time
	chain    kv.Chain // what its tokens are, for a prefix cache
	patience sim.Time // instant at which its client gives up; observe.Never if it does not
	emitted  int32
	made     observe.Span // the latest of rec.Made, which has those before
	join     int64        // group steps done when it joined
	gapFrom  int64        // its longest gap since this group step is the group's
	last     sim.Time     // instant of its latest token; of a grouped one, only if odd
	odd      bool         // grouped, but its latest token is not the group's latest
	place    place
	routed   sim.Time // when its replica got it; observe.Never if it is on none
	expires  sim.Time // of a waiting one, when it is rejected
}

// group is the engine's view of the decoding sequences that run in step.
type group struct {
	steps   int64    // group steps done
	members int32    // grouped requests
	last    sim.Time // instant of the latest token of every member that is not odd
	history history
	serials serials
	keep    int // entries of history and serials at which to look for those that nobody needs
	odd     []scheduler.Handle
}

// over tells that the record of a request in this place is out, if there is one.
func (p place) over() bool { return p == free || p == departed || p == finished }

// news is what the policy is to hear of at the next plan that can know it.
type news struct {
	at    sim.Time
	h     scheduler.Handle
	id    int64         // of the request, since handles are used again
	abort bool          // it left; otherwise it arrived
	seq   scheduler.Seq // of an arrival
}

// alloc returns an unused handle.
func (p *pool) alloc() scheduler.Handle {
	if n := len(p.unused); n > 0 {
		h := p.unused[n-1]
		p.unused = p.unused[:n-1]
		return h
	}
	p.live = append(p.live, live{})
	return scheduler.Handle(len(p.live) - 1)
}

// release makes h unused.
func (p *pool) release(h scheduler.Handle) {
	p.live[h].place = free
	p.unused = append(p.unused, h)
}

// joinGroup makes l, whose latest token was made at l.last, a member.
func (e *engine) joinGroup(h scheduler.Handle, l *live) {
	g := &e.group
	if g.members == 0 {
		g.last = l.last
	}
	l.place, l.join, l.gapFrom = grouped, g.steps, g.steps
	g.members++
	if l.odd = l.last != g.last; l.odd {
		g.odd = append(g.odd, h)
	}
}

// settle brings a grouped request up to date and ends its membership.
func (e *engine) settle(h scheduler.Handle, l *live) {
	g := &e.group
	n := g.steps - l.join
	l.emitted += int32(n)
	if e.cfg.Detail {
		e.credit(l, l.join, g.steps)
	}
	l.rec.Computed += n
	l.rec.MaxGap = max(l.rec.MaxGap, g.history.max(l.gapFrom))
	if l.odd {
		for i, o := range g.odd {
			if o == h {
				g.odd = append(g.odd[:i], g.odd[i+1:]...)
				break
			}
		}
		l.odd = false
	} else {
		l.last = g.last
	}
	g.members--
	l.place = engaged
}

// token counts a token that l, not grouped, gets at instant t, the end of the
// step being recorded.
func (e *engine) token(l *live, t sim.Time) {
	l.emitted++
	if e.cfg.Detail {
		e.make(l, e.run.Serial, 1)
	}
	if l.rec.First == observe.Never {
		l.rec.First = t
	} else {
		l.rec.MaxGap = max(l.rec.MaxGap, t.Sub(l.last))
	}
	l.last = t
}

// tick counts k steps of the group from the one that has serial on, the first of
// which ends at end and whose durations go on as first+inc, first+2·inc and so on.
func (e *engine) tick(serial, k int64, end sim.Time, first, inc sim.Duration) {
	g := &e.group
	if e.cfg.Detail {
		g.serials.push(g.steps, serial)
	}
	if int(g.members) > len(g.odd) {
		g.history.push(g.steps+1, end.Sub(g.last))
	}
	for _, h := range g.odd {
		l := &e.live[h]
		l.rec.MaxGap = max(l.rec.MaxGap, end.Sub(l.last))
		l.gapFrom, l.odd = g.steps+1, false
	}
	g.odd = g.odd[:0]
	if k > 1 {
		n := sim.Duration(k - 1)
		g.history.push(g.steps+k, first+n*inc)
		end = end.Add(n*first + inc*(n*(n+1)/2))
	}
	g.steps += k
	g.last = end
	if len(g.history.at)+len(g.serials.at) > g.keep {
		e.trim()
	}
}

// fewEntries is the number of gaps and serials that are kept without looking for
// those that no member needs.
const fewEntries = 1 << 10

// trim drops the gaps and serials of before every member joined, and looks again
// when twice as many are kept, so that its cost stays small a step.
func (e *engine) trim() {
	g := &e.group
	gaps, joins := g.steps, g.steps
	for i := range e.live {
		if l := &e.live[i]; l.place == grouped && l.rec.Replica == e.number {
			gaps, joins = min(gaps, l.gapFrom), min(joins, l.join)
		}
	}
	g.history.forget(gaps)
	g.serials.forget(joins)
	g.keep = max(fewEntries, 2*(len(g.history.at)+len(g.serials.at)))
}
