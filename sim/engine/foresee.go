package engine

import (
	"slices"

	"servesim/sim"
	"servesim/sim/observe"
	"servesim/sim/scheduler"
)

// foresee plans the step that follows the one which ends, before anybody gets what
// that made: the plan, made as the step began, can take tokens of it back. It
// returns those of done that have ended all the same.
func (e *engine) foresee(done []scheduler.Handle) []scheduler.Handle {
	e.tell()
	e.next = e.policy.Plan()
	e.voided = e.voided[:0]
	for i := range e.next.Preempted {
		if loss := &e.next.Preempted[i]; loss.Discarded {
			e.voided = append(e.voided, loss.Seq)
			e.takeBack(loss.Seq)
		}
	}
	return slices.DeleteFunc(done, func(h scheduler.Handle) bool {
		return e.live[h].place == free || slices.Contains(e.voided, h) // it was aborted, or goes on
	})
}

// takeBack ends that h, whose token of the last step nobody gets, is served by it.
func (e *engine) takeBack(h scheduler.Handle) {
	l := &e.live[h]
	if l.place.over() {
		return
	}
	decodes := l.place == grouped
	if decodes {
		e.settle(h, l)
		l.rec.Computed++
	}
	if decodes || l.rec.First != observe.Never {
		e.dropGap(e.stretch.end.Sub(l.last))
	}
}

// dropGap takes one gap of length d out of the record of the stretch, whose last
// step is its only one.
func (e *engine) dropGap(d sim.Duration) {
	gaps := e.run.Gaps
	i := slices.IndexFunc(gaps, func(g observe.Gaps) bool { return g.Steps == 1 && g.First == d })
	if gaps[i].Seqs--; gaps[i].Seqs == 0 {
		e.run.Gaps = slices.Delete(gaps, i, i+1)
	}
}
