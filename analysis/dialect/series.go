package dialect

import (
	"math"

	"servesim/analysis"
	"servesim/analysis/transcript"
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
	if !s.m.Weighted {
		s.calls++
		s.flat.Add(sim.Duration(x))
		s.moments.add(uint64(x), 1)
		return nil
	}
	s.calls++
	return s.many(x, q.over)
}

// many adds a value n times.
func (s *series) many(x, n int64) error {
	s.moments.add(uint64(x), n)
	for n > 0 {
		k := min(n, math.MaxInt32)
		if err := s.runs.Add(&observe.Gaps{Seqs: int32(k), Steps: 1, First: sim.Duration(x)}); err != nil {
			return err
		}
		n -= k
	}
	return nil
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
	if s.m.Spread != PerChunk && !v.spreadable(s.m.Among) {
		s.left[unknown]++
		return nil
	}
	p := progression{to: s}
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
	some, err := v.pauses(&s.m, &p)
	if err == nil {
		err = p.flush()
	}
	if some {
		s.calls++
	} else {
		s.left[short]++
	}
	return err
}

// spreadable tells whether the tokens of each chunk of set are known.
func (v *view) spreadable(set Set) bool {
	for i := range v.call.Chunks {
		if c := &v.call.Chunks[i]; set.has(c) && c.Tokens == transcript.Unknown {
			return false
		}
	}
	return true
}

// worst returns the longest pause between two chunks of set.
func (v *view) worst(set Set) (worst sim.Duration, any bool) {
	last := transcript.Never
	for i := range v.call.Chunks {
		c := &v.call.Chunks[i]
		if !set.has(c) {
			continue
		}
		if last != transcript.Never {
			worst, any = max(worst, c.At.Sub(last)), true
		}
		last = c.At
	}
	return worst, any
}

// pauses gives p each pause that m takes from v, and tells whether there is any.
func (v *view) pauses(m *Measure, p *progression) (some bool, err error) {
	last := transcript.Never
	for i := range v.call.Chunks {
		c := &v.call.Chunks[i]
		if !m.Among.has(c) {
			continue
		}
		gap, first := c.At.Sub(last), last == transcript.Never
		last = c.At
		k := int64(c.Tokens)
		switch {
		case m.Spread == Burst && k > 1:
			some = true
			if err = p.flush(); err == nil {
				err = p.to.many(0, k-1)
			}
			if err == nil && !first {
				err = p.add(gap)
			}
		case first:
		case m.Spread == Even && k > 1:
			some = true
			if err = p.flush(); err == nil {
				err = p.to.many(quotient{gap, k}.rounded(m.Round), k)
			}
		default:
			some = true
			err = p.add(gap)
		}
		if err != nil {
			return some, err
		}
	}
	return some, nil
}

// progression joins successive pauses that grow or shrink evenly, as the steps
// of one batch do, so that long answers take little room.
type progression struct {
	to   *series
	run  observe.Gaps
	last sim.Duration
}

// add takes the next pause.
func (p *progression) add(d sim.Duration) error {
	switch {
	case p.run.Steps == 1:
		p.run.Inc = d - p.last
	case p.run.Steps > 1 && d-p.last == p.run.Inc && p.run.Steps < maxRun:
	default:
		if err := p.flush(); err != nil {
			return err
		}
		p.run = observe.Gaps{Seqs: 1, First: d}
	}
	p.run.Steps++
	p.last = d
	return nil
}

// flush hands on what has been joined.
func (p *progression) flush() error {
	if p.run.Steps == 0 {
		return nil
	}
	if p.run.Steps == 1 {
		p.run.Inc = 0
	}
	run := p.run
	p.run = observe.Gaps{}
	if run.Inc < 0 {
		p.to.moments.addRun(uint64(p.last), uint64(-run.Inc), run.Steps)
	} else {
		p.to.moments.addRun(uint64(run.First), uint64(run.Inc), run.Steps)
	}
	return p.to.runs.Add(&run)
}

// distribution describes the values taken so far.
func (s *series) distribution(e analysis.Estimator, ps []analysis.Percentile) analysis.Distribution {
	if s.pooled() {
		return s.runs.By(e, ps)
	}
	return s.flat.Censored(e, ps, s.left[endless])
}
