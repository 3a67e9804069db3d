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

// stretch is a planned step that runs one or more times in a row.
type stretch struct {
	step      *scheduler.Step
	from, end sim.Time
	durations gpu.Progression
	k         int64 // steps; something that happens before its end may make them fewer
	fixed     bool  // nothing will
}

// plan returns the stretch that begins now with the planned step, of no steps if
// the horizon leaves no room for one.
func (e *engine) plan(step *scheduler.Step) (stretch, error) {
	s := stretch{step: step, from: e.now, k: 1}
	if len(step.Shares) > 0 {
		s.durations = gpu.Progression{First: e.cfg.Cost.Step(work(step)), Steps: 1}
	} else {
		s.durations = e.cfg.Cost.Decode(int64(step.Decodes), step.DecodeKV)
		s.k = e.policy.Repeat()
	}
	p := s.durations
	if p.First <= 0 || p.Inc < 0 || p.Steps < 1 {
		return s, fmt.Errorf("the cost model answers %v per step and %v more for each of %d; steps take time and do not get shorter", p.First, p.Inc, p.Steps)
	}
	s.k = countable(p, min(s.k, p.Steps, maxStretch))
	if e.told < len(e.news) {
		s.k = 1 // the next plan knows more
	}
	if h := sim.Time(e.cfg.Horizon); h > 0 {
		s.k = stepsWithin(p, h.Sub(s.from), s.k)
	}
	span := total(p, s.k)
	if s.from > sim.MaxTime-sim.Time(span) {
		return s, fmt.Errorf("the run lasts longer than the 106 days that can be counted")
	}
	s.end = s.from.Add(span)
	return s, nil
}

// interrupt tells the engine that something is to happen to it at t, which ends
// the stretch under way when a plan that knows of it can differ. Afterwards the
// stretch has ended, or t lies within its last step or before it.
func (e *engine) interrupt(t sim.Time) error {
	switch s := &e.stretch; e.state {
	case idle:
		e.state, e.seen = due, t
	case busy:
		if !s.fixed {
			e.fix(e.until(t))
		}
		if s.end <= t {
			return e.finish()
		}
	}
	return nil
}

// until returns how many of the steps under way run before a plan that knows of
// the fact at t can differ. With asynchronous scheduling that is the plan after
// the one that t interrupts; but no more than the last step may hold a deadline. A
// step that begins at t is under way if the engine has had its turn to choose then.
func (e *engine) until(t sim.Time) int64 {
	s := &e.stretch
	if e.chose.at == t && e.chose.last > e.number {
		return stepsUntil(s.durations, t.Sub(s.from)+1, s.k)
	}
	k := stepsUntil(s.durations, t.Sub(s.from), s.k)
	if e.cfg.Scheduler.AsyncScheduling && !e.hasty && t > s.from {
		k = min(k+1, s.k)
	}
	return k
}

// fix settles that k steps of the stretch run, records them but for what their
// end will show, and lets all but the last go by.
func (e *engine) fix(k int64) {
	s := &e.stretch
	s.k, s.fixed, s.end = k, true, s.from.Add(total(s.durations, k))
	e.describe()
	e.serial += k
	if s.step.Decodes > 0 && k > 1 {
		p := s.durations
		e.tick(e.run.Serial, k-1, s.from.Add(p.First), p.First, p.Inc)
	}
}

// finish ends the stretch under way.
func (e *engine) finish() error {
	s := &e.stretch
	if !s.fixed {
		e.fix(s.k)
	}
	done := e.policy.Advance(s.k)
	e.run.BlocksUsed = e.policy.Peak()
	e.forget()
	e.state, e.seen = due, s.end
	if e.cfg.Scheduler.AsyncScheduling { // the next step is planned as this one starts
		e.seen = s.from.Add(total(s.durations, s.k-1))
	}
	if e.cfg.Scheduler.TakesBack() {
		done = e.foresee(done)
	}
	switch p := s.durations; {
	case s.step.Decodes == 0:
	case s.k == 1:
		e.tick(e.run.Serial, 1, s.end, p.First, p.Inc)
	default:
		e.tick(e.run.Serial+s.k-1, 1, s.end, s.end.Sub(e.group.last), 0)
	}
	for i := range s.step.Shares {
		e.chunk(&s.step.Shares[i], s.end)
	}
	if err := e.cfg.Sink.Step(&e.run); err != nil {
		return err
	}
	return e.complete(done, s.end)
}

// describe fills in the record of the stretch, but for what its end will show.
func (e *engine) describe() {
	running, waiting, _ := e.policy.Counts()
	s, r := &e.stretch, &e.run
	step, p := s.step, s.durations
	*r = observe.StepRun{
		Replica: e.number, Serial: e.serial, Start: s.from, Steps: s.k, First: p.First, Inc: p.Inc, Base: e.base(step, p),
		Decodes: step.Decodes, DecodeKV: step.DecodeKV,
		Chunks: r.Chunks[:0], Gaps: r.Gaps[:0],
		Running: int32(running), Waiting: int32(waiting), Oldest: e.oldest(), Held: observe.Held(step.Held), Preempted: e.lost,
	}
	if s.k == 1 {
		r.Inc = 0
	}
	e.lost = 0
	if e.group.members > 0 && step.Decodes > 0 {
		e.gaps()
	}
	for i := range step.Shares {
		l := &e.live[step.Shares[i].Seq]
		if l.rec.Scheduled == observe.Never {
			l.rec.Scheduled = s.from
		}
		if step.Shares[i].Last && l.rec.First != observe.Never && l.place != departed {
			e.gap(s.from.Add(p.First).Sub(l.last))
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

// gaps records the gaps of the decodes that end in the stretch: those of the first
// step by the instant of the token before, the rest as long as their steps.
func (e *engine) gaps() {
	g, r, s := &e.group, &e.run, &e.stretch
	synced := g.members - int32(len(g.odd))
	if len(g.odd) == 0 && g.last == s.from {
		r.Gaps = append(r.Gaps, observe.Gaps{Seqs: g.members, Steps: s.k, First: r.First, Inc: r.Inc})
		return
	}
	end := s.from.Add(r.First)
	if synced > 0 {
		r.Gaps = append(r.Gaps, observe.Gaps{Seqs: synced, Steps: 1, First: end.Sub(g.last)})
	}
	for _, h := range g.odd {
		e.gap(end.Sub(e.live[h].last))
	}
	if s.k > 1 {
		r.Gaps = append(r.Gaps, observe.Gaps{Seqs: g.members, Steps: s.k - 1, First: r.First + r.Inc, Inc: r.Inc})
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

// chunk takes in a prompt chunk that the step which ends at end computed.
func (e *engine) chunk(s *scheduler.Share, end sim.Time) {
	l := e.recordChunk(s)
	if l.place.over() {
		if e.group.members == 0 {
			e.group.last = end
		}
		return
	}
	if s.Admitted { // what the prefix cache had of it, and it never had
		l.rec.Cached += max(0, s.Start-l.reached)
		l.reached = max(l.reached, s.Start)
	}
	l.rec.Computed += int64(s.Tokens)
	l.rec.Recomputed += int64(max(0, min(l.reached, s.Start+s.Tokens)-s.Start))
	l.reached = max(l.reached, s.Start+s.Tokens)
	if !s.Last || slices.Contains(e.voided, s.Seq) {
		return
	}
	e.token(l, end)
	if l.emitted < l.limit {
		e.joinGroup(s.Seq, l)
	}
}

// recordChunk records the chunk s, and returns its request.
func (e *engine) recordChunk(s *scheduler.Share) *live {
	l := &e.live[s.Seq]
	e.run.Chunks = append(e.run.Chunks, observe.Chunk{
		ID: l.rec.ID, Start: s.Start, Tokens: s.Tokens, Resumed: s.Start < l.reached, Ghost: s.Ghost,
	})
	return l
}

// complete ends the requests that got their last token at end, in order of ID.
func (e *engine) complete(done []scheduler.Handle, end sim.Time) error {
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
		if l.patience == observe.Never || end.Add(l.rec.Response) <= l.patience {
			l.rec.Outcome = observe.Completed
		}
		if err := e.emit(h, end); err != nil { // which may move e.live
			return err
		}
		e.live[h].place = finished
	}
	return nil
}
