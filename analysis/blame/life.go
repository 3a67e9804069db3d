package blame

import (
	"servesim/sim"
	"servesim/sim/observe"
)

// Life is the latency of one request by cause. The parts of ToFirst and
// AfterFirst sum to its E2E if it completed, and to End less Arrival otherwise.
type Life struct {
	// Request is its record. A sink must not keep it.
	Request *observe.Request
	// ToFirst is the time to its first token, or to its end if it got none.
	ToFirst Parts
	// AfterFirst is what follows. NetworkResponse is that of a completed request.
	AfterFirst Parts
	// Gap is the longest gap between two tokens of a completed request, the latest
	// of those as long. It sums to Request.MaxGap.
	Gap Parts

	timeline *timeline
}

// Parts returns the whole latency by cause.
func (l *Life) Parts() Parts {
	p := l.ToFirst
	p.add(&l.AfterFirst)
	return p
}

// tally charges the time of one request.
type tally struct {
	t    *timeline
	r    *observe.Request
	life *Life
	into *Parts // ToFirst or AfterFirst
	gap  *Parts // of the gap under way, if the walk follows gaps
	book *book  // nil if prompts are not to be charged
	tell *story // nil if nobody asks for each piece
	near int    // an entry that begins at or before what is charged next, or head - 1
	walk walk   // scratch
}

// charge charges d, from the instant at on, to c.
func (y *tally) charge(c Cause, at sim.Time, d sim.Duration) {
	if d == 0 {
		return
	}
	y.into[c] += d
	if y.gap != nil {
		y.gap[c] += d
	}
	if y.tell != nil {
		y.tell.piece(c, at, d)
	}
}

// blame charges d, from the instant at on, to c, and to the prompts of e.
func (y *tally) blame(c Cause, at sim.Time, d sim.Duration, e *entry) {
	if d == 0 {
		return
	}
	y.charge(c, at, d)
	y.share(c, d, e, nil)
}

// share charges d to the prompts of e in proportion to their tokens, but for own.
func (y *tally) share(c Cause, d sim.Duration, e *entry, own *chunk) {
	if y.book == nil && y.tell == nil {
		return
	}
	chunks := y.t.chunksOf(e)
	before, given := int64(0), sim.Duration(0)
	for i := range chunks {
		k := &chunks[i]
		before += int64(k.tokens)
		upTo := portion(d, before, e.tokens)
		part := upTo - given
		given = upTo
		switch {
		case k == own:
		case y.tell != nil:
			y.tell.culprit(k.id, c, part)
		case c == DecodeSlowed || c == Stalled:
			k.decode = plus(k.decode, 1, part)
		default:
			k.wait = plus(k.wait, 1, part)
		}
	}
}

// run charges the whole life.
func (y *tally) run() {
	r := y.r
	y.into, y.near = &y.life.ToFirst, y.t.head-1
	if r.Sent == observe.Never {
		y.charge(NetworkRequest, r.Arrival, r.End.Sub(r.Arrival))
		return
	}
	y.charge(NetworkRequest, r.Arrival, r.Sent.Sub(r.Arrival))
	joined := y.detour()
	queued, scheduled := r.End, r.End
	if r.Queued != observe.Never {
		queued = r.Queued
	}
	if r.Scheduled != observe.Never {
		scheduled = r.Scheduled
	}
	if queued > joined {
		y.arrive(joined, queued)
	}
	if scheduled > queued {
		y.queue(queued, scheduled)
	}
	if scheduled < r.End {
		y.serve()
	}
	if r.Outcome == observe.Completed {
		y.into = &y.life.AfterFirst
		y.gap = nil
		y.charge(NetworkResponse, r.End, r.Response)
	} else {
		y.life.Gap = Parts{}
	}
}

// detour charges the time until the request joined the queue of the replica that
// had it last, and returns when that was.
func (y *tally) detour() (joined sim.Time) {
	at := y.r.Sent
	for _, a := range y.r.Attempts {
		y.charge(NoReplica, at, a.From.Sub(at))
		y.charge(Failed, a.From, a.To.Sub(a.From))
		at = a.To
	}
	joined = y.r.Joined()
	y.charge(NoReplica, at, joined.Sub(at))
	return joined
}

// arrive charges the time until the engine saw the request: the rest of the step
// under way, and the steps that were planned.
func (y *tally) arrive(from, to sim.Time) {
	y.near = y.t.at(from, y.t.first(y.r.ID))
	for i := max(y.near, y.t.head); from < to; i++ {
		if i == len(y.t.entries) || y.t.entries[i].start >= to {
			y.charge(Idle, from, to.Sub(from))
			return
		}
		y.near = i
		e := &y.t.entries[i]
		if e.end <= from {
			continue
		}
		if e.start > from {
			y.charge(Idle, from, e.start.Sub(from))
			from = e.start
		}
		if n := e.done(from); from > e.start.Add(e.lasts(n)) {
			end := min(to, e.start.Add(e.lasts(n+1)))
			y.beside(InFlight, Behind, e, from, end)
			from = end
		}
		if end := min(to, e.end); from < end {
			y.beside(Ahead, Behind, e, from, end)
			from = end
		}
	}
}

// beside charges the part of e from one instant to another: what of it the
// decodes took to c, what the prompts did to named.
func (y *tally) beside(c, named Cause, e *entry, from, to sim.Time) {
	if e.chunks == 0 {
		y.charge(c, from, to.Sub(from))
		return
	}
	base := max(from, min(to, e.start.Add(e.base)))
	y.charge(c, from, base.Sub(from))
	y.blame(named, base, to.Sub(base), e)
}

// queue charges the time in the queue, from one instant between steps to another,
// or to the end of the request within a step.
func (y *tally) queue(from, to sim.Time) {
	t := y.t
	if y.tell != nil {
		y.queueByStep(from, to)
		return
	}
	i := t.after(from, y.near)
	j := t.after(to, i)
	y.near = j
	a, b := t.until(i, from), t.until(j, to)
	for k, c := range waitCauses() {
		y.charge(c, from, b.wait[k]-a.wait[k])
	}
	rest := to.Sub(from) - (b.total - a.total)
	if j >= t.head && rest > 0 {
		if e := &t.entries[j]; to < e.end { // it left the queue within a step
			begin := max(from, e.start.Add(e.lasts(e.done(to))))
			y.waitBeside(e, begin, to)
			rest -= to.Sub(begin)
		}
	}
	y.charge(Idle, to, rest)
	// The steps from the first that begins at or after from, and end by to.
	if i < t.head || t.entries[i].start < from {
		i++
	}
	for ; j >= i && t.entries[j].end > to; j-- {
	}
	if i <= j && y.book != nil {
		t.entries[i].queued++
		t.difference(j+1).queued--
	}
}

// queueByStep does what queue does, step by step.
func (y *tally) queueByStep(from, to sim.Time) {
	for i := max(y.t.after(from, y.near), y.t.head); from < to; i++ {
		if i == len(y.t.entries) || y.t.entries[i].start >= to {
			y.charge(Idle, from, to.Sub(from))
			return
		}
		e := &y.t.entries[i]
		if e.end <= from {
			continue
		}
		if e.start > from {
			y.charge(Idle, from, e.start.Sub(from))
			from = e.start
		}
		end := min(to, e.end)
		y.waitBeside(e, from, end)
		from = end
	}
}

// waitBeside charges waiting in the queue during a part of e.
func (y *tally) waitBeside(e *entry, from, to sim.Time) {
	if c := waitCauses()[e.wait]; c == Behind {
		y.blame(c, from, to.Sub(from), e)
	} else {
		y.charge(c, from, to.Sub(from))
	}
}

// until returns the sums of all steps that have ended by instant x, of which
// entry i is the last to have begun.
func (t *timeline) until(i int, x sim.Time) sums {
	if i < t.head {
		if t.head < len(t.entries) {
			return t.entries[t.head].before
		}
		return t.sums
	}
	e := &t.entries[i]
	return e.after(e.done(x))
}
