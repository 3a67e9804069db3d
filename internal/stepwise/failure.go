package stepwise

import (
	"cmp"
	"slices"

	"servesim/sim"
	"servesim/sim/engine"
	"servesim/sim/observe"
)

// kind says what an event is.
type kind uint8

const (
	arrives   kind = iota // the request reaches the pool
	deadline              // its client gives up
	retried               // it reaches the router again
	expired               // it has waited for a replica long enough
	killed                // the replica fails
	turn                  // the rolling restart comes to the replica
	graceOver             // the replica may take no longer for what it has
	back                  // the replica takes requests again
)

// bookDrill books what the drill says.
func (r *run) bookDrill() {
	for _, f := range r.cfg.Drill.Failures {
		r.pool = insert(r.pool, event{at: sim.Time(f.At), kind: killed, e: r.replicas[f.Replica], down: f.Down})
	}
	if roll := r.cfg.Drill.Rolling; roll != nil {
		r.pool = insert(r.pool, event{at: sim.Time(roll.Start), kind: turn, e: r.replicas[0]})
	}
}

// happen makes an event of a replica true.
func (r *run) happen(ev event) error {
	e := ev.e
	switch ev.kind {
	case killed:
		return e.fall(ev.down)
	case graceOver:
		return e.fall(r.cfg.Drill.Rolling.Down)
	case turn:
		r.rolling = e
		if e.down {
			return nil
		}
		e.draining = true
		e.take(false)
		if r.load(e) > 0 {
			r.pool = insert(r.pool, event{at: r.now.Add(r.cfg.Drill.Rolling.Grace), kind: graceOver, e: e})
			return nil
		}
		return e.fall(r.cfg.Drill.Rolling.Down)
	}
	return e.rise()
}

// obsolete tells that nothing comes of ev.
func (r *run) obsolete(ev event) bool {
	switch ev.kind {
	case graceOver:
		return !ev.e.draining
	case back:
		return !ev.e.down || ev.e.up != ev.at
	case killed, turn:
		return false
	case expired:
		return ev.r.gone || !slices.Contains(r.lobby, ev.r) || ev.r.waits != ev.at
	}
	return ev.r.gone
}

// drained takes down the replicas that have waited for their last request.
func (r *run) drained() error {
	for _, e := range r.replicas {
		if e.draining && r.load(e) == 0 {
			return e.fall(r.cfg.Drill.Rolling.Down)
		}
	}
	return nil
}

// fall takes the replica down, 0 for ever.
func (r *replica) fall(lasts sim.Duration) error {
	up := sim.MaxTime
	if lasts > 0 {
		up = r.now.Add(lasts)
	}
	if r.down {
		if up > r.up {
			r.up = up
			r.pool = insert(r.pool, event{at: up, kind: back, e: r})
		}
		return nil
	}
	r.down, r.draining, r.up = true, false, up
	r.take(false)
	if up != sim.MaxTime {
		r.pool = insert(r.pool, event{at: up, kind: back, e: r})
	}
	if r.busy {
		r.busy = false
		r.rec.Cut, r.rec.First, r.rec.Gaps = true, r.now.Sub(r.rec.Start), nil
		r.rec.Base = min(r.rec.Base, r.rec.First)
		if err := r.cfg.Sink.Step(&r.rec); err != nil {
			return err
		}
	}
	r.sched = newPolicy(r.cfg.Scheduler)
	r.news, r.unseen, r.next, r.lost, r.over = nil, nil, nil, 0, false
	var hit []*request
	for _, q := range r.live {
		if q.at == r {
			hit = append(hit, q)
		}
	}
	slices.SortFunc(hit, func(a, b *request) int { return cmp.Compare(a.rec.ID, b.rec.ID) })
	for _, q := range hit {
		if err := r.lose(q); err != nil {
			return err
		}
	}
	return nil
}

// take makes the replica take requests, or no more.
func (r *replica) take(takes bool) {
	if told := r.cfg.Drill.Told; told != nil && r.closed == takes {
		told(engine.Change{At: r.now, Replica: r.number, Takes: takes})
	}
	r.closed = !takes
}

// lose ends a request of a replica that fell, or sends it back to the router.
func (r *run) lose(q *request) error {
	d := &r.cfg.Drill
	switch {
	case d.Retry == engine.RetryNone:
		return r.end(q, r.now, observe.ReplicaFailed, engine.ReasonLost)
	case d.Retry == engine.RetryUnstarted && q.emitted > 0:
		return r.end(q, r.now, observe.ReplicaFailed, engine.ReasonStarted)
	case len(q.rec.Attempts) == int(d.MaxRetries):
		return r.end(q, r.now, observe.ReplicaFailed, engine.ReasonRetries)
	}
	old := q.rec
	// What is left of a request is what it was when it reached the pool, its past
	// attempts, and what it would be if its client gave up.
	*q = request{patience: q.patience, chain: q.chain, rec: observe.Request{
		ID: old.ID, Name: old.Name, Line: old.Line, Class: old.Class, Session: old.Session, Priority: old.Priority,
		Arrival: old.Arrival, Sent: old.Sent, Response: old.Response, Prompt: old.Prompt, Wanted: old.Wanted, Outcome: old.Outcome,
		Queued: observe.Never, Scheduled: observe.Never, First: observe.Never, Last: observe.Never, End: observe.Never,
		Attempts: append(old.Attempts, observe.Attempt{
			Replica: old.Replica, From: old.Sent.Add(old.Detour), To: r.now, Output: int32(q.emitted), Computed: old.Computed,
		}),
	}}
	r.late = insert(r.late, event{at: r.now.Add(d.RetryDelay), kind: retried, r: q})
	return nil
}

// rise lets the replica take requests again, first those that wait.
func (r *replica) rise() error {
	r.down, r.idle, r.seen = false, true, r.now
	r.take(true)
	lobby := r.lobby
	r.lobby = nil
	for _, q := range lobby {
		if !q.gone {
			if err := r.send(q); err != nil {
				return err
			}
		}
	}
	if next := int(r.number) + 1; r.rolling == r.run.replicas[r.number] && next < len(r.replicas) {
		return r.happen(event{kind: turn, e: r.replicas[next]})
	} else if r.rolling == r.run.replicas[r.number] {
		r.rolling = nil
	}
	return nil
}

// send sends q, which is at the router, to a replica, or lets it wait for one.
func (r *run) send(q *request) error {
	if e := r.route(q); e != nil {
		return e.arrive(q, r.now)
	}
	if r.cfg.Drill.Wait == 0 {
		return r.end(q, r.now, observe.Rejected, engine.ReasonNoReplica)
	}
	q.waits = r.now.Add(r.cfg.Drill.Wait)
	r.lobby = append(r.lobby, q)
	r.late = insert(r.late, event{at: q.waits, kind: expired, r: q})
	return nil
}

// load returns the number of requests that e has.
func (r *run) load(e *replica) (n int) {
	for _, q := range r.live {
		if q.at == e {
			n++
		}
	}
	return n
}
