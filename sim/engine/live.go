package engine

import (
	"servesim/sim"
	"servesim/sim/observe"
	"servesim/sim/scheduler"
)

// place says where a live request is.
type place uint8

const (
	free     place = iota // the handle is unused
	outside               // on its way to the engine
	engaged               // queued, or computing its prompt
	grouped               // decoding in step with the group
	stalled               // decoding, but the last step left it out
	departed              // its record is out, but the policy has not heard of it
	finished              // its record is out, and the policy will forget it by itself
)

// live is the state of a request between its arrival and its record. Of a
// grouped request, emitted and the fields of rec that grow with each token are
// those it joined with; settle brings them up to date.
type live struct {
	rec      observe.Request
	limit    int32    // tokens it will generate
	reached  int32    // tokens whose KV was held at some time
	patience sim.Time // instant at which its client gives up; observe.Never if it does not
	emitted  int32
	join     int64    // group steps done when it joined
	gapFrom  int64    // its longest gap since this group step is the group's
	last     sim.Time // instant of its latest token; of a grouped one, only if odd
	odd      bool     // grouped, but its latest token is not the group's latest
	place    place
}

// group is the engine's view of the decoding sequences that run in step.
type group struct {
	steps   int64    // group steps done
	members int32    // grouped requests
	last    sim.Time // instant of the latest token of every member that is not odd
	history history
	keep    int // gaps in history at which to look for those that nobody needs
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
func (e *engine) alloc() scheduler.Handle {
	if n := len(e.unused); n > 0 {
		h := e.unused[n-1]
		e.unused = e.unused[:n-1]
		return h
	}
	e.live = append(e.live, live{})
	return scheduler.Handle(len(e.live) - 1)
}

// release makes h unused.
func (e *engine) release(h scheduler.Handle) {
	e.live[h].place = free
	e.unused = append(e.unused, h)
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

// token counts a token that l, not grouped, gets at instant t.
func (l *live) token(t sim.Time) {
	l.emitted++
	if l.rec.First == observe.Never {
		l.rec.First = t
	} else {
		l.rec.MaxGap = max(l.rec.MaxGap, t.Sub(l.last))
	}
	l.last = t
}

// tick counts k steps of the group, the first of which ends at end and whose
// durations go on as first+inc, first+2·inc and so on.
func (e *engine) tick(k int64, end sim.Time, first, inc sim.Duration) {
	g := &e.group
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
	if len(g.history.at) > g.keep {
		e.trim()
	}
}

// fewGaps is the number of gaps that are kept without looking for those that no
// member needs.
const fewGaps = 1 << 10

// trim drops the gaps that ended before every member joined, and looks again
// when twice as many are kept, so that its cost stays small a step.
func (e *engine) trim() {
	from := e.group.steps
	for i := range e.live {
		if l := &e.live[i]; l.place == grouped {
			from = min(from, l.gapFrom)
		}
	}
	e.group.history.forget(from)
	e.group.keep = max(fewGaps, 2*len(e.group.history.at))
}
