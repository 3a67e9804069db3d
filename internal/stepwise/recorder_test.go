package stepwise

import (
	"errors"
	"slices"

	"servesim/sim"
	"servesim/sim/engine"
	"servesim/sim/observe"
)

// recorder keeps the records of a run, steps one by one.
type recorder struct {
	Requests []observe.Request
	Steps    []oneStep
	Peaks    map[place]int64 // blocks used, by the last step of each run
	Changes  []engine.Change
}

// place is a step by its replica and its start.
type place struct {
	replica int32
	start   sim.Time
}

// oneStep is one step of an expanded StepRun.
type oneStep struct {
	Replica          int32
	Serial           int64
	Start            sim.Time
	Duration, Base   sim.Duration
	Decodes          int32
	DecodeKV         int64
	Chunks           []observe.Chunk
	Gaps             map[sim.Duration]int32
	Running, Waiting int32
	Held             observe.Held
	Oldest           sim.Time
	Preempted        int32
	Cut              bool
}

func (r *recorder) Request(q *observe.Request) error {
	c := *q
	c.Made, c.Lost = append([]observe.Span(nil), q.Made...), append([]int64(nil), q.Lost...)
	c.Attempts = append([]observe.Attempt(nil), q.Attempts...)
	r.Requests = append(r.Requests, c)
	return nil
}

func (r *recorder) Step(s *observe.StepRun) error {
	if len(r.Steps) > 200_000 {
		return errors.New("the run does not seem to end")
	}
	t, d := s.Start, s.First
	for i := int64(0); i < s.Steps; i++ {
		one := oneStep{Replica: s.Replica, Serial: s.Serial + i, Start: t, Duration: d, Base: s.Base, Held: s.Held, Oldest: s.Oldest, Decodes: s.Decodes, DecodeKV: s.DecodeKV + i*int64(s.Decodes),
			Running: s.Running, Waiting: s.Waiting, Gaps: map[sim.Duration]int32{}}
		if i > 0 {
			one.Base = d
		} else {
			one.Preempted, one.Cut = s.Preempted, s.Cut
			one.Chunks = append(one.Chunks, s.Chunks...)
			// Their order has no meaning: a ghost stands elsewhere.
			slices.SortFunc(one.Chunks, func(a, b observe.Chunk) int { return int(a.ID - b.ID) })
		}
		r.Steps = append(r.Steps, one)
		if i == s.Steps-1 {
			r.Peaks[place{s.Replica, t}] = s.BlocksUsed
		}
		t, d = t.Add(d), d+s.Inc
	}
	// Each run of gaps ends with the last step of the run, or is of its first.
	first := len(r.Steps) - int(s.Steps)
	for _, g := range s.Gaps {
		at := first
		if g.Steps > 1 {
			at = len(r.Steps) - int(g.Steps)
		} else if g.Steps == s.Steps-1 && first < len(r.Steps)-1 && g.First == s.First+s.Inc && g.Seqs == s.Decodes && covered(r.Steps[first]) == s.Decodes {
			at = len(r.Steps) - 1
		}
		for i := int64(0); i < g.Steps; i++ {
			r.Steps[at+int(i)].Gaps[g.First+g.Inc*sim.Duration(i)] += g.Seqs
		}
	}
	return nil
}

// sort puts the steps of each replica together.
func (r *recorder) sort() {
	slices.SortStableFunc(r.Steps, func(a, b oneStep) int { return int(a.Replica - b.Replica) })
}

// covered returns the number of gaps recorded for s.
func covered(s oneStep) (n int32) {
	for _, c := range s.Gaps {
		n += c
	}
	return n
}

// change keeps c.
func (r *recorder) change(c engine.Change) { r.Changes = append(r.Changes, c) }
