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

// engine is one run under way.
type engine struct {
	cfg      Config
	policy   scheduler.Policy
	reactive workload.Reactive // the source, if it is one
	now      sim.Time
	facts    sim.Calendar[fact]
	head     workload.Request // the next request of the source, if more
	more     bool
	rank     int64
	live     []live
	unused   []scheduler.Handle
	news     []news   // in order of time, for the policy
	told     int      // how many of news the policy has heard
	seen     sim.Time // instant up to which the next plan knows what happened
	ages     ages
	limbo    []scheduler.Handle // finished, and maybe still known to the policy
	hasty    bool               // some request has a deadline
	group    group
	run      observe.StepRun
	serial   int64            // of the next step
	spans    [][]observe.Span // empty, to be used again
	lost     int32            // preemptions since the last step
	blocked  bool             // some request can never be served
	ctx      context.Context
	since    sim.Time // the instant of the latest fact
	facing   int      // facts of that instant

	requestDraws, responseDraws sim.Family
	draw                        rand.PCG
}

// Run replays the source of c through its policy and cost model and hands the
// records to its sink. It returns when every request has left or the horizon
// is reached. An error of the source or the sink ends the run and comes with
// its instant; faults of c come all at once.
func Run(ctx context.Context, c Config) error {
	if err := c.Check(); err != nil {
		return err
	}
	policy, err := scheduler.New(c.Scheduler)
	if err != nil {
		return err
	}
	e := &engine{cfg: c, policy: policy, ctx: ctx,
		requestDraws: c.Seed.Family("network.request"), responseDraws: c.Seed.Family("network.response")}
	if err := e.loop(); err != nil {
		return fmt.Errorf("at %v: %w", e.now, err)
	}
	return nil
}

// pollEvery is how many turns go by between looks at the context.
const pollEvery = 4096

// maxStanding is the number of facts at one instant, beside one for each live
// request, after which a closed loop is held to stand still.
const maxStanding = 1 << 20

// open takes the first request, or, of a closed loop, all that wait for nobody.
func (e *engine) open() error {
	if err := e.pullHead(); err != nil {
		return err
	}
	reactive, ok := e.cfg.Source.(workload.Reactive)
	if !ok {
		return nil
	}
	e.reactive = reactive
	for e.more {
		if err := e.book(&e.head); err != nil {
			return err
		}
		if err := e.pullHead(); err != nil {
			return err
		}
	}
	return nil
}

// loop is the engine: hear the facts, choose, run what was chosen.
func (e *engine) loop() error {
	if err := e.open(); err != nil {
		return err
	}
	for i := 0; ; i++ {
		if i%pollEvery == 0 && e.ctx.Err() != nil {
			return context.Cause(e.ctx)
		}
		if err := e.deliver(e.now); err != nil {
			return err
		}
		e.tell()
		ended, err := e.turn(e.policy.Plan())
		if err != nil {
			return err
		}
		if ended {
			return e.finish()
		}
	}
}

// turn runs the planned step, or waits if it is empty. ended is true, and
// nothing of the plan has come about, if the run is over.
func (e *engine) turn(step *scheduler.Step) (ended bool, err error) {
	if step.Empty() {
		if err := e.note(step); err != nil {
			return false, err
		}
		return e.wait(step)
	}
	p, k, err := e.stretch(step)
	if err != nil || k == 0 {
		return k == 0, err
	}
	if err := e.note(step); err != nil {
		return false, err
	}
	return false, e.execute(step, p, k)
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

// wait moves to the next fact, or stays if the next plan may differ: if planning
// an empty step preempted or dropped somebody, or did not know all that happened.
func (e *engine) wait(step *scheduler.Step) (ended bool, err error) {
	e.policy.Idle()
	e.forget()
	if e.seen < e.now || len(step.Preempted)+len(step.Dropped) > 0 {
		e.seen = e.now
		return false, nil
	}
	t, ok, err := e.nextFact()
	if err != nil || !ok {
		e.blocked = true
		return true, err
	}
	if e.cfg.Horizon > 0 && t > sim.Time(e.cfg.Horizon) {
		return true, nil
	}
	e.now, e.seen = t, t
	return false, nil
}

// finish ends what is left when the run is over, in order of ID.
func (e *engine) finish() error {
	end, reason := e.now, ReasonBlocked
	if h := sim.Time(e.cfg.Horizon); h > 0 {
		end = h
		if !e.blocked {
			reason = ReasonHorizon
		}
		if err := e.deliver(h); err != nil {
			return err
		}
	}
	var left []scheduler.Handle
	for h := range e.live {
		l := &e.live[h]
		if l.place.over() || l.rec.Arrival > end {
			continue
		}
		if l.place == grouped {
			e.settle(scheduler.Handle(h), l)
		}
		left = append(left, scheduler.Handle(h))
	}
	slices.SortFunc(left, func(a, b scheduler.Handle) int { return cmp.Compare(e.live[a].rec.ID, e.live[b].rec.ID) })
	e.reactive = nil
	for _, h := range left {
		l := &e.live[h]
		l.rec.Outcome, l.rec.Reason = observe.Unfinished, reason
		if err := e.emit(h, end); err != nil {
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
