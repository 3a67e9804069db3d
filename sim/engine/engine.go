package engine

import (
	"cmp"
	"context"
	"fmt"
	"math/rand/v2"
	"slices"

	"servesim/sim"
	"servesim/sim/gpu"
	"servesim/sim/observe"
	"servesim/sim/scheduler"
	"servesim/sim/workload"
)

// pool is one run under way: its replicas, and the requests on their way to them.
type pool struct {
	cfg      Config
	ctx      context.Context
	reactive workload.Reactive // the source, if it is one
	now      sim.Time
	facts    sim.Calendar[fact]
	head     workload.Request // the next request of the source, if more
	more     bool
	live     []live // of all replicas
	unused   []scheduler.Handle
	hasty    bool             // some request has a deadline
	spans    [][]observe.Span // empty, to be used again
	since    sim.Time         // the instant of the latest fact
	facing   int              // facts of that instant
	engines  []engine
	loads    []Load // of the engines, in order
	drill    sim.Calendar[happening]
	waiting  []aged // at the router; some may have left
	takers   []Load // scratch
	chose    turn
	roll     int32 // the replica whose turn it is to be restarted, or -1

	requestDraws, responseDraws sim.Family
	draw                        rand.PCG
}

// turn is how far the choices of an instant have come: the highest number of an
// engine that has chosen. All below it have had their turn.
type turn struct {
	at   sim.Time
	last int32
}

// engine is one replica at work.
type engine struct {
	*pool
	number  int32
	policy  scheduler.Policy
	state   state
	stretch stretch // under way, of a busy engine
	rank    int64
	news    []news   // in order of time, for the policy
	told    int      // how many of news the policy has heard
	seen    sim.Time // instant up to which the next plan knows what happened
	ages    ages
	limbo   []scheduler.Handle // finished, and maybe still known to the policy
	group   group
	run     observe.StepRun
	serial  int64              // of the next step
	lost    int32              // preemptions since the last step
	next    *scheduler.Step    // the next plan, if it is made already
	voided  []scheduler.Handle // whose tokens of the step that ends it takes back

	closed   bool     // it gets no more requests
	draining bool     // it is to go down when it has none left
	back     sim.Time // of one that is down, when it comes back; observe.Never if it doesn't
}

// state says what an engine does next.
type state uint8

const (
	due     state = iota // it chooses now
	busy                 // its stretch ends
	idle                 // nothing, until somebody arrives
	stopped              // nothing: no step ends before the horizon
	down                 // nothing: it has failed
)

// Run replays the source of c through its policy and cost model and hands the
// records to its sink. It returns when every request has left or the horizon
// is reached. An error of the source or the sink ends the run and comes with
// its instant; faults of c come all at once.
func Run(ctx context.Context, c Config) error {
	if err := c.Check(); err != nil {
		return err
	}
	p := &pool{cfg: c, ctx: ctx,
		requestDraws: c.Seed.Family("network.request"), responseDraws: c.Seed.Family("network.response")}
	p.engines, p.loads = make([]engine, c.replicas()), make([]Load, c.replicas())
	for i := range p.engines {
		policy, err := scheduler.New(c.Scheduler)
		if err != nil {
			return err
		}
		p.engines[i] = engine{pool: p, number: int32(i), policy: policy}
		p.loads[i].Replica = int32(i)
	}
	p.bookDrill()
	if err := p.loop(); err != nil {
		return fmt.Errorf("at %v: %w", p.now, err)
	}
	return nil
}

// pollEvery is how many turns go by between looks at the context.
const pollEvery = 4096

// maxStanding is the number of facts at one instant, beside one for each live
// request, after which a closed loop is held to stand still.
const maxStanding = 1 << 20

// open takes the first request, or, of a closed loop, all that wait for nobody.
func (p *pool) open() error {
	if err := p.pullHead(); err != nil {
		return err
	}
	reactive, ok := p.cfg.Source.(workload.Reactive)
	if !ok {
		return nil
	}
	p.reactive = reactive
	for p.more {
		if err := p.book(&p.head); err != nil {
			return err
		}
		if err := p.pullHead(); err != nil {
			return err
		}
	}
	return nil
}

// loop makes one thing happen after the other: at each instant first the ends
// of steps, then facts, then one choice, after which there may be facts again.
// Of what is equal the replica of the lowest number goes first.
func (p *pool) loop() error {
	if err := p.open(); err != nil {
		return err
	}
	for i := 0; ; i++ {
		if i%pollEvery == 0 && p.ctx.Err() != nil {
			return context.Cause(p.ctx)
		}
		t, ok, err := p.nextFact()
		if err != nil {
			return err
		}
		if h := sim.Time(p.cfg.Horizon); !ok || h > 0 && t > h {
			t = observe.Never
		}
		ends, chooses := p.first()
		switch {
		case ends != nil && (t == observe.Never || ends.stretch.end <= t) && (chooses == nil || ends.stretch.end == p.now):
			p.now = ends.stretch.end
			err = ends.finish()
		case t != observe.Never && (chooses == nil || t <= p.now):
			p.now = max(p.now, t)
			err = p.hear(t)
		case chooses != nil:
			if p.chose.at != p.now {
				p.chose = turn{p.now, chooses.number}
			}
			p.chose.last = max(p.chose.last, chooses.number)
			err = chooses.choose()
		default:
			return p.finish(ok)
		}
		if err != nil {
			return err
		}
	}
}

// first returns the engine whose stretch ends first and the first that is to
// choose, nil if there is none.
func (p *pool) first() (ends, chooses *engine) {
	for i := range p.engines {
		e := &p.engines[i]
		switch {
		case e.state == busy && (ends == nil || e.stretch.end < ends.stretch.end):
			ends = e
		case e.state == due && chooses == nil:
			chooses = e
		}
	}
	return ends, chooses
}

// choose plans the next step and begins it, or rests if there is none.
func (e *engine) choose() error {
	step := e.next
	if e.next = nil; step == nil {
		e.tell()
		step = e.policy.Plan()
	}
	if step.Empty() {
		if err := e.note(step); err != nil {
			return err
		}
		e.rest(step)
		return nil
	}
	s, err := e.plan(step)
	if err != nil {
		return err
	}
	if s.k == 0 { // nothing of the plan has come about
		e.state = stopped
		return nil
	}
	e.state, e.stretch = busy, s
	return e.note(step)
}

// note takes in what planning step changed at once.
func (e *engine) note(step *scheduler.Step) error {
	for _, loss := range step.Preempted {
		l := &e.live[loss.Seq]
		if l.place.over() {
			continue
		}
		if l.place == grouped {
			e.settle(loss.Seq, l)
		}
		l.place = engaged
		if e.cfg.Scheduler.Regenerate {
			l.limit = l.emitted + l.rec.Wanted
		}
		l.rec.Preemptions++
		l.rec.Lost = append(l.rec.Lost, e.serial)
		l.reached = max(l.reached, loss.Tokens)
	}
	e.lost += int32(len(step.Preempted))
	for _, h := range step.Stalled {
		l := &e.live[h]
		if l.place.over() {
			continue
		}
		e.settle(h, l)
		l.place = stalled
	}
	for _, h := range step.Unstalled {
		if l := &e.live[h]; !l.place.over() {
			e.joinGroup(h, l)
		}
	}
	for _, d := range step.Dropped {
		if e.live[d.Seq].place.over() {
			e.release(d.Seq)
			continue
		}
		if err := e.reject(d.Seq, e.now, d.Reason); err != nil {
			return err
		}
	}
	return nil
}

// rest makes the engine idle, or due again if the next plan may differ: if
// planning an empty step preempted or dropped somebody, or did not know all that
// happened.
func (e *engine) rest(step *scheduler.Step) {
	e.policy.Idle()
	e.forget()
	if e.seen < e.now || len(step.Preempted)+len(step.Dropped) > 0 || step.Again {
		e.seen = e.now
		return
	}
	e.state = idle
}

// finish ends what is left when nothing more happens before the horizon, in order
// of ID; more tells that something would happen after it.
func (p *pool) finish(more bool) error {
	end, reason := p.now, ReasonBlocked
	if h := sim.Time(p.cfg.Horizon); h > 0 {
		end = h
		for i := range p.engines {
			more = more || p.engines[i].state == stopped
		}
		if more {
			reason = ReasonHorizon
		}
	}
	var left []scheduler.Handle
	for h := range p.live {
		l := &p.live[h]
		if l.place.over() || l.rec.Arrival > end {
			continue
		}
		if l.place == grouped {
			p.engines[l.rec.Replica].settle(scheduler.Handle(h), l)
		}
		left = append(left, scheduler.Handle(h))
	}
	slices.SortFunc(left, func(a, b scheduler.Handle) int { return cmp.Compare(p.live[a].rec.ID, p.live[b].rec.ID) })
	p.reactive = nil
	for _, h := range left {
		l := &p.live[h]
		l.rec.Outcome, l.rec.Reason = observe.Unfinished, reason
		if err := p.emit(h, end); err != nil {
			return err
		}
	}
	return nil
}

// work returns what step computes.
func work(step *scheduler.Step) gpu.Work {
	w := gpu.Work{DecodeSeqs: int64(step.Decodes), DecodeKV: step.DecodeKV, Samples: int64(step.Decodes)}
	for i := range step.Shares {
		s := &step.Shares[i]
		if s.Decode {
			w.DecodeSeqs, w.DecodeKV, w.Samples = w.DecodeSeqs+1, w.DecodeKV+int64(s.Start)+1, w.Samples+1
			continue
		}
		w.AddChunk(int64(s.Start), int64(s.Tokens), s.Last)
	}
	return w
}
