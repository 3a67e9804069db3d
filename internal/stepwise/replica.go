package stepwise

import (
	"servesim/sim"
	"servesim/sim/engine"
	"servesim/sim/gpu"
	"servesim/sim/observe"
)

// replica is one engine.
type replica struct {
	*run
	number int32
	sched  policy
	idle   bool
	over   bool            // the horizon leaves no room for its next step
	rec    observe.StepRun // of the step under way

	closed, draining, down bool
	up                     sim.Time // of one that is down, when it comes back
	busy                   bool     // plan is under way
	plan                   plan
	next                   *plan // made already, if not nil
	ends                   sim.Time
	rank                   int64
	serial                 int64 // of the next step
	lost                   int
	news                   []event    // what the scheduler is to hear of, in order of time
	seen                   sim.Time   // instant up to which the next plan knows what happened
	unseen                 []*request // asynchronous scheduling: what ended in the last step
}

// choose makes the next plan and begins its step.
func (r *replica) choose() error {
	plan := r.nextPlan()
	rec := r.describe(plan)
	if h := r.cfg.Horizon; h > 0 && len(plan.items) > 0 && r.now.Add(rec.First) > sim.Time(h) {
		r.over = true
		return nil
	}
	if err := r.note(plan); err != nil {
		return err
	}
	if len(plan.items) > 0 {
		return r.step(plan, rec)
	}
	r.release()
	r.sched.see()
	r.idle = r.seen == r.now && len(plan.preempted)+len(plan.dropped) == 0 && !plan.again
	r.seen = r.now
	return nil
}

// nextPlan returns the next plan, which may have been made already.
func (r *replica) nextPlan() plan {
	if r.next == nil {
		r.tell()
		return r.sched.plan()
	}
	plan := *r.next
	r.next = nil
	return plan
}

// arrive queues q, or rejects it.
func (r *replica) arrive(q *request, t sim.Time) error {
	q.at, q.rec.Replica, q.rec.Detour = r, r.number, t.Sub(q.rec.Sent)
	q.limit = min(int(q.rec.Wanted), int(r.cfg.Scheduler.OutputLimit(q.rec.Prompt)))
	if q.limit < 1 {
		return r.end(q, t, observe.Rejected, engine.ReasonModelLen)
	}
	if reason := r.sched.fits(q); reason != "" {
		return r.end(q, t, observe.Rejected, reason)
	}
	q.rank = r.rank
	r.rank++
	r.hear(event{at: t, kind: arrives, r: q})
	return nil
}

// hear keeps ev for the scheduler, and wakes it up.
func (r *replica) hear(ev event) {
	r.news = append(r.news, ev)
	if r.idle {
		r.idle, r.seen = false, ev.at
	}
}

// tell hands the scheduler the news up to the instant that its next plan knows.
func (r *replica) tell() {
	for len(r.news) > 0 && r.news[0].at <= r.seen {
		if n := r.news[0]; n.kind == deadline {
			if !n.r.ended {
				r.sched.remove(n.r)
			}
		} else {
			r.sched.add(n.r)
			if !n.r.gone {
				n.r.rec.Queued = r.now
			}
		}
		r.news = r.news[1:]
	}
}

// release lets the scheduler see what ended before the last step.
func (r *replica) release() {
	for _, q := range r.unseen {
		r.sched.remove(q)
	}
	r.unseen = nil
}

// note takes in what planning changed at once.
func (r *replica) note(p plan) error {
	r.lost += len(p.preempted)
	for _, q := range p.preempted {
		q.rec.Preemptions++
		q.rec.Lost = append(q.rec.Lost, r.serial)
		q.forget()
	}
	for _, d := range p.dropped {
		if d.r.gone {
			continue
		}
		if err := r.end(d.r, r.now, observe.Rejected, d.reason); err != nil {
			return err
		}
	}
	return nil
}

// oldest returns when the first of its live requests reached the engine.
func (r *replica) oldest() sim.Time {
	oldest := observe.Never
	for _, q := range r.live {
		if joined := q.rec.Joined(); q.at == r && (oldest == observe.Never || joined < oldest) {
			oldest = joined
		}
	}
	return oldest
}

// describe returns the record of the planned step, without its gaps.
func (r *replica) describe(p plan) observe.StepRun {
	running, waiting := r.sched.counts()
	rec := observe.StepRun{Replica: r.number, Serial: r.serial, Start: r.now, Steps: 1, Running: int32(running), Waiting: int32(waiting),
		Held: observe.Held(p.held), BlocksUsed: r.sched.used()}
	var w gpu.Work
	for i, it := range p.items {
		if it.decode {
			it.start = it.r.known() - 1 // which the plan may not have known
			p.items[i] = it
		}
		c, s := int64(it.tokens), int64(it.start)
		if it.decode || it.lostDecode {
			w.DecodeSeqs++
			w.DecodeKV += s + 1
			w.Samples++
		} else {
			w.PrefillTokens += c
			w.PrefillSeqs++
			w.PrefillPairs += c*s + c*(c+1)/2
		}
		if it.decode {
			rec.Decodes++
			rec.DecodeKV += s + 1
			continue
		}
		if it.last {
			w.Samples++
		}
		rec.Chunks = append(rec.Chunks, observe.Chunk{ID: it.r.rec.ID, Start: int32(s), Tokens: int32(c), Resumed: int(s) < it.r.reached, Ghost: it.ghost})
	}
	if len(p.items) > 0 {
		rec.First = r.cfg.Cost.Step(w)
	}
	if n := int64(rec.Decodes); n > 0 {
		rec.Base = r.cfg.Cost.Step(gpu.Work{DecodeSeqs: n, DecodeKV: rec.DecodeKV, Samples: n})
	}
	return rec
}

// step begins the planned step, of which rec is the record.
func (r *replica) step(p plan, rec observe.StepRun) error {
	r.busy, r.plan, r.ends = true, p, r.now.Add(rec.First)
	rec.Preempted, r.lost, rec.Oldest = int32(r.lost), 0, r.oldest()
	r.serial++
	for _, it := range p.items {
		if !it.decode && it.r.rec.Scheduled == observe.Never {
			it.r.rec.Scheduled = r.now
		}
		if !it.r.gone && (it.decode || it.last && it.r.rec.First != observe.Never) {
			rec.Gaps = append(rec.Gaps, observe.Gaps{Seqs: 1, Steps: 1, First: r.ends.Sub(it.r.last)})
		}
	}
	r.seen = r.ends
	if r.cfg.Scheduler.AsyncScheduling {
		r.seen = r.now // the next step is planned as this one starts
	}
	r.rec = rec
	return nil
}
