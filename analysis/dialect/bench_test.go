package dialect

import (
	"testing"

	"servesim/analysis"
	"servesim/analysis/transcript"
	"servesim/sim"
)

// BenchmarkCall measures all dialects, a few and one on answers of 200 tokens
// whose gaps grow evenly but for every twentieth.
func BenchmarkCall(b *testing.B) {
	c := answer(1, 0, 500*ms, 0, 200, 200, 1)
	at := c.Chunks[0].At
	for i := range c.Chunks {
		c.Chunks[i].At = at
		at += sim.Time(8*ms) + sim.Time(i*1000)
		if i%20 == 0 {
			at += sim.Time(i)
		}
	}
	c.Closed = c.Chunks[199].At
	for _, list := range []string{"all", "vllm,llmperf", "servesim"} {
		b.Run(list, func(b *testing.B) {
			ds, err := Parse(list)
			if err != nil {
				b.Fatal(err)
			}
			s := New(ds, Options{Facts: transcript.Everything(), Percentiles: analysis.DefaultPercentiles()})
			b.ReportAllocs()
			for b.Loop() {
				if err := s.Call(c); err != nil {
					b.Fatal(err)
				}
			}
			b.ReportMetric(float64(b.Elapsed().Nanoseconds())/float64(b.N)/200, "ns/token")
		})
	}
}
