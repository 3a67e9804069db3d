package perfetto

import (
	"cmp"
	"fmt"
	"slices"
	"strings"

	"servesim/analysis/blame"
	"servesim/sim"
	"servesim/sim/observe"
)

// A span is a slice of a request's track.
type span struct {
	event    event
	level    int
	from, to sim.Time
	piece    piece        // of a chunk
	by       sim.Duration // of a delay
	batch    *batch       // that it is due to
	flow     uint64       // the first of the flows that end there
	flows    int
}

// A life is a request that is to be written when every request that its chunks may
// have delayed is known.
type life struct {
	request    observe.Request // without its steps
	first      blame.Parts
	after      blame.Parts
	spans      []span
	lastBegins sim.Time // when the last of its chunks did
}

// life takes in what became of a request.
func (w *Writer) life(l *blame.Life) error {
	r := l.Request
	p := w.replicas[r.Replica]
	of := p.settle(r)
	end := r.End
	if r.Outcome == observe.Completed {
		end = end.Add(r.Response)
	}
	chunked := of != nil && len(of.chunks) > 0
	if !w.plan.overlaps(r.Arrival, end) && !chunked {
		return nil
	}
	w.told.DrawnRequests++
	w.last = max(w.last, end)
	w.spans = w.phases(append(w.spans[:0], span{event: request, from: r.Arrival, to: end}), r)
	one := &life{request: *r, first: l.ToFirst, after: l.AfterFirst, lastBegins: -1}
	if of != nil {
		w.served(p, r, of)
	}
	if chunked {
		one.lastBegins = of.chunks[len(of.chunks)-1].of.start
	}
	one.spans = slices.Clone(w.spans)
	one.request.Made, one.request.Lost = nil, nil
	p.waiting = append(p.waiting, one)
	return nil
}

// phases appends the phases of a request.
func (w *Writer) phases(list []span, r *observe.Request) []span {
	at := r.Arrival
	for _, p := range []struct {
		event event
		to    sim.Time
	}{{network, r.Sent}, {queue, r.Scheduled}, {prefill, r.First}, {decode, r.End}} {
		if p.to == observe.Never {
			p.to = r.End
		}
		list = append(list, span{event: p.event, level: 1, from: at, to: p.to})
		at = max(at, p.to)
	}
	if r.Outcome == observe.Completed {
		list = append(list, span{event: response, level: 1, from: r.End, to: r.End.Add(r.Response)})
	}
	return list
}

// served appends the chunks of a request, the times when it had lost its blocks, and
// how prompts of others delayed its tokens.
func (w *Writer) served(p *replica, r *observe.Request, of *living) {
	own := map[*batch]bool{}
	for _, c := range of.chunks {
		own[c.of] = true
		w.spans = append(w.spans, span{event: chunk, level: 3, from: c.of.start, to: min(c.of.end, r.End), piece: c})
	}
	var out []span
	for _, serial := range r.Lost {
		from, ok := p.lost(serial)
		if !ok {
			continue
		}
		to := r.End
		if i := slices.IndexFunc(of.resumed, func(t sim.Time) bool { return t >= from }); i >= 0 {
			to = of.resumed[i]
		}
		if w.plan.overlaps(from, to) {
			out = append(out, span{event: preempted, level: 2, from: from, to: to})
		}
	}
	w.spans = append(w.spans, out...)
	if r.First == observe.Never {
		return
	}
	made := r.Made
	for _, b := range p.between(r.First, r.End) {
		for len(made) > 0 && made[0].Step+made[0].Steps <= b.serial {
			made = made[1:]
		}
		token := len(made) > 0 && made[0].Step <= b.serial || b.end > r.End && b.decodes > 0
		away := slices.ContainsFunc(out, func(s span) bool { return s.from <= b.start && b.start < s.to })
		if own[b] || away {
			continue
		}
		s := span{event: stalled, level: 3, from: b.start, to: min(b.end, r.End), batch: b}
		if token {
			s.event, s.from = delayed, b.start.Add(b.base)
		}
		s.by = s.to.Sub(s.from)
		if nanoseconds(s.from) >= nanoseconds(s.to) {
			continue
		}
		s.flow = w.flow
		for i := range b.chunks {
			if c := &b.chunks[i]; c.owned {
				c.flows = append(c.flows, w.flow)
				w.flow++
				s.flows++
			}
		}
		w.spans = append(w.spans, s)
	}
}

// release writes the lives of which everything is known; all of them at the end.
func (w *Writer) release(p *replica, all bool) {
	for len(p.order) > 0 && p.order[0].done {
		p.order[0] = nil
		p.order = p.order[1:]
	}
	known := sim.MaxTime
	if len(p.order) > 0 && !all {
		known = p.order[0].began
	}
	n := 0
	for n < len(p.waiting) && p.waiting[n].lastBegins <= known {
		w.write(p, p.waiting[n])
		n++
	}
	clear(p.waiting[:n])
	p.waiting = p.waiting[n:]
}

// write writes the track of a request: its spans, one within another.
func (w *Writer) write(p *replica, l *life) {
	t := w.track
	w.track++
	r := &l.request
	name := fmt.Sprintf("request %d", r.ID)
	if r.Class != "" {
		name += ", " + clean(r.Class)
	}
	w.stream.declare(t, &descriptor{name: name, parent: p.tracks + ofRequests})
	slices.SortStableFunc(l.spans, func(a, b span) int {
		return cmp.Or(cmp.Compare(nanoseconds(a.from), nanoseconds(b.from)), cmp.Compare(a.level, b.level), cmp.Compare(b.to, a.to))
	})
	var open []span
	closed := func(before sim.Time) {
		for n := len(open); n > 0 && nanoseconds(open[n-1].to) <= nanoseconds(before); n-- {
			w.stream.end(t, open[n-1].to, open[n-1].flow, open[n-1].flows)
			open = open[:n-1]
		}
	}
	for _, s := range l.spans {
		if s.level > 0 {
			if nanoseconds(s.from) >= nanoseconds(s.to) {
				continue // too short to be seen
			}
			closed(s.from)
		}
		if n := len(open); n > 0 {
			s.to = min(s.to, open[n-1].to)
		}
		var flows []uint64
		if s.event == chunk {
			flows = s.piece.of.chunks[s.piece.at].flows
		}
		w.stream.begin(t, s.event, s.from, w.arguments(&s, l), flows)
		open = append(open, s)
	}
	closed(sim.MaxTime)
}

// arguments returns those of a slice, nil if it has none.
func (w *Writer) arguments(s *span, l *life) *arguments {
	a := w.args.reset()
	switch s.event {
	case request:
		w.about(a, l)
	case chunk:
		c := &s.piece.of.chunks[s.piece.at]
		a.integer(argStep, s.piece.of.serial)
		a.integer(argFrom, int64(c.Start))
		a.integer(argTokens, int64(c.Tokens))
		a.integer(argPrompt, int64(l.request.Prompt))
		if c.Resumed {
			a.text(argRecomputed, "computed again what a preemption dropped")
		}
		if c.Ghost {
			a.text(argLost, "computed for nothing: the request was preempted to form the step")
		}
	case delayed, stalled:
		a.integer(argStep, s.batch.serial)
		a.ms(argBy, s.by)
		tokens := int64(0)
		for i := range s.batch.chunks {
			tokens += int64(s.batch.chunks[i].Tokens)
		}
		a.integer(argPrefill, tokens)
		a.integer(argPrompts, int64(len(s.batch.chunks)))
	default:
		return nil
	}
	return a
}

// about adds what there is to know of a request.
func (w *Writer) about(a *arguments, l *life) {
	r := &l.request
	a.integer(argID, r.ID)
	a.text(argName, r.Name)
	if r.Line > 0 {
		a.integer(argLine, r.Line)
	}
	a.text(argClass, r.Class)
	a.text(argOutcome, r.Outcome.String())
	a.text(argReason, r.Reason)
	a.integer(argPrompt, int64(r.Prompt))
	a.integer(argOutput, int64(r.Output))
	a.integer(argPreemptions, int64(r.Preemptions))
	var missed []string
	for i := range w.limits {
		if d, is := w.limits[i].Missed(r); is {
			missed = append(missed, fmt.Sprintf("%s: %.1f ms", w.limits[i].String(), d.Milliseconds()))
		}
	}
	a.text(argMissed, strings.Join(missed, "; "))
	a.parts(argToFirst, &l.first)
	a.parts(argAfterFirst, &l.after)
}
