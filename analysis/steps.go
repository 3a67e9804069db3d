package analysis

import (
	"fmt"
	"math"
	"math/bits"

	"servesim/sim"
	"servesim/sim/observe"
)

// stepStats accumulates what an Engine report says.
type stepStats struct {
	steps            int64
	replicas         int
	busy             sum
	prefill, decode  int64
	running, waiting level
	blocks           level
}

// level accumulates a Level.
type level struct {
	peak   int64
	weight sum
}

// add takes value v, which held for span.
func (l *level) add(v int64, span uint64) {
	l.peak = max(l.peak, v)
	l.weight.addProduct(uint64(v), span)
}

// report returns the Level over the time busy.
func (l *level) report(busy *sum) Level {
	if b := busy.float(); b > 0 {
		return Level{Peak: l.peak, Mean: l.weight.float() / b}
	}
	return Level{Peak: l.peak, Mean: math.NaN()}
}

// add takes a run of steps.
func (s *stepStats) add(r *observe.StepRun) error {
	span, ok := duration(r)
	if !ok || r.Running < 0 || r.Waiting < 0 || r.BlocksUsed < 0 || r.Replica < 0 || r.Decodes < 0 {
		return fmt.Errorf("replica %d, step at %d ps: the record does not hold together: steps %d, first %d ps, inc %d ps, decodes %d, running %d, waiting %d, blocks_used %d; "+
			"there is at least 1 step, no number is negative, and the steps end within the range of time",
			r.Replica, r.Start, r.Steps, r.First, r.Inc, r.Decodes, r.Running, r.Waiting, r.BlocksUsed)
	}
	busy := s.busy
	if busy.add(span); busy.hi > 0 || busy.lo > math.MaxInt64 {
		return fmt.Errorf("replica %d, step at %d ps: with it the steps of all engines together last longer than %v, the longest time there is",
			r.Replica, r.Start, sim.MaxDuration)
	}
	s.busy = busy
	s.steps += r.Steps
	s.replicas = max(s.replicas, int(r.Replica)+1)
	s.decode += r.Steps * int64(r.Decodes)
	for i := range r.Chunks {
		s.prefill += int64(r.Chunks[i].Tokens)
	}
	s.running.add(int64(r.Running), span)
	s.waiting.add(int64(r.Waiting), span)
	s.blocks.add(r.BlocksUsed, span)
	return nil
}

// duration returns how long the steps of r last, as StepRun.Duration does. ok is
// false if that or a step of it is negative or ends beyond the range of time.
func duration(r *observe.StepRun) (span uint64, ok bool) {
	if r.Steps < 1 || r.First < 0 || r.Start < 0 {
		return 0, false
	}
	if r.Steps == 1 {
		return uint64(r.First), uint64(r.First) <= uint64(sim.MaxTime-r.Start)
	}
	n := uint64(r.Steps)
	h, total := bits.Mul64(uint64(r.First), n)
	if h != 0 || total > math.MaxInt64 {
		return 0, false
	}
	inc := uint64(max(r.Inc, -r.Inc))
	ht, twice := bits.Mul64(n, n-1)
	h, change := bits.Mul64(inc, twice/2)
	if ht != 0 || h != 0 || change > math.MaxInt64 || r.Inc == math.MinInt64 {
		return 0, false
	}
	if r.Inc < 0 {
		if inc*(n-1) > uint64(r.First) { // 2·change/n, which fits
			return 0, false
		}
		return total - change, total-change <= uint64(sim.MaxTime-r.Start)
	}
	return total + change, total+change <= uint64(sim.MaxTime-r.Start)
}

// report returns the Engine report of a run that lasted span.
func (s *stepStats) report(span sim.Duration) Engine {
	e := Engine{
		Steps: s.steps, Replicas: s.replicas,
		Busy:          sim.Duration(s.busy.lo), // all of it, as add sees to it
		PrefillTokens: s.prefill, DecodeTokens: s.decode,
		Running: s.running.report(&s.busy), Waiting: s.waiting.report(&s.busy), Blocks: s.blocks.report(&s.busy),
		Utilisation: math.NaN(),
	}
	if span > 0 && s.replicas > 0 {
		e.Utilisation = s.busy.float() / (float64(span) * float64(s.replicas))
	}
	return e
}
