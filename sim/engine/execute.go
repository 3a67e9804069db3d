package engine

import (
	"cmp"
	"fmt"
	"slices"

	"servesim/sim"
	"servesim/sim/gpu"
	"servesim/sim/observe"
	"servesim/sim/scheduler"
)

// execute runs the planned step k times, whose durations are those of p.
func (e *engine) execute(step *scheduler.Step, p gpu.Progression, k int64) error {
	span := total(p, k)
	if e.now > sim.MaxTime-sim.Time(span) {
		return fmt.Errorf("the run lasts longer than the 106 days that can be counted")
	}
	end := e.now.Add(span)
	e.describe(step, p, k)
	e.serial += k
	if err := e.elapse(step, p, k, end); err != nil {
		return err
	}
	done := e.policy.Advance(k)
	e.forget()
	e.run.BlocksUsed = e.policy.Peak()
	for i := range step.Shares {
		e.chunk(&step.Shares[i], end)
	}
	if err := e.cfg.Sink.Step(&e.run); err != nil {
		return err
	}
	e.seen = end
	if e.cfg.Scheduler.AsyncScheduling { // the next step is planned as this one starts
		e.seen = e.now.Add(total(p, k-1))
	}
	e.now = end
	return e.complete(done)
}

// stretch returns the durations of the step's repetitions and how many of them
// run, 0 if the horizon leaves no room for one.
func (e *engine) stretch(step *scheduler.Step) (p gpu.Progression, k int64, err error) {
	k = 1
	if len(step.Shares) > 0 {
		p = gpu.Progression{First: e.cfg.Cost.Step(work(step)), Steps: 1}
	} else {
		p = e.cfg.Cost.Decode(int64(step.Decodes), step.DecodeKV)
		k = e.policy.Repeat()
	}
	if p.First <= 0 || p.Inc < 0 || p.Steps < 1 {
		return p, 0, fmt.Errorf("the cost model answers %v per step and %v more for each of %d; steps take time and do not get shorter", p.First, p.Inc, p.Steps)
	}
	k = countable(p, min(k, p.Steps, maxStretch))
	if e.told < len(e.news) {
		k = 1 // the next plan knows more
	}
	if k > 1 {
		t, ok, err := e.nextFact()
		if err != nil {
			return p, 0, err
		}
		if ok {
			k = e.until(p, t, k)
		}
	}
	if h := sim.Time(e.cfg.Horizon); h > 0 {
		k = stepsWithin(p, h.Sub(e.now), k)
	}
	return p, k, nil
}

// until returns how many of at most limit steps run before a plan that knows of
// the fact at t can differ. With asynchronous scheduling that is the plan after
// the one that t interrupts; but no more than the last step may hold a deadline.
func (e *engine) until(p gpu.Progression, t sim.Time, limit int64) int64 {
	k := stepsUntil(p, t.Sub(e.now), limit)
	if e.cfg.Scheduler.AsyncScheduling && !e.hasty {
		k = min(k+1, limit)
	}
	return k
}

// describe fills in the record of k steps, but for what their end will show.
func (e *engine) describe(step *scheduler.Step, p gpu.Progression, k int64) {
	running, waiting, _ := e.policy.Counts()
	r := &e.run
	*r = observe.StepRun{
		Serial: e.serial, Start: e.now, Steps: k, First: p.First, Inc: p.Inc, Base: e.base(step, p),
		Decodes: step.Decodes, DecodeKV: step.DecodeKV,
		Chunks: r.Chunks[:0], Gaps: r.Gaps[:0],
		Running: int32(running), Waiting: int32(waiting), Oldest: e.oldest(), Held: observe.Held(step.Held), Preempted: e.lost,
	}
	if k == 1 {
		r.Inc = 0
	}
	e.lost = 0
	if e.group.members > 0 && step.Decodes > 0 {
		e.gaps(p, k)
	}
	for i := range step.Shares {
		l := &e.live[step.Shares[i].Seq]
		if l.rec.Scheduled == observe.Never {
			l.rec.Scheduled = e.now
		}
		if step.Shares[i].Last && l.rec.First != observe.Never && l.place != departed {
			e.gap(e.now.Add(p.First).Sub(l.last))
		}
	}
}

// base returns how long the first step would last without its chunks.
func (e *engine) base(step *scheduler.Step, p gpu.Progression) sim.Duration {
	switch {
	case step.Decodes == 0 || !e.cfg.Detail:
		return 0
	case len(step.Shares) == 0:
		return p.First
	}
	return e.cfg.Cost.Decode(int64(step.Decodes), step.DecodeKV).First
}

// gaps records the gaps of the decodes that end in k steps: those of the first
// step by the instant of the token before, the rest as long as their steps.
func (e *engine) gaps(p gpu.Progression, k int64) {
	g, r := &e.group, &e.run
	synced := g.members - int32(len(g.odd))
	if len(g.odd) == 0 && g.last == e.now {
		r.Gaps = append(r.Gaps, observe.Gaps{Seqs: g.members, Steps: k, First: p.First, Inc: r.Inc})
		return
	}
	end := e.now.Add(p.First)
	if synced > 0 {
		r.Gaps = append(r.Gaps, observe.Gaps{Seqs: synced, Steps: 1, First: end.Sub(g.last)})
	}
	for _, h := range g.odd {
		e.gap(end.Sub(e.live[h].last))
	}
	if k > 1 {
		r.Gaps = append(r.Gaps, observe.Gaps{Seqs: g.members, Steps: k - 1, First: p.First + p.Inc, Inc: p.Inc})
	}
}

// gap records one gap, together with the one before if that is as long.
func (e *engine) gap(d sim.Duration) {
	gaps := e.run.Gaps
	if n := len(gaps); n > 0 && gaps[n-1].Steps == 1 && gaps[n-1].First == d {
		gaps[n-1].Seqs++
		return
	}
	e.run.Gaps = append(gaps, observe.Gaps{Seqs: 1, Steps: 1, First: d})
}

// elapse lets k steps go by, and makes true what happens before the last ends.
func (e *engine) elapse(step *scheduler.Step, p gpu.Progression, k int64, end sim.Time) error {
	if step.Decodes == 0 {
		return e.deliver(end - 1)
	}
	first := e.now.Add(p.First)
	if k == 1 {
		if err := e.deliver(end - 1); err != nil {
			return err
		}
		e.tick(e.run.Serial, 1, first, p.First, p.Inc)
		return nil
	}
	e.tick(e.run.Serial, k-1, first, p.First, p.Inc)
	if err := e.deliver(end - 1); err != nil {
		return err
	}
	e.tick(e.run.Serial+k-1, 1, end, end.Sub(e.group.last), 0)
	return nil
}

// chunk takes in a prompt chunk that the step which ends at end computed.
func (e *engine) chunk(s *scheduler.Share, end sim.Time) {
	l := &e.live[s.Seq]
	e.run.Chunks = append(e.run.Chunks, observe.Chunk{
		ID: l.rec.ID, Start: s.Start, Tokens: s.Tokens, Resumed: s.Start < l.reached, Ghost: s.Ghost,
	})
	if l.place == departed {
		if e.group.members == 0 {
			e.group.last = end
		}
		return
	}
	l.rec.Computed += int64(s.Tokens)
	l.rec.Recomputed += int64(max(0, min(l.reached, s.Start+s.Tokens)-s.Start))
	l.reached = max(l.reached, s.Start+s.Tokens)
	if !s.Last {
		return
	}
	e.token(l, end)
	if l.emitted < l.limit {
		e.joinGroup(s.Seq, l)
	}
}

// complete ends the requests that got their last token now, in order of ID.
func (e *engine) complete(done []scheduler.Handle) error {
	if len(done) > 1 {
		slices.SortFunc(done, func(a, b scheduler.Handle) int { return cmp.Compare(e.live[a].rec.ID, e.live[b].rec.ID) })
	}
	for _, h := range done {
		l := &e.live[h]
		e.limbo = append(e.limbo, h)
		if l.place == departed {
			l.place = finished
			continue
		}
		if l.place == grouped {
			e.settle(h, l)
		}
		if l.patience == observe.Never || e.now.Add(l.rec.Response) <= l.patience {
			l.rec.Outcome = observe.Completed
		}
		if err := e.emit(h, e.now); err != nil { // which may move e.live
			return err
		}
		e.live[h].place = finished
	}
	return nil
}
