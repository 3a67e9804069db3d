package perfetto

import (
	"slices"

	"servesim/sim"
	"servesim/sim/observe"
)

// A replica is the steps and requests of an engine that some request may still ask
// about.
type replica struct {
	tracks  track
	live    map[int64]*living
	order   []*living // in the order in which their prompts were begun
	batches []*batch  // drawn, since the first of order began
	losses  []loss    // likewise
	left    []left    // since the step before the latest
	waiting []*life   // for others that their chunks may have delayed

	began, unfinished bool
	start, end        sim.Time // of the latest run of steps
	counted           [3]int64
	anyCount          bool
}

// A living is a request whose prompt was begun and whose record isn't out.
type living struct {
	id      int64
	began   sim.Time
	chunks  []piece    // that are drawn
	resumed []sim.Time // when what a preemption dropped was computed again
	done    bool
}

// A piece is a chunk of a batch.
type piece struct {
	of *batch
	at int
}

// A batch is a step with prompts.
type batch struct {
	serial     int64
	start, end sim.Time
	base       sim.Duration
	decodes    int32
	chunks     []part
}

// A part is a chunk of a batch, and the flows that begin at it.
type part struct {
	observe.Chunk
	owned bool // a request's that isn't gone
	flows []uint64
}

// A loss is a step that was formed by preempting.
type loss struct {
	serial int64
	start  sim.Time
}

// A left is a request that left the engine, which may yet have a chunk in a step that
// was planned by then.
type left struct {
	id  int64
	end sim.Time
}

// trim forgets what no request asks about. oldest is when the oldest request that the
// replica has joined its queue, or observe.Never.
func (p *replica) trim(oldest sim.Time) {
	for len(p.order) > 0 && (p.order[0].done || oldest == observe.Never || p.order[0].began < oldest) {
		delete(p.live, p.order[0].id)
		p.order[0] = nil
		p.order = p.order[1:]
	}
	since := sim.MaxTime
	if len(p.order) > 0 {
		since = p.order[0].began
	}
	p.batches = drop(p.batches, func(b *batch) bool { return b.end <= since })
	p.losses = drop(p.losses, func(l loss) bool { return l.start < since })
	p.left = slices.DeleteFunc(p.left, func(l left) bool { return l.end <= p.start })
}

// drop returns list without its first elements that are old.
func drop[T any](list []T, old func(T) bool) []T {
	n := 0
	for n < len(list) && old(list[n]) {
		n++
	}
	clear(list[:n])
	return list[n:]
}

// note takes in who computes what in a run of steps.
func (p *replica) note(r *observe.StepRun, plan *Plan) {
	if r.Preempted > 0 {
		p.losses = append(p.losses, loss{r.Serial, r.Start})
	}
	p.start = r.Start
	if len(r.Chunks) == 0 {
		return
	}
	b := &batch{serial: r.Serial, start: r.Start, end: r.Start.Add(r.First), base: r.Base, decodes: r.Decodes}
	shown := plan.overlaps(b.start, b.end)
	for _, c := range r.Chunks {
		l := p.of(c.ID, r.Start)
		if shown {
			b.chunks = append(b.chunks, part{Chunk: c, owned: l != nil})
		}
		if l == nil {
			continue
		}
		if shown {
			l.chunks = append(l.chunks, piece{b, len(b.chunks) - 1})
		}
		if c.Resumed && !c.Ghost {
			l.resumed = append(l.resumed, r.Start)
		}
	}
	if shown {
		p.batches = append(p.batches, b)
	}
}

// of returns the living request of an ID, which has a chunk in the step that begins
// at an instant; nil if it left before.
func (p *replica) of(id int64, at sim.Time) *living {
	if l := p.live[id]; l != nil {
		return l
	}
	if slices.ContainsFunc(p.left, func(l left) bool { return l.id == id }) {
		return nil
	}
	l := &living{id: id, began: at}
	p.live[id] = l
	p.order = append(p.order, l)
	return l
}

// settle takes the request of r out, and returns what is known of it; nil if its
// prompt was never begun.
func (p *replica) settle(r *observe.Request) *living {
	p.left = append(p.left, left{r.ID, r.End})
	p.unfinished = p.unfinished || r.Outcome == observe.Unfinished
	l := p.live[r.ID]
	if l != nil {
		l.done = true
		delete(p.live, r.ID)
	}
	return l
}

// lost returns when the step of a serial, formed by a preemption, began.
func (p *replica) lost(serial int64) (sim.Time, bool) {
	i, found := slices.BinarySearchFunc(p.losses, serial, func(l loss, serial int64) int { return int(min(1, max(-1, l.serial-serial))) })
	if !found {
		return 0, false
	}
	return p.losses[i].start, true
}

// between returns the batches that begin at or after one instant and before another.
func (p *replica) between(from, to sim.Time) []*batch {
	begin := func(b *batch, t sim.Time) int { return int(min(1, max(-1, b.start-t))) }
	i, _ := slices.BinarySearchFunc(p.batches, from, begin)
	j, _ := slices.BinarySearchFunc(p.batches, to, begin)
	return p.batches[i:max(i, j)]
}
