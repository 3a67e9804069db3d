package dialect

import (
	"slices"
	"testing"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"

	"servesim/analysis"
	"servesim/analysis/transcript"
	"servesim/sim"
	"servesim/sim/observe"
)

// plainPauses are the pauses of a call by the words of Spread, one by one.
func plainPauses(c *transcript.Call, set Set, spread Spread) (list []sim.Duration) {
	var chunks []transcript.Chunk
	for i := range c.Chunks {
		if set.has(&c.Chunks[i]) {
			chunks = append(chunks, c.Chunks[i])
		}
	}
	for i, k := range chunks {
		tokens := int(max(k.Tokens, 1))
		var gap sim.Duration
		if i > 0 {
			gap = k.At.Sub(chunks[i-1].At)
		}
		switch {
		case spread == Burst:
			list = append(list, slices.Repeat([]sim.Duration{0}, tokens-1)...)
			if i > 0 {
				list = append(list, gap)
			}
		case i == 0:
		case spread == Even:
			each := (2*gap + sim.Duration(tokens)) / (2 * sim.Duration(tokens))
			list = append(list, slices.Repeat([]sim.Duration{each}, tokens)...)
		default:
			list = append(list, gap)
		}
	}
	return list
}

// Law: pauses that are joined into runs and shared between measures are those
// that are listed one by one.
func TestPausesAreThoseOneByOne(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		calls := drawCalls(t, 1)
		if rapid.Bool().Draw(t, "a token a chunk") {
			for i := range calls {
				for k := range calls[i].Chunks {
					calls[i].Chunks[k].Tokens = min(calls[i].Chunks[k].Tokens, 1)
				}
			}
		}
		s := New(All(), Options{Facts: transcript.Everything(), Percentiles: analysis.TailPercentiles()})
		for i := range calls {
			if err := s.Call(&calls[i]); err != nil {
				t.Fatal(err)
			}
		}
		for _, r := range s.Results() {
			for i := range r.Values {
				v := &r.Values[i]
				if v.Metric.Kind != Gaps {
					continue
				}
				var want analysis.Sample
				var m moments
				for k := range calls {
					if calls[k].Outcome != observe.Completed && v.Metric.Failed != In {
						continue
					}
					for _, d := range plainPauses(&calls[k], v.Metric.Among, v.Metric.Spread) {
						want.Add(d)
						m.add(uint64(d), 1)
					}
				}
				if diff := cmp.Diff(want.By(r.Dialect.Estimator, r.Percentiles), v.Distribution, cmp.AllowUnexported(analysis.Percentile{})); diff != "" {
					t.Fatalf("%s %s (- one by one):\n%s", r.Dialect.Name, v.Metric.Key, diff)
				}
				if d, ok := m.deviation(max(r.Dialect.DDoF, 0)); r.Dialect.DDoF >= 0 && (ok != v.HasDeviation || d != v.Deviation) {
					t.Fatalf("%s %s deviates by %v, one by one by %v", r.Dialect.Name, v.Metric.Key, v.Deviation, d)
				}
			}
		}
	})
}
