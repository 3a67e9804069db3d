package engine

import (
	"context"
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
func (e *engine) pullHead() error {
	r, err := e.cfg.Source.Next()
	if errors.Is(err, io.EOF) {
		e.more = false
		return nil
	}
	if err != nil {
		return err
	}
	if r.Arrival < e.head.Arrival {
		return fmt.Errorf("request %d arrives at %v, before the one ahead of it at %v", r.ID, r.Arrival, e.head.Arrival)
	}
	e.head, e.more = r, true
	return nil
}

// pull books every request that may be the cause of the next fact.
func (e *engine) pull() error {
	for e.more {
		if t, ok := e.facts.Next(); ok && e.head.Arrival > t {
			return nil
		}
		if err := e.book(&e.head); err != nil {
			return err
		}
		if err := e.pullHead(); err != nil {
			return err
		}
	}
	return nil
}

// book makes r live and books its facts.
func (e *engine) book(r *workload.Request) error {
	if r.Prompt < 1 || r.Output < 1 || r.Cancel < 0 {
		return fmt.Errorf("request %d has a prompt of %d tokens, an output of %d and a patience of %v; lengths are 1 or more, and patience is not negative", r.ID, r.Prompt, r.Output, r.Cancel)
	}
	h := e.alloc()
	l := &e.live[h]
	*l = live{place: outside, patience: observe.Never, rec: observe.Request{
		Lost: l.rec.Lost[:0],
		ID:   r.ID, Name: r.Name, Line: r.Line, Class: r.Class, Session: r.Session, Priority: r.Priority,
		Arrival: r.Arrival, Sent: observe.Never, Queued: observe.Never, Scheduled: observe.Never,
		First: observe.Never, Last: observe.Never, End: observe.Never,
		Prompt: r.Prompt, Wanted: r.Output,
	}}
	request, ok := e.cfg.RequestDelay.Constant()
	if !ok {
		e.requestDraws.Reset(&e.draw, uint64(r.ID))
		request = e.cfg.RequestDelay.Draw(&e.draw)
	}
	if l.rec.Response, ok = e.cfg.ResponseDelay.Constant(); !ok {
		e.responseDraws.Reset(&e.draw, uint64(r.ID))
		l.rec.Response = e.cfg.ResponseDelay.Draw(&e.draw)
	}
	patience := r.Cancel
	if t := e.cfg.Timeout; t > 0 && (patience == 0 || t <= patience) {
		patience = t
	}
	if r.Arrival > sim.MaxTime-sim.Time(max(request, patience)) {
		return fmt.Errorf("request %d arrives at %v; a run can last 106 days", r.ID, r.Arrival)
	}
	sent, deadline := r.Arrival.Add(request), r.Arrival.Add(patience)
	if patience == 0 || sent < deadline {
		e.facts.Book(sent, sim.Fact, fact{r.ID, h, false})
	}
	if patience > 0 {
		l.patience, e.hasty = deadline, true
		e.facts.Book(deadline, sim.Fact, fact{r.ID, h, true})
	}
	// Until the request ends, Outcome holds what its deadline would make of it.
	l.rec.Outcome = observe.Cancelled
	if patience == e.cfg.Timeout {
		l.rec.Outcome = observe.TimedOut
	}
	return nil
}

// stale tells that f is the deadline of a request that has left.
func (e *engine) stale(f fact) bool {
	l := &e.live[f.h]
	return l.place.over() || l.rec.ID != f.id
}

// nextFact returns the instant of the next fact; ok is false if none will come.
func (e *engine) nextFact() (t sim.Time, ok bool, err error) {
	for {
		if err := e.pull(); err != nil {
			return 0, false, err
		}
		t, ok = e.facts.Next()
		if !ok || !e.stale(e.facts.Peek()) {
			return t, ok, nil
		}
		e.facts.Discard()
	}
}

// deliver makes every fact up to instant until true, and news for the policy.
func (e *engine) deliver(until sim.Time) error {
	for n := 1; ; n++ {
		t, ok, err := e.nextFact()
		if err != nil || !ok || t > until {
			return err
		}
		if n%pollEvery == 0 && e.ctx.Err() != nil {
			return context.Cause(e.ctx)
		}
		if err := e.standing(t); err != nil {
			return err
		}
		f := e.facts.Pop()
		if f.deadline {
			err = e.giveUp(f.h, t)
		} else {
			err = e.arrive(f.h, t)
		}
		if err != nil {
			return err
		}
	}
}

// standing counts the facts of instant t, and reports those that would never
// let time move: calls of a closed loop that end when they are made.
func (e *engine) standing(t sim.Time) error {
	if t != e.since {
		e.since, e.facing = t, 0
	}
	if e.facing++; e.reactive == nil || e.facing <= maxStanding+len(e.live) {
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
func (e *engine) reject(h scheduler.Handle, t sim.Time, reason string) error {
	l := &e.live[h]
	l.rec.Outcome, l.rec.Reason = observe.Rejected, reason
	if err := e.emit(h, t); err != nil {
		return err
	}
	e.release(h)
	return nil
}

// giveUp ends the request h because its client stopped waiting at t.
func (e *engine) giveUp(h scheduler.Handle, t sim.Time) error {
	l := &e.live[h]
	id, arrived := l.rec.ID, l.place != outside
	if l.place == grouped {
		e.settle(h, l)
	}
	if err := e.emit(h, t); err != nil { // which may move e.live
		return err
	}
	if !arrived {
		e.release(h)
		return nil
	}
	e.live[h].place = departed
	e.news = append(e.news, news{at: t, h: h, id: id, abort: true})
	return nil
}

// emit writes the record of h, which ends at t with the outcome it holds, and
// books what that releases.
func (e *engine) emit(h scheduler.Handle, t sim.Time) error {
	l := &e.live[h]
	l.rec.End = t
	l.rec.Output = l.emitted
	if l.emitted > 0 {
		l.rec.Last = l.last
	}
	if err := e.send(l); err != nil {
		return err
	}
	if e.reactive == nil {
		return nil
	}
	seen := t
	if l.rec.Outcome == observe.Completed || l.rec.Outcome == observe.Rejected {
		seen = t.Add(l.rec.Response)
	} else if l.patience > t {
		seen = l.patience // the answer was on its way when the client gave up
	}
	r, ok := e.reactive.Done(l.rec.ID, seen)
	if !ok {
		return nil
	}
	if r.Arrival < seen {
		return fmt.Errorf("request %d arrives at %v, before the end of the one that releases it at %v", r.ID, r.Arrival, seen)
	}
	return e.book(&r)
}
