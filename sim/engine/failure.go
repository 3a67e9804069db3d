package engine

import (
	"cmp"
	"fmt"
	"slices"

	"servesim/sim"
	"servesim/sim/observe"
	"servesim/sim/scheduler"
)

// happening is what a drill does to a replica at an instant.
type happening struct {
	kind    happens
	replica int32
	down    sim.Duration // of a failure
}

// happens is the kind of a happening.
type happens uint8

const (
	fails    happens = iota // it is killed
	turnCome                // the rolling restart comes to it
	empties                 // it has nothing left, or no more time for what it has
	returns                 // it takes requests again
)

// bookDrill books what is known of the drill at the beginning.
func (p *pool) bookDrill() {
	d := &p.cfg.Drill
	p.roll = -1
	p.hasty = p.hasty || !d.Empty()
	for _, f := range d.Failures {
		p.drill.Book(sim.Time(f.At), sim.Fact, happening{fails, f.Replica, f.Down})
	}
	if r := d.Rolling; r != nil {
		p.drill.Book(sim.Time(r.Start), sim.Fact, happening{kind: turnCome})
	}
}

// over tells that h, which is booked for t, has nothing to do any more.
func (p *pool) over(h happening, t sim.Time) bool {
	e := &p.engines[h.replica]
	return h.kind == empties && !e.draining || h.kind == returns && e.back != t
}

// happen makes h true at t.
func (p *pool) happen(h happening, t sim.Time) error {
	e := &p.engines[h.replica]
	switch h.kind {
	case fails:
		return e.goDown(t, h.down)
	case turnCome:
		return p.turn(h.replica, t)
	case empties:
		return e.goDown(t, p.cfg.Drill.Rolling.Down)
	}
	return e.comeBack(t)
}

// later returns the instant d after t.
func later(t sim.Time, d sim.Duration) (sim.Time, error) {
	if t > sim.MaxTime-sim.Time(d) {
		return t, fmt.Errorf("the drill goes on for longer than the 106 days that can be counted")
	}
	return t.Add(d), nil
}

// turn begins to restart replica i, or ends the rolling restart after the last.
func (p *pool) turn(i int32, t sim.Time) error {
	if int(i) == len(p.engines) {
		p.roll = -1
		return nil
	}
	p.roll = i
	e := &p.engines[i]
	if e.state == down {
		return nil
	}
	e.draining = true
	e.take(false, t)
	at := t
	if p.loads[i].Outstanding > 0 {
		var err error
		if at, err = later(t, p.cfg.Drill.Rolling.Grace); err != nil {
			return err
		}
	}
	p.drill.Book(at, sim.Fact, happening{kind: empties, replica: i})
	return nil
}

// goDown takes the replica down at t for a time, 0 for ever. One that is down stays
// so for the longer of both.
func (e *engine) goDown(t sim.Time, lasts sim.Duration) error {
	back := observe.Never
	if lasts > 0 {
		var err error
		if back, err = later(t, lasts); err != nil {
			return err
		}
	}
	wasDown := e.state == down
	if wasDown && (e.back == observe.Never || back != observe.Never && back <= e.back) {
		return nil
	}
	e.draining, e.back = false, back
	e.take(false, t)
	if back != observe.Never {
		e.drill.Book(back, sim.Fact, happening{kind: returns, replica: e.number})
	}
	if wasDown {
		return nil
	}
	return e.fail(t)
}

// take makes the replica take requests from t on, or no more.
func (e *engine) take(takes bool, t sim.Time) {
	if told := e.cfg.Drill.Told; told != nil && e.closed == takes {
		told(Change{t, e.number, takes})
	}
	e.closed = !takes
}

// fail ends all that the replica does and has.
func (e *engine) fail(t sim.Time) error {
	if e.state == busy {
		if err := e.cut(t); err != nil { // which may move e.live
			return err
		}
	}
	e.forget()
	var hit []scheduler.Handle
	for i := range e.live {
		h, l := scheduler.Handle(i), &e.live[i]
		switch {
		case l.routed == observe.Never || l.rec.Replica != e.number || l.place == free:
		case l.place == departed:
			e.release(h)
		default:
			if l.place == grouped {
				e.settle(h, l)
			}
			hit = append(hit, h)
		}
	}
	slices.SortFunc(hit, func(a, b scheduler.Handle) int { return cmp.Compare(e.live[a].rec.ID, e.live[b].rec.ID) })
	policy, err := scheduler.New(e.cfg.Scheduler)
	if err != nil {
		return err
	}
	e.policy, e.state, e.group, e.lost, e.next = policy, down, group{}, 0, nil
	e.news, e.told = e.news[:0], 0
	e.ages = ages{}
	for _, h := range hit {
		if err := e.loseReplica(h, t); err != nil {
			return err
		}
	}
	return nil
}

// comeBack makes the replica take requests again, first those that wait.
func (e *engine) comeBack(t sim.Time) error {
	e.state, e.seen, e.back = idle, t, observe.Never
	e.take(true, t)
	waited := e.waiting
	e.waiting = nil
	for _, q := range waited {
		if !e.waits(q) {
			continue
		}
		if err := e.dispatch(q.h, t); err != nil {
			return err
		}
	}
	if e.roll == e.number {
		return e.turn(e.number+1, t)
	}
	return nil
}

// waits tells that q is still at the router.
func (p *pool) waits(q aged) bool {
	l := &p.live[q.h]
	return l.place == waiting && l.rec.ID == q.id
}

// cut ends the stretch under way at t: the steps that have ended by then count, and
// the one under way is recorded as cut short.
func (e *engine) cut(t sim.Time) error {
	s := &e.stretch
	if !s.fixed {
		e.fix(e.until(t))
	}
	if s.end <= t {
		return e.finish()
	}
	r := &e.run
	if n := s.k - 1; n > 0 {
		begin, decodeKV := s.from.Add(total(s.durations, n)), r.DecodeKV+n*int64(r.Decodes)
		r.Steps, r.Gaps = n, withoutLast(r.Gaps)
		if n == 1 {
			r.Inc = 0
		}
		e.policy.Advance(n)
		r.BlocksUsed = e.policy.Peak()
		if err := e.cfg.Sink.Step(r); err != nil {
			return err
		}
		e.policy.Plan() // the same again, as Repeat has said
		r.Serial, r.Start, r.Steps, r.DecodeKV, r.Preempted = r.Serial+n, begin, 1, decodeKV, 0
		if r.Base > 0 {
			r.Base = t.Sub(begin) // there are no chunks
		}
	}
	r.Cut, r.First, r.Inc, r.Gaps = true, t.Sub(r.Start), 0, r.Gaps[:0]
	r.Base = min(r.Base, r.First)
	for i := range s.step.Shares {
		e.recordChunk(&s.step.Shares[i])
	}
	e.policy.Advance(1)
	r.BlocksUsed = e.policy.Peak()
	return e.cfg.Sink.Step(r)
}

// withoutLast returns gaps without those of the last step.
func withoutLast(gaps []observe.Gaps) []observe.Gaps {
	n := len(gaps) - 1
	if n < 0 {
		return gaps
	}
	if gaps[n].Steps--; gaps[n].Steps == 0 {
		return gaps[:n]
	}
	return gaps
}

// loseReplica ends the request h, whose replica has failed, or lets it be tried again.
func (p *pool) loseReplica(h scheduler.Handle, t sim.Time) error {
	l, d := &p.live[h], &p.cfg.Drill
	reason := ""
	switch {
	case d.Retry == RetryNone:
		reason = ReasonLost
	case d.Retry == RetryUnstarted && l.emitted > 0:
		reason = ReasonStarted
	case len(l.rec.Attempts) >= int(d.MaxRetries):
		reason = ReasonRetries
	default:
		return p.again(h, t)
	}
	l.rec.Outcome, l.rec.Reason = observe.ReplicaFailed, reason
	if err := p.emit(h, t); err != nil {
		return err
	}
	p.release(h)
	return nil
}

// again makes the request h, which a replica lost at t, reach the router anew.
func (p *pool) again(h scheduler.Handle, t sim.Time) error {
	at, err := later(t, p.cfg.Drill.RetryDelay)
	if err != nil {
		return err
	}
	l := &p.live[h]
	p.leave(l, t)
	r := &l.rec
	r.Attempts = append(r.Attempts, observe.Attempt{Replica: r.Replica, From: l.routed, To: t, Output: l.emitted, Computed: r.Computed})
	if r.Made != nil {
		p.spans = append(p.spans, r.Made[:0])
	}
	r.Made, r.Lost, r.Preemptions, r.Replica = nil, r.Lost[:0], 0, 0
	r.Cached, r.Computed, r.Recomputed, r.MaxGap = 0, 0, 0, 0
	r.Queued, r.Scheduled, r.First = observe.Never, observe.Never, observe.Never
	l.emitted, l.reached, l.made, l.routed, l.place = 0, 0, observe.Span{}, observe.Never, outside
	p.facts.Book(at, sim.Choice, fact{r.ID, h, triesAgain})
	return nil
}

// leave takes l off the load of its replica.
func (p *pool) leave(l *live, t sim.Time) {
	load := &p.loads[l.rec.Replica]
	load.Outstanding--
	if load.Outstanding == 0 && p.engines[load.Replica].draining {
		p.drill.Book(t, sim.Fact, happening{kind: empties, replica: load.Replica})
	}
}
