package engine

import (
	"errors"
	"fmt"
	"io"

	"servesim/sim"
	"servesim/sim/kv"
	"servesim/sim/observe"
	"servesim/sim/scheduler"
	"servesim/sim/workload"
)

// fact is something that becomes true at an instant, whatever the engine does.
type fact struct {
	id   int64 // of the request, since handles are used again
	h    scheduler.Handle
	kind factKind
}

// factKind says what becomes true of a request. What is tried again, or waits in
// vain, comes after all else at its instant, as a sim.Choice.
type factKind uint8

const (
	reaches    factKind = iota // it reaches the pool
	givesUp                    // its client does
	triesAgain                 // it reaches the router again
	expires                    // it has waited for a replica long enough
)

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
	*l = live{place: outside, patience: observe.Never, routed: observe.Never, chain: p.chain(l.chain.Hashes, r), rec: observe.Request{
		Lost: l.rec.Lost[:0], Attempts: l.rec.Attempts[:0],
		ID: r.ID, Name: r.Name, Line: r.Line, Class: r.Class, Session: r.Session, Priority: r.Priority,
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
		p.facts.Book(sent, sim.Fact, fact{r.ID, h, reaches})
	}
	if patience > 0 {
		l.patience, p.hasty = deadline, true
		p.facts.Book(deadline, sim.Fact, fact{r.ID, h, givesUp})
	}
	// Until the request ends, Outcome holds what its deadline would make of it.
	l.rec.Outcome = observe.Cancelled
	if patience == p.cfg.Timeout {
		l.rec.Outcome = observe.TimedOut
	}
	return nil
}

// chain returns what the tokens of r are, with its hashes in the memory of
// hashes; nothing if no cache asks for it.
func (p *pool) chain(hashes []uint64, r *workload.Request) kv.Chain {
	if !p.cfg.Scheduler.EnablePrefixCaching {
		return kv.Chain{}
	}
	return kv.Chain{Hashes: append(hashes[:0], r.Blocks...), HashTokens: r.BlockTokens, LeadTokens: r.LeadTokens, Covered: r.Covered()}
}

// stale tells that f, which is booked for t, is of a request that has left, or that
// waits no more.
func (p *pool) stale(f fact, t sim.Time) bool {
	l := &p.live[f.h]
	return l.place.over() || l.rec.ID != f.id || f.kind == expires && (l.place != waiting || l.expires != t)
}

// nextFact returns the instant of the next fact; ok is false if none will come.
func (p *pool) nextFact() (t sim.Time, ok bool, err error) {
	for {
		if err := p.pull(); err != nil {
			return 0, false, err
		}
		t, ok = p.facts.Next()
		if ok && p.stale(p.facts.Peek(), t) {
			p.facts.Discard()
			continue
		}
		at, drills := p.drill.Next()
		switch {
		case drills && p.over(p.drill.Peek(), at):
			p.drill.Discard()
		case drills && (!ok || at <= t):
			return at, true, nil
		default:
			return t, ok, nil
		}
	}
}

// hear makes the fact at t true.
func (p *pool) hear(t sim.Time) error {
	if err := p.standing(t); err != nil {
		return err
	}
	if at, ok := p.drill.Next(); ok && at <= t {
		return p.happen(p.drill.Pop(), t)
	}
	f := p.facts.Pop()
	l := &p.live[f.h]
	switch {
	case f.kind == reaches:
		l.rec.Sent = t
		return p.dispatch(f.h, t)
	case f.kind == triesAgain:
		return p.dispatch(f.h, t)
	case f.kind == expires:
		return p.reject(f.h, t, ReasonNoReplica)
	case l.place == outside || l.place == waiting:
		if err := p.emit(f.h, t); err != nil {
			return err
		}
		p.release(f.h)
		return nil
	}
	return p.engines[l.rec.Replica].giveUp(f.h, t)
}

// dispatch sends the request h, which is at the router at t, to a replica, or lets
// it wait or rejects it if none takes requests.
func (p *pool) dispatch(h scheduler.Handle, t sim.Time) error {
	l := &p.live[h]
	e := p.route(l)
	if e != nil {
		return e.arrive(h, t)
	}
	wait := p.cfg.Drill.Wait
	if wait == 0 {
		return p.reject(h, t, ReasonNoReplica)
	}
	var err error
	if l.expires, err = later(t, wait); err != nil {
		return err
	}
	l.place = waiting
	for len(p.waiting) > 0 && !p.waits(p.waiting[0]) { // they leave in about this order
		p.waiting = p.waiting[1:]
	}
	p.waiting = append(p.waiting, aged{h, l.rec.ID})
	p.facts.Book(l.expires, sim.Choice, fact{l.rec.ID, h, expires})
	return nil
}

// route chooses the replica of the request l, nil if none takes requests.
func (p *pool) route(l *live) *engine {
	loads := p.loads
	if !p.cfg.Drill.Empty() {
		p.takers = p.takers[:0]
		for i := range p.loads {
			if !p.engines[i].closed {
				p.takers = append(p.takers, p.loads[i])
			}
		}
		loads = p.takers
	}
	i := 0
	switch {
	case len(loads) == 0:
		return nil
	case len(p.engines) > 1:
		i = p.cfg.Router.Route(l.rec.ID, loads)
	}
	l.rec.Replica = loads[i].Replica
	p.loads[l.rec.Replica].Outstanding++
	return &p.engines[l.rec.Replica]
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
	l.routed, l.rec.Detour = t, t.Sub(l.rec.Sent)
	l.place = engaged
	l.limit = min(l.rec.Wanted, e.cfg.Scheduler.OutputLimit(l.rec.Prompt))
	if l.limit < 1 {
		return e.reject(h, t, ReasonModelLen)
	}
	s := scheduler.Seq{Rank: e.rank, Priority: l.rec.Priority, Prompt: l.rec.Prompt, Output: l.limit, Prefix: l.chain}
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
	switch {
	case l.routed != observe.Never:
		p.leave(l, t)
	case l.rec.Sent != observe.Never:
		l.rec.Detour = t.Sub(l.rec.Sent)
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
	switch l.rec.Outcome {
	case observe.Completed, observe.Rejected, observe.ReplicaFailed:
		seen = t.Add(l.rec.Response)
	default:
		seen = max(t, l.patience) // the answer was on its way when the client gave up
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
