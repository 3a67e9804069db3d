package dialect

import (
	"math"

	"servesim/analysis"
	"servesim/sim"
	"servesim/sim/observe"
)

// series collects the values of one Measure, whichever dialects it belongs to.
type series struct {
	m       Measure
	flat    analysis.Sample    // one value of a call, if all weigh the same
	runs    analysis.GapSample // many values, or ones that weigh differently
	moments moments
	calls   int64         // that gave a value
	left    [zeroed]int64 // calls that gave none, by their state
}

// pooled tells that the series has more than one value of a call, or weighs them.
func (s *series) pooled() bool { return s.m.Kind == Gaps || s.m.Weighted }

// take takes in a call.
func (s *series) take(v *view) error {
	if s.m.Kind >= Gaps {
		return s.gaps(v)
	}
	q, st := s.m.quotient(v)
	if st != counted {
		s.left[st]++
		return nil
	}
	x, ok := s.m.value(q)
	if !ok {
		s.left[short]++
		return nil
	}
	s.calls++
	if !s.m.Weighted {
		s.flat.Add(sim.Duration(x))
		s.moments.add(uint64(x), 1)
		return nil
	}
	return s.many(x, q.over)
}

// many adds a value n times.
func (s *series) many(x, n int64) error {
	for n > 0 {
		k := min(n, math.MaxInt32)
		if err := s.run(&observe.Gaps{Seqs: int32(k), Steps: 1, First: sim.Duration(x)}); err != nil {
			return err
		}
		n -= k
	}
	return nil
}

// run adds a run of values: one value many times, or a progression of maxRun at
// most.
func (s *series) run(g *observe.Gaps) error {
	switch {
	case g.Steps == 1:
		s.moments.add(uint64(g.First), int64(g.Seqs))
	case g.Inc < 0:
		s.moments.addRun(uint64(g.First+sim.Duration(g.Steps-1)*g.Inc), uint64(-g.Inc), g.Steps)
	default:
		s.moments.addRun(uint64(g.First), uint64(g.Inc), g.Steps)
	}
	return s.runs.Add(g)
}

// gaps takes in the pauses of a call.
func (s *series) gaps(v *view) error {
	if v.call.Outcome != observe.Completed && s.m.Failed != In {
		s.left[apart]++
		return nil
	}
	n, known := s.m.Count.of(v)
	if s.m.LeastTokens > 0 && (!known || n < s.m.LeastTokens) {
		st := short
		if !known {
			st = unknown
		}
		s.left[st]++
		return nil
	}
	if s.m.Kind == Worst {
		worst, any := v.worst(s.m.Among)
		if !any {
			s.left[short]++
			return nil
		}
		s.calls++
		s.flat.Add(worst)
		s.moments.add(uint64(worst), 1)
		return nil
	}
	runs, ok := v.pauses(s.m.Among, s.m.Spread)
	switch {
	case !ok:
		s.left[unknown]++
	case len(runs) == 0:
		s.left[short]++
	default:
		s.calls++
	}
	for i := range runs {
		if err := s.run(&runs[i]); err != nil {
			return err
		}
	}
	return nil
}

// distribution describes the values taken so far.
func (s *series) distribution(e analysis.Estimator, ps []analysis.Percentile) analysis.Distribution {
	if s.pooled() {
		return s.runs.By(e, ps)
	}
	return s.flat.Censored(e, ps, s.left[endless])
}
