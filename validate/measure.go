package validate

import (
	"math"

	"servesim/analysis"
	"servesim/sim"
	"servesim/sim/observe"
)

// A meter is a sink that takes from a run what rows measure.
type meter struct {
	ttft, tpot, e2e  analysis.Sample
	completed, other int64
	output           int64
	end              sim.Time

	blocks, need int64 // of the engine, of the longest request
	maxSeqs      int32
	steps        int64
	starved      int64 // steps in which a request waited for blocks
	preempted    int64
	quarter      [4]waits4 // TTFT by quarter of the requests
	total        int64     // requests of the run
}

// waits4 is a sum of waits.
type waits4 struct {
	sum float64 // s
	n   int64
}

// Request implements observe.Sink.
func (m *meter) Request(r *observe.Request) error {
	if r.Outcome != observe.Completed {
		m.other++
		return nil
	}
	m.completed++
	m.output += int64(r.Output)
	m.preempted += int64(r.Preemptions)
	m.end = max(m.end, r.End.Add(r.Response))
	ttft := r.First.Sub(r.Arrival)
	m.ttft.Add(ttft)
	m.e2e.Add(r.Last.Sub(r.Arrival) + r.Response)
	if r.Output > 1 {
		m.tpot.Add(r.Last.Sub(r.First) / sim.Duration(r.Output-1))
	}
	q := &m.quarter[min(3, 4*r.ID/max(1, m.total))]
	q.sum += ttft.Seconds()
	q.n++
	return nil
}

// Step implements observe.Sink.
func (m *meter) Step(r *observe.StepRun) error {
	m.steps += r.Steps
	if r.Waiting > 0 && r.Running < m.maxSeqs && m.blocks-r.BlocksUsed < m.need {
		m.starved += r.Steps
	}
	return nil
}

// starvedShare is the share of steps from which on a run counts as saturated.
const starvedShare = 0.01

// saturated tells whether the run exhausted its KV cache or fell behind its
// arrivals: requests were preempted, waited for blocks in 1 % of the steps or
// more, or, in an open loop, those of the last quarter waited twice as long for
// their first token as those of the second.
func (m *meter) saturated(open bool) bool {
	if m.preempted > 0 || float64(m.starved) >= starvedShare*float64(max(1, m.steps)) {
		return true
	}
	mean := func(q waits4) float64 { return q.sum / float64(max(1, q.n)) }
	return open && mean(m.quarter[3]) > 2*mean(m.quarter[1])
}

// values returns what the run measured, in the order of Metrics, NaN where it
// has no such figure.
func (m *meter) values() [metricCount]float64 {
	ps := analysis.DefaultPercentiles()
	if p, err := analysis.ParsePercentiles("90,99"); err == nil {
		ps = p
	}
	var v [metricCount]float64
	for i := range v {
		v[i] = math.NaN()
	}
	take := func(s *analysis.Sample, mean, p90, p99 Metric) {
		d := s.Distribution(ps)
		if !d.OK {
			return
		}
		v[mean] = d.Mean.Milliseconds()
		for _, q := range d.Quantiles {
			switch q.P.String() {
			case "p90":
				if p90 != mean {
					v[p90] = q.Value.Milliseconds()
				}
			case "p99":
				v[p99] = q.Value.Milliseconds()
			}
		}
	}
	take(&m.ttft, TTFTMean, TTFTP90, TTFTP99)
	take(&m.tpot, TPOTMean, TPOTMean, TPOTP99)
	take(&m.e2e, E2EMean, E2EP90, E2EP99)
	if s := m.end.Sub(0).Seconds(); s > 0 {
		v[OutputRate] = float64(m.output) / s
	}
	return v
}
