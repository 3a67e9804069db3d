package stepwise

import (
	"cmp"
	"errors"
	"io"
	"math/rand/v2"
	"slices"

	"servesim/sim"
	"servesim/sim/engine"
	"servesim/sim/kv"
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
	chain    kv.Chain
	hashed   int   // blocks, from its first, that are registered
	swapped  int64 // blocks that it has in the CPU's memory
	// sampled and sampledBefore tell that the last step planned and the one before
	// it sample a token for it.
	sampled, sampledBefore bool
	last                   sim.Time // instant of its latest token
	gone                   bool     // its record is out
	ended                  bool     // it has all its tokens, but the scheduler has yet to see it
	at                     *replica // that has it, nil if none
	waits                  sim.Time // until when it waits for a replica
}

// known is the number of tokens whose content is known.
func (r *request) known() int { return int(r.rec.Prompt) + r.emitted }

// event is a fact to come, of a request or of a replica.
type event struct {
	at   sim.Time
	kind kind
	r    *request
	e    *replica
	down sim.Duration // of a failure
}

// run is one run under way.
type run struct {
	cfg      engine.Config
	reactive workload.Reactive
	now      sim.Time
	pool     []event // of replicas, in order of time, then of booking
	events   []event // of requests, likewise, which come after them at an instant
	late     []event // and those that come after these
	live     []*request
	lobby    []*request // wait for a replica
	rolling  *replica   // whose turn it is to be restarted
	replicas []*replica
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
	r.bookDrill()
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
	}, chain: chainOf(&w)}
	var src rand.PCG
	r.cfg.Seed.Family("network.request").Reset(&src, uint64(w.ID))
	sent := w.Arrival.Add(r.cfg.RequestDelay.Draw(&src))
	r.cfg.Seed.Family("network.response").Reset(&src, uint64(w.ID))
	q.rec.Response = r.cfg.ResponseDelay.Draw(&src)
	patience := w.Cancel
	if t := r.cfg.Timeout; t > 0 && (patience == 0 || t <= patience) {
		patience, q.rec.Outcome = t, observe.TimedOut
	}
	gone := w.Arrival.Add(patience)
	q.patience = sim.MaxTime
	if patience > 0 {
		q.patience = gone
	}
	if patience == 0 || sent < gone {
		r.events = insert(r.events, event{at: sent, kind: arrives, r: q})
	}
	if patience > 0 {
		r.events = insert(r.events, event{at: gone, kind: deadline, r: q})
	}
	r.live = append(r.live, q)
}

// insert books ev behind all that are not later.
func insert(events []event, ev event) []event {
	i, _ := slices.BinarySearchFunc(events, ev, func(a, b event) int {
		if a.at <= b.at {
			return -1
		}
		return 1
	})
	return slices.Insert(events, i, ev)
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
			if !e.busy && !e.idle && !e.over && !e.down {
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
	if list := r.first(); list != nil {
		next = (*list)[0].at
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

// lists returns the lists of events in their order at one instant.
func (r *run) lists() []*[]event { return []*[]event{&r.pool, &r.events, &r.late} }

// dropStale forgets events that nothing comes of.
func (r *run) dropStale() {
	for _, list := range r.lists() {
		for len(*list) > 0 && r.obsolete((*list)[0]) {
			*list = (*list)[1:]
		}
	}
}

// first returns the list that holds the next event, nil if there is none.
func (r *run) first() (first *[]event) {
	for _, list := range r.lists() {
		if len(*list) > 0 && (first == nil || (*list)[0].at < (*first)[0].at) {
			first = list
		}
	}
	return first
}

// deliver makes every fact up to instant until true.
func (r *run) deliver(until sim.Time) error {
	for {
		r.dropStale()
		list := r.first()
		if list != &r.pool || (*list)[0].at > until {
			if err := r.drained(); err != nil {
				return err
			}
			r.dropStale()
			list = r.first()
		}
		if list == nil || (*list)[0].at > until {
			return nil
		}
		ev := (*list)[0]
		*list = (*list)[1:]
		if err := r.come(ev); err != nil {
			return err
		}
	}
}

// come makes ev true.
func (r *run) come(ev event) error {
	q := ev.r
	switch ev.kind {
	case arrives:
		q.rec.Sent = ev.at
		return r.send(q)
	case retried:
		return r.send(q)
	case expired:
		return r.end(q, ev.at, observe.Rejected, engine.ReasonNoReplica)
	case deadline:
		if q.at != nil {
			q.at.hear(ev)
		}
		return r.end(q, ev.at, q.rec.Outcome, "")
	}
	return r.happen(ev)
}

// route returns the replica that q goes to, nil if none takes requests.
func (r *run) route(q *request) *replica {
	var loads []engine.Load
	for _, e := range r.replicas {
		if !e.closed {
			loads = append(loads, engine.Load{Replica: e.number, Outstanding: int32(r.load(e))})
		}
	}
	switch {
	case len(loads) == 0:
		return nil
	case len(r.replicas) == 1:
		return r.replicas[0]
	}
	return r.replicas[loads[r.cfg.Router.Route(q.rec.ID, loads)].Replica]
}

// end writes the record of q.
func (r *run) end(q *request, t sim.Time, o observe.Outcome, reason string) error {
	q.gone = true
	if q.at == nil && q.rec.Sent != observe.Never {
		q.rec.Detour = t.Sub(q.rec.Sent)
	}
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
	case o == observe.Completed || o == observe.Rejected || o == observe.ReplicaFailed:
		t = t.Add(q.rec.Response)
	case q.patience != sim.MaxTime:
		t = max(t, q.patience)
	}
	if next, ok := r.reactive.Done(q.rec.ID, t); ok {
		r.book(next)
	}
	return nil
}

// finish ends what is left when nothing more happens, in order of ID.
func (r *run) finish() error {
	end, reason := r.now, engine.ReasonBlocked
	if r.cfg.Horizon > 0 {
		end = sim.Time(r.cfg.Horizon)
		later := func(e *replica) bool { return e.over }
		if r.first() != nil || slices.ContainsFunc(r.replicas, later) {
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
