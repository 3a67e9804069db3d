package stepwise

import (
	"cmp"
	"slices"

	"servesim/sim"
	"servesim/sim/observe"
)

// apply ends the step under way: it records it, gives its sequences what they computed, and
// ends those that have all their tokens.
func (r *replica) apply() error {
	r.busy = false
	taken := r.foresee()
	if err := r.cfg.Sink.Step(&r.rec); err != nil {
		return err
	}
	r.release()
	var done []*request
	for _, it := range r.plan.items {
		if it.ghost {
			it.r.compute(it)
			it.r.computed = it.tokens
			continue
		}
		if it.decode && it.r.ended {
			continue // the scheduler had not seen that it had ended
		}
		it.r.compute(it)
		it.r.computed = it.start + it.tokens
		if slices.Contains(taken, it.r) {
			continue
		}
		if it.decode || it.last {
			it.r.token(r.now, r.serial-1)
			if it.r.emitted == it.r.limit {
				done = append(done, it.r)
			}
		}
	}
	r.unseen = append(r.unseen, done...) // in the order of the batch
	slices.SortFunc(done, func(a, b *request) int { return cmp.Compare(a.rec.ID, b.rec.ID) })
	for _, q := range done {
		q.ended = true
		if q.gone {
			continue
		}
		outcome := observe.Completed
		if r.now.Add(q.rec.Response) > q.patience {
			outcome = q.rec.Outcome // the answer reaches a client that is gone
		}
		if err := r.end(q, r.now, outcome, ""); err != nil {
			return err
		}
	}
	if !r.cfg.Scheduler.AsyncScheduling {
		r.release()
	}
	if r.next == nil {
		r.sched.see()
	}
	return nil
}

// foresee plans the next step, if that can take back tokens of the step that ends,
// and returns whose it takes back.
func (r *replica) foresee() []*request {
	if !r.cfg.Scheduler.TakesBack() {
		return nil
	}
	r.sched.see()
	r.tell()
	next := r.sched.plan()
	r.next = &next
	for _, q := range next.takenBack {
		if q.gone || q.rec.First == observe.Never {
			continue
		}
		gap := r.ends.Sub(q.last)
		i := slices.IndexFunc(r.rec.Gaps, func(g observe.Gaps) bool { return g.First == gap })
		r.rec.Gaps = slices.Delete(r.rec.Gaps, i, i+1)
	}
	return next.takenBack
}

// compute counts the tokens of it, if its client is still there.
func (q *request) compute(it item) {
	if it.admitted && !q.gone {
		q.rec.Cached += int32(max(0, it.start-q.reached))
	}
	if it.admitted {
		q.reached = max(q.reached, it.start)
	}
	if !q.gone {
		q.rec.Computed += int64(it.tokens)
		q.rec.Recomputed += int64(max(0, min(q.reached, it.start+it.tokens)-it.start))
	}
	q.reached = max(q.reached, it.start+it.tokens)
}

// token gives q an output token at t, the end of step serial.
func (q *request) token(t sim.Time, serial int64) {
	q.decoding = true
	q.emitted++
	if q.gone {
		return
	}
	if q.rec.First == observe.Never {
		q.rec.First = t
	} else {
		q.rec.MaxGap = max(q.rec.MaxGap, t.Sub(q.last))
	}
	q.last = t
	if n := len(q.rec.Made); n > 0 && q.rec.Made[n-1].Step+q.rec.Made[n-1].Steps == serial {
		q.rec.Made[n-1].Steps++
		return
	}
	q.rec.Made = append(q.rec.Made, observe.Span{Step: serial, Steps: 1})
}
