package engine

import (
	"errors"
	"fmt"
	"io"

	"servesim/sim"
	"servesim/sim/observe"
	"servesim/sim/scheduler"
	"servesim/sim/workload"
)

// fact is something that becomes true at an instant, whatever the engine does.
type fact struct {
	id       int64 // of the request, since handles are used again
	h        scheduler.Handle
	deadline bool // the client gives up; otherwise the request arrives
}

// pullHead takes the next request from the source.
func (p *pool) pullHead() error {
	r, err := p.cfg.Source.Next()
	if errors.Is(err, io.EOF) {
		p.more = false
		return nil
	}
	if err != nil {
		return err
	}
	if r.Arrival < p.head.Arrival {
		return fmt.Errorf("request %d arrives at %v, before the one ahead of it at %v", r.ID, r.Arrival, p.head.Arrival)
	}
	p.head, p.more = r, true
	return nil
}

// pull books every request that may be the cause of the next fact.
func (p *pool) pull() error {
	for p.more {
		if t, ok := p.facts.Next(); ok && p.head.Arrival > t {
			return nil
		}
		if err := p.book(&p.head); err != nil {
			return err
		}
		if err := p.pullHead(); err != nil {
			return err
		}
	}
	return nil
}

// book makes r live and books its facts.
func (p *pool) book(r *workload.Request) error {
	if r.Prompt < 1 || r.Output < 1 || r.Cancel < 0 {
		return fmt.Errorf("request %d has a prompt of %d tokens, an output of %d and a patience of %v; lengths are 1 or more, and patience is not negative", r.ID, r.Prompt, r.Output, r.Cancel)
	}
	h := p.alloc()
	l := &p.live[h]
	*l = live{place: outside, patience: observe.Never, rec: observe.Request{
		Lost: l.rec.Lost[:0],
		ID:   r.ID, Name: r.Name, Line: r.Line, Class: r.Class, Session: r.Session, Priority: r.Priority,
		Arrival: r.Arrival, Sent: observe.Never, Queued: observe.Never, Scheduled: observe.Never,
		First: observe.Never, Last: observe.Never, End: observe.Never,
		Prompt: r.Prompt, Wanted: r.Output,
	}}
	request, ok := p.cfg.RequestDelay.Constant()
	if !ok {
		p.requestDraws.Reset(&p.draw, uint64(r.ID))
		request = p.cfg.RequestDelay.Draw(&p.draw)
	}
	if l.rec.Response, ok = p.cfg.ResponseDelay.Constant(); !ok {
		p.responseDraws.Reset(&p.draw, uint64(r.ID))
		l.rec.Response = p.cfg.ResponseDelay.Draw(&p.draw)
	}
	patience := r.Cancel
	if t := p.cfg.Timeout; t > 0 && (patience == 0 || t <= patience) {
		patience = t
	}
	if r.Arrival > sim.MaxTime-sim.Time(max(request, patience)) {
		return fmt.Errorf("request %d arrives at %v; a run can last 106 days", r.ID, r.Arrival)
	}
	sent, deadline := r.Arrival.Add(request), r.Arrival.Add(patience)
	if patience == 0 || sent < deadline {
		p.facts.Book(sent, sim.Fact, fact{r.ID, h, false})
	}
	if patience > 0 {
		l.patience, p.hasty = deadline, true
		p.facts.Book(deadline, sim.Fact, fact{r.ID, h, true})
	}
	// Until the request ends, Outcome holds what its deadline would make of it.
	l.rec.Outcome = observe.Cancelled
	if patience == p.cfg.Timeout {
		l.rec.Outcome = observe.TimedOut
	}
	return nil
}

// stale tells that f is the deadline of a request that has left.
func (p *pool) stale(f fact) bool {
	l := &p.live[f.h]
	return l.place.over() || l.rec.ID != f.id
}

// nextFact returns the instant of the next fact; ok is false if none will come.
func (p *pool) nextFact() (t sim.Time, ok bool, err error) {
	for {
		if err := p.pull(); err != nil {
			return 0, false, err
		}
		t, ok = p.facts.Next()
		if !ok || !p.stale(p.facts.Peek()) {
			return t, ok, nil
		}
		p.facts.Discard()
	}
}

// hear makes the fact at t true.
func (p *pool) hear(t sim.Time) error {
	if err := p.standing(t); err != nil {
		return err
	}
	f := p.facts.Pop()
	l := &p.live[f.h]
	switch {
	case !f.deadline:
		return p.route(l).arrive(f.h, t)
	case l.place == outside:
		if err := p.emit(f.h, t); err != nil {
			return err
		}
		p.release(f.h)
		return nil
	}
	return p.engines[l.rec.Replica].giveUp(f.h, t)
}

// route sends the request l, which reaches the pool, to a replica.
func (p *pool) route(l *live) *engine {
	i := 0
	if len(p.engines) > 1 {
		i = p.cfg.Router.Route(l.rec.ID, p.loads)
	}
	load := &p.loads[i]
	load.Outstanding++
	l.rec.Replica = load.Replica
	return &p.engines[load.Replica]
}

// standing counts the facts of instant t, and reports those that would never
// let time move: calls of a closed loop that end when they are made.
func (p *pool) standing(t sim.Time) error {
	if t != p.since {
		p.since, p.facing = t, 0
	}
	if p.facing++; p.reactive == nil || p.facing <= maxStanding+len(p.live) {
		return nil
	}
	return fmt.Errorf("more than %d calls were made and ended at once: every call of the closed loop is rejected, and its user calls again without think time", maxStanding)
}

// arrive hands the request h, which reaches the engine at t, to the policy, or
// rejects it.
func (e *engine) arrive(h scheduler.Handle, t sim.Time) error {
	l := &e.live[h]
	l.rec.Sent = t
	l.place = engaged
	l.limit = min(l.rec.Wanted, e.cfg.Scheduler.OutputLimit(l.rec.Prompt))
	if l.limit < 1 {
		return e.reject(h, t, ReasonModelLen)
	}
	s := scheduler.Seq{Rank: e.rank, Priority: l.rec.Priority, Prompt: l.rec.Prompt, Output: l.limit}
	if reason := e.policy.Fits(s); reason != "" {
		return e.reject(h, t, reason)
	}
	if err := e.interrupt(t); err != nil {
		return err
	}
	e.rank++
	if e.cfg.Detail {
		e.age(h, l.rec.ID)
	}
	e.news = append(e.news, news{at: t, h: h, id: l.rec.ID, seq: s})
	return nil
}

// tell hands the policy the news up to the instant that its next plan knows.
func (e *engine) tell() {
	for ; e.told < len(e.news) && e.news[e.told].at <= e.seen; e.told++ {
		n := &e.news[e.told]
		l := &e.live[n.h]
		if !n.abort {
			e.policy.Add(n.h, n.seq)
			l.rec.Queued = e.now
		} else if l.rec.ID == n.id && l.place == departed {
			e.policy.Abort(n.h)
			e.release(n.h)
		}
	}
	if 2*e.told >= len(e.news) { // at most as many are moved as were told
		e.news = e.news[:copy(e.news, e.news[e.told:])]
		e.told = 0
	}
}

// forget makes the handles of finished requests unused, once the policy has
// forgotten them too.
func (e *engine) forget() {
	for _, h := range e.limbo {
		e.release(h)
	}
	e.limbo = e.limbo[:0]
}

// reject ends the request h, which the policy does not hold.
func (p *pool) reject(h scheduler.Handle, t sim.Time, reason string) error {
	l := &p.live[h]
	l.rec.Outcome, l.rec.Reason = observe.Rejected, reason
	if err := p.emit(h, t); err != nil {
		return err
	}
	p.release(h)
	return nil
}

// giveUp ends the request h, which has arrived, because its client stopped
// waiting at t.
func (e *engine) giveUp(h scheduler.Handle, t sim.Time) error {
	if err := e.interrupt(t); err != nil { // which may move e.live
		return err
	}
	l := &e.live[h]
	id := l.rec.ID
	if l.place == grouped {
		e.settle(h, l)
	}
	if err := e.emit(h, t); err != nil {
		return err
	}
	e.live[h].place = departed
	e.news = append(e.news, news{at: t, h: h, id: id, abort: true})
	return nil
}

// emit writes the record of h, which ends at t with the outcome it holds, and
// books what that releases.
func (p *pool) emit(h scheduler.Handle, t sim.Time) error {
	l := &p.live[h]
	l.rec.End = t
	l.rec.Output = l.emitted
	if l.rec.Sent != observe.Never {
		p.loads[l.rec.Replica].Outstanding--
	}
	if l.emitted > 0 {
		l.rec.Last = l.last
	}
	if err := p.send(l); err != nil {
		return err
	}
	if p.reactive == nil {
		return nil
	}
	seen := t
	if l.rec.Outcome == observe.Completed || l.rec.Outcome == observe.Rejected {
		seen = t.Add(l.rec.Response)
	} else if l.patience > t {
		seen = l.patience // the answer was on its way when the client gave up
	}
	r, ok := p.reactive.Done(l.rec.ID, seen)
	if !ok {
		return nil
	}
	if r.Arrival < seen {
		return fmt.Errorf("request %d arrives at %v, before the end of the one that releases it at %v", r.ID, r.Arrival, seen)
	}
	return p.book(&r)
}
