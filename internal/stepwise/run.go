package stepwise

import (
	"cmp"
	"errors"
	"io"
	"math/rand/v2"
	"slices"

	"servesim/sim"
	"servesim/sim/engine"
	"servesim/sim/gpu"
	"servesim/sim/observe"
	"servesim/sim/workload"
)

// request is one live request.
type request struct {
	rec      observe.Request
	rank     int64 // order of arrival at the engine
	limit    int   // tokens it will generate
	emitted  int   // tokens generated
	computed int   // tokens whose KV is held
	reached  int   // tokens whose KV was held at some time
	patience sim.Time
	decoding bool // its prompt is done
	blocks   blockTable
	last     sim.Time // instant of its latest token
	gone     bool     // its record is out
	ended    bool     // it has all its tokens, but the scheduler has yet to see it
}

// known is the number of tokens whose content is known.
func (r *request) known() int { return int(r.rec.Prompt) + r.emitted }

// event is a fact to come: r reaches the engine, or its client gives up.
type event struct {
	at       sim.Time
	r        *request
	deadline bool
}

// run is one run under way.
type run struct {
	cfg      engine.Config
	reactive workload.Reactive
	now      sim.Time
	events   []event // in order of time, then of booking
	live     []*request
	replicas []*replica
}

// replica is one engine.
type replica struct {
	*run
	number int32
	sched  policy
	idle   bool
	over   bool // the horizon leaves no room for its next step
	busy   bool // plan is under way
	plan   plan
	ends   sim.Time
	rank   int64
	serial int64 // of the next step
	lost   int
	news   []event    // what the scheduler is to hear of, in order of time
	seen   sim.Time   // instant up to which the next plan knows what happened
	unseen []*request // asynchronous scheduling: what ended in the last step
}

// Run does what engine.Run does.
func Run(c engine.Config) error {
	if err := c.Check(); err != nil {
		return err
	}
	r := &run{cfg: c}
	for i := range max(1, c.Replicas) {
		r.replicas = append(r.replicas, &replica{run: r, number: int32(i), sched: newPolicy(c.Scheduler)})
	}
	r.reactive, _ = c.Source.(workload.Reactive)
	for {
		req, err := c.Source.Next()
		if errors.Is(err, io.EOF) {
			break
		}
		if err != nil {
			return err
		}
		r.book(req)
	}
	return r.loop()
}

// book makes w live and books its facts.
func (r *run) book(w workload.Request) {
	q := &request{rec: observe.Request{
		ID: w.ID, Name: w.Name, Line: w.Line, Class: w.Class, Session: w.Session, Priority: w.Priority,
		Arrival: w.Arrival, Sent: observe.Never, Queued: observe.Never, Scheduled: observe.Never, First: observe.Never,
		Last: observe.Never, End: observe.Never, Prompt: w.Prompt, Wanted: w.Output,
		Outcome: observe.Cancelled,
	}}
	var src rand.PCG
	r.cfg.Seed.Family("network.request").Reset(&src, uint64(w.ID))
	sent := w.Arrival.Add(r.cfg.RequestDelay.Draw(&src))
	r.cfg.Seed.Family("network.response").Reset(&src, uint64(w.ID))
	q.rec.Response = r.cfg.ResponseDelay.Draw(&src)
	patience := w.Cancel
	if t := r.cfg.Timeout; t > 0 && (patience == 0 || t <= patience) {
		patience, q.rec.Outcome = t, observe.TimedOut
	}
	deadline := w.Arrival.Add(patience)
	q.patience = sim.MaxTime
	if patience > 0 {
		q.patience = deadline
	}
	if patience == 0 || sent < deadline {
		r.insert(event{sent, q, false})
	}
	if patience > 0 {
		r.insert(event{deadline, q, true})
	}
	r.live = append(r.live, q)
}

// insert books ev behind all that are not later.
func (r *run) insert(ev event) {
	i, _ := slices.BinarySearchFunc(r.events, ev, func(a, b event) int {
		if a.at <= b.at {
			return -1
		}
		return 1
	})
	r.events = slices.Insert(r.events, i, ev)
}

// loop goes from instant to instant. At each, all that ends ends and all facts
// become true before anybody chooses, and again after each choice.
func (r *run) loop() error {
	for {
		for _, e := range r.replicas {
			if e.busy && e.ends == r.now {
				if err := e.apply(); err != nil {
					return err
				}
			}
		}
		if err := r.deliver(r.now); err != nil {
			return err
		}
		chosen := false
		for _, e := range r.replicas {
			if !e.busy && !e.idle && !e.over {
				if err := e.choose(); err != nil {
					return err
				}
				chosen = true
				break
			}
		}
		if !chosen && !r.next() {
			return r.finish()
		}
	}
}

// next moves to the next instant at which something happens, if there is one
// before the horizon.
func (r *run) next() bool {
	r.dropStale()
	next := sim.MaxTime
	if len(r.events) > 0 {
		next = r.events[0].at
	}
	for _, e := range r.replicas {
		if e.busy {
			next = min(next, e.ends)
		}
	}
	if h := sim.Time(r.cfg.Horizon); next == sim.MaxTime || h > 0 && next > h {
		return false
	}
	r.now = next
	return true
}

// choose makes the next plan and begins its step.
func (r *replica) choose() error {
	r.tell()
	plan := r.sched.plan()
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
	r.idle = r.seen == r.now && len(plan.preempted)+len(plan.dropped) == 0
	r.seen = r.now
	return nil
}

// dropStale forgets deadlines of requests that have left.
func (r *run) dropStale() {
	for len(r.events) > 0 && r.events[0].r.gone {
		r.events = r.events[1:]
	}
}

// deliver makes every fact up to instant until true.
func (r *run) deliver(until sim.Time) error {
	for r.dropStale(); len(r.events) > 0 && r.events[0].at <= until; r.dropStale() {
		ev := r.events[0]
		r.events = r.events[1:]
		var err error
		if !ev.deadline {
			err = r.route(ev.r).arrive(ev.r, ev.at)
		} else {
			if ev.r.rec.Sent != observe.Never {
				r.replicas[ev.r.rec.Replica].hear(ev)
			}
			err = r.end(ev.r, ev.at, ev.r.rec.Outcome, "")
		}
		if err != nil {
			return err
		}
	}
	return nil
}

// route returns the replica that q goes to.
func (r *run) route(q *request) *replica {
	if len(r.replicas) == 1 {
		return r.replicas[0]
	}
	var loads []engine.Load
	for _, e := range r.replicas {
		load := engine.Load{Replica: e.number}
		for _, other := range r.live {
			if other.rec.Sent != observe.Never && other.rec.Replica == e.number {
				load.Outstanding++
			}
		}
		loads = append(loads, load)
	}
	return r.replicas[loads[r.cfg.Router.Route(q.rec.ID, loads)].Replica]
}

// arrive queues q, or rejects it.
func (r *replica) arrive(q *request, t sim.Time) error {
	q.rec.Sent, q.rec.Replica = t, r.number
	q.limit = min(int(q.rec.Wanted), int(r.cfg.Scheduler.OutputLimit(q.rec.Prompt)))
	if q.limit < 1 {
		return r.end(q, t, observe.Rejected, engine.ReasonModelLen)
	}
	if reason := r.sched.fits(q); reason != "" {
		return r.end(q, t, observe.Rejected, reason)
	}
	q.rank = r.rank
	r.rank++
	r.hear(event{at: t, r: q})
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
		if n := r.news[0]; n.deadline {
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

// end writes the record of q.
func (r *run) end(q *request, t sim.Time, o observe.Outcome, reason string) error {
	q.gone = true
	q.rec.End, q.rec.Outcome, q.rec.Reason, q.rec.Output = t, o, reason, int32(q.emitted)
	if q.emitted > 0 {
		q.rec.Last = q.last
	}
	i := slices.Index(r.live, q)
	r.live = slices.Delete(r.live, i, i+1)
	if err := r.cfg.Sink.Request(&q.rec); err != nil {
		return err
	}
	if r.reactive == nil {
		return nil
	}
	switch {
	case o == observe.Completed || o == observe.Rejected:
		t = t.Add(q.rec.Response)
	case q.patience != sim.MaxTime:
		t = max(t, q.patience)
	}
	if next, ok := r.reactive.Done(q.rec.ID, t); ok {
		r.book(next)
	}
	return nil
}

// note takes in what planning changed at once.
func (r *replica) note(p plan) error {
	r.lost += len(p.preempted)
	for _, q := range p.preempted {
		q.rec.Preemptions++
		q.rec.Lost = append(q.rec.Lost, r.serial)
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
		if q.rec.Sent != observe.Never && q.rec.Replica == r.number && (oldest == observe.Never || q.rec.Sent < oldest) {
			oldest = q.rec.Sent
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
	for _, it := range p.items {
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
	return r.cfg.Sink.Step(&rec)
}

// finish ends what is left when nothing more happens, in order of ID.
func (r *run) finish() error {
	end, reason := r.now, engine.ReasonBlocked
	if r.cfg.Horizon > 0 {
		end = sim.Time(r.cfg.Horizon)
		later := func(e *replica) bool { return e.over }
		if len(r.events) > 0 || slices.ContainsFunc(r.replicas, later) {
			reason = engine.ReasonHorizon
		}
	}
	r.reactive = nil
	left := slices.Clone(r.live)
	slices.SortFunc(left, func(a, b *request) int { return cmp.Compare(a.rec.ID, b.rec.ID) })
	for _, q := range left {
		if q.rec.Arrival > end {
			continue
		}
		if err := r.end(q, end, observe.Unfinished, reason); err != nil {
			return err
		}
	}
	return nil
}
