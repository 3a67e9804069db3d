package blame

import "servesim/sim"

// walk charges the service of a request run by run of steps.
type walk struct {
	*tally
	at       sim.Time
	entry    int   // the one that at is in, or the one after, once found
	found    bool  // entry is
	made     int   // the span of Made that is under way or to come
	lost     int   // preemptions so far
	decoding bool  // its prompt is done
	out      bool  // it is preempted
	held     int64 // tokens whose KV it holds
	reached  int64 // tokens whose KV it held at some time
	owner    int32 // the request as an owner of chunks, or nobody
	now      Parts // of the gap under way
}

// to charges everything up to instant until, which is within a step only if that
// is the end of the request.
func (w *walk) to(until sim.Time) {
	if w.at >= until {
		return
	}
	if !w.found {
		w.entry, w.found = max(w.t.after(w.at, w.near), w.t.head), true
	}
	for ; w.at < until; w.entry++ {
		if w.entry == len(w.t.entries) || w.t.entries[w.entry].start >= until {
			w.turn()
			w.charge(Idle, w.at, until.Sub(w.at))
			w.at = until
			return
		}
		e := &w.t.entries[w.entry]
		if e.end <= w.at {
			continue
		}
		w.turn()
		if e.start > w.at {
			w.charge(Idle, w.at, e.start.Sub(w.at))
			w.at = e.start
		}
		w.through(e, min(until, e.end))
		if w.at < e.end {
			return
		}
	}
}

// turn charges to what follows the first token once that is made.
func (w *walk) turn() {
	if f := w.r.First; f >= 0 && w.at >= f {
		w.into = &w.life.AfterFirst
	}
}

// through charges e up to instant to.
func (w *walk) through(e *entry, to sim.Time) {
	for w.lost < len(w.r.Lost) && w.r.Lost[w.lost] <= e.serial {
		w.lost++
		w.out, w.decoding = true, false
		w.reached, w.held = max(w.reached, w.held), 0
	}
	if own := w.own(e); own != nil {
		w.compute(e, own, to)
		return
	}
	for n := e.done(w.at); w.at < to; {
		steps, made := w.alike(e.serial+n, e.steps-n)
		n += steps
		whole := e.start.Add(e.lasts(n))
		if end := min(to, whole); made {
			w.decode(e, n-steps, steps, end)
		} else {
			w.pass(e, end, end < whole)
		}
	}
}

// alike returns how many of at most steps steps from serial on all made a token
// of the request, or all none.
func (w *walk) alike(serial, steps int64) (n int64, made bool) {
	spans := w.r.Made
	for w.made < len(spans) && spans[w.made].Step+spans[w.made].Steps <= serial {
		w.made++
	}
	if w.made == len(spans) {
		return steps, false
	}
	s := spans[w.made]
	if s.Step <= serial {
		return min(steps, s.Step+s.Steps-serial), true
	}
	return min(steps, s.Step-serial), false
}

// own returns the request's chunk in e, or nil. One that was lost at once does
// not count.
func (w *walk) own(e *entry) *chunk {
	chunks := w.t.chunksOf(e)
	for i := range chunks {
		c := &chunks[i]
		if c.id != w.r.ID {
			continue
		}
		if w.book != nil {
			w.owner = w.book.adopt(w.owner, w.r, c)
		}
		if !c.ghost {
			return c
		}
		w.reached = max(w.reached, int64(c.start)+int64(c.tokens))
	}
	return nil
}

// compute charges the step e, up to instant to, which computes own: its share of
// what the prompts took, and what the decodes alone would have taken.
func (w *walk) compute(e *entry, own *chunk, to sim.Time) {
	base := max(w.at, min(to, e.start.Add(e.base)))
	excess := to.Sub(base)
	before, tokens := int64(0), int64(own.tokens)
	for _, c := range w.t.chunksOf(e) {
		if c.id == own.id && c.ghost == own.ghost {
			break
		}
		before += int64(c.tokens)
	}
	mine := portion(excess, before+tokens, e.tokens) - portion(excess, before, e.tokens)
	self := base.Sub(w.at) + mine
	from, upTo := int64(own.start), int64(own.start)+tokens
	redo := portion(self, max(0, min(w.reached, upTo)-from), tokens)
	w.charge(Redo, w.at, redo)
	w.charge(Prefill, w.at.Add(redo), self-redo)
	if mine < excess {
		w.charge(PrefillSlowed, w.at.Add(self), excess-mine)
		w.share(PrefillSlowed, excess, e, own)
	}
	w.out, w.decoding = false, false
	w.held, w.reached = upTo, max(w.reached, upTo)
	w.at = to
	if _, made := w.alike(e.serial, 1); made && to == e.end {
		w.decoding = true
		w.token()
	}
}

// decode charges steps steps of e, from the n-th on, each of which made a token.
func (w *walk) decode(e *entry, n, steps int64, end sim.Time) {
	w.held += steps
	first := e.start.Add(e.lasts(n + 1))
	w.beside(Decode, DecodeSlowed, e, w.at, first)
	w.at = first
	w.token()
	if steps == 1 {
		return
	}
	w.gap = nil
	w.charge(Decode, first, end.Sub(first))
	w.at, w.gap = end, &w.now
	w.now[Decode] = e.first + max(e.inc*sim.Duration(n+1), e.inc*sim.Duration(n+steps-1))
	w.token()
}

// token ends a gap, if there was a token before, and begins the next.
func (w *walk) token() {
	if w.gap != nil {
		if w.now.Sum() >= w.life.Gap.Sum() {
			w.life.Gap = w.now
		}
		w.now = Parts{}
	}
	w.gap = &w.now
}

// pass charges a part of e, up to instant to, that made no token. The request
// left within it if cut, or with its replica, which cut e short.
func (w *walk) pass(e *entry, to sim.Time, cut bool) {
	d := to.Sub(w.at)
	switch {
	case w.out:
		w.charge(Preempted, w.at, d)
	case w.decoding && (cut || e.cut) && e.decodes > 0: // its token was on the way
		w.beside(Decode, DecodeSlowed, e, w.at, to)
	case w.decoding && e.chunks > 0:
		w.blame(Stalled, w.at, d, e)
	case w.decoding:
		w.charge(LeftOut, w.at, d)
	case e.preempted:
		w.charge(Blocks, w.at, d)
	case e.chunks > 0:
		w.blame(Behind, w.at, d, e)
	default:
		w.charge(Budget, w.at, d)
	}
	w.at = to
}
