package engine

import (
	"slices"

	"servesim/sim"
	"servesim/sim/observe"
	"servesim/sim/scheduler"
)

// ages holds the requests that have reached the engine, in order of that. Those
// whose records are out may be among them.
type ages struct {
	queue []aged
	head  int // queue[:head] have been taken off
}

// aged is a request by its handle and ID, since handles are used again.
type aged struct {
	h  scheduler.Handle
	id int64
}

// age takes in the request h, which has just reached the engine.
func (e *engine) age(h scheduler.Handle, id int64) {
	a := &e.ages
	if len(a.queue) == cap(a.queue) && len(a.queue) > 0 { // make room before it grows
		n := 0
		for _, q := range a.queue[a.head:] {
			if e.present(q) {
				a.queue[n] = q
				n++
			}
		}
		a.queue, a.head = a.queue[:n], 0
		if n > cap(a.queue)/2 {
			a.queue = slices.Grow(a.queue, n)
		}
	}
	a.queue = append(a.queue, aged{h, id})
}

// present tells that the record of q is not out.
func (e *engine) present(q aged) bool {
	l := &e.live[q.h]
	return !l.place.over() && l.rec.ID == q.id
}

// oldest returns when the oldest request reached the engine whose record is not
// out, or observe.Never.
func (e *engine) oldest() sim.Time {
	a := &e.ages
	for ; a.head < len(a.queue); a.head++ {
		if q := a.queue[a.head]; e.present(q) {
			return e.live[q.h].routed
		}
	}
	a.queue, a.head = a.queue[:0], 0
	return observe.Never
}
