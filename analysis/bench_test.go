package analysis

import (
	"math/rand/v2"
	"strconv"
	"testing"

	"servesim/sim"
	"servesim/sim/observe"
)

// benchSteps returns n runs of steps like those of a busy engine: 64 sequences
// whose steps of about 10 ms grow by 4 µs, 7 at a time, and a long one now and then.
func benchSteps(n int) []observe.StepRun {
	src := rand.New(rand.NewPCG(5, 6))
	list := make([]observe.StepRun, n)
	at := sim.Time(0)
	for i := range list {
		r := &list[i]
		*r = observe.StepRun{
			Start: at, Steps: 1 + src.Int64N(13), First: 8*sim.Millisecond + sim.Duration(src.Int64N(8e9)),
			Inc: 4*sim.Microsecond + sim.Duration(src.Int64N(1e5)), Decodes: 64, DecodeKV: 80000, Running: 64, BlocksUsed: 5000,
		}
		if i%5 == 0 {
			r.Steps, r.First = 1, r.First+sim.Duration(src.ExpFloat64()*4e10)
			r.Chunks = []observe.Chunk{{ID: int64(i), Tokens: 1000}}
		}
		r.Gaps = []observe.Gaps{{Seqs: 10, Steps: r.Steps, First: r.First, Inc: r.Inc}}
		at = at.Add(r.Duration())
	}
	return list
}

// benchRequests returns n completed requests.
func benchRequests(n int) []observe.Request {
	src := rand.New(rand.NewPCG(7, 8))
	list := make([]observe.Request, n)
	for i := range list {
		r := request(int64(i), [5]int64{int64(i), 0, 0, 0, 0}, int32(2+src.IntN(500)))
		r.Scheduled += sim.Time(src.ExpFloat64() * 3e10)
		r.First = r.Scheduled + sim.Time(src.ExpFloat64()*1e11)
		r.Last = r.First + sim.Time(1e10+src.Int64N(5e9))*sim.Time(r.Output-1)
		r.End, r.MaxGap = r.Last, r.Last.Sub(r.First)/2
		list[i] = *r
	}
	return list
}

func BenchmarkSummaryRequest(b *testing.B) {
	list := benchRequests(4096)
	limits, _ := ParseSLO("ttft:500 tpot:15 e2el:5000")
	s := NewSummary(Options{SLO: limits})
	b.ReportAllocs()
	for i := 0; b.Loop(); i++ {
		if err := s.Request(&list[i%len(list)]); err != nil {
			b.Fatal(err)
		}
	}
}

func BenchmarkSummaryStep(b *testing.B) {
	list := benchSteps(4096)
	s := NewSummary(Options{})
	b.ReportAllocs()
	for i := 0; b.Loop(); i++ {
		if err := s.Step(&list[i%len(list)]); err != nil {
			b.Fatal(err)
		}
	}
}

func BenchmarkGapSampleAdd(b *testing.B) {
	list := benchSteps(4096)
	for name, limit := range map[string]int64{"mode=exact": 1 << 40, "mode=folded": chunkRuns} {
		b.Run(name, func(b *testing.B) {
			s := GapSample{limit: limit}
			for i := 0; b.Loop(); i++ {
				if i%(1<<18) == 0 {
					s = GapSample{limit: limit}
				}
				if err := s.Add(&list[i%len(list)].Gaps[0]); err != nil {
					b.Fatal(err)
				}
			}
		})
	}
}

// BenchmarkGapQuantiles is what a replay of the Azure conversation trace asks:
// five percentiles of some 4 million gaps in 60,000 runs.
func BenchmarkGapQuantiles(b *testing.B) {
	for _, n := range []int{60_000, 1 << 20} {
		b.Run("runs="+strconv.Itoa(n), func(b *testing.B) {
			var s GapSample
			list := benchSteps(n)
			for i := range list {
				if err := s.Add(&list[i].Gaps[0]); err != nil {
					b.Fatal(err)
				}
			}
			ps := TailPercentiles()
			b.ReportAllocs()
			for b.Loop() {
				s.Distribution(ps)
			}
			b.ReportMetric(float64(s.count), "gaps")
		})
	}
}

func BenchmarkSampleQuantiles(b *testing.B) {
	for _, n := range []int{20_000, 1 << 20} {
		b.Run("values="+strconv.Itoa(n), func(b *testing.B) {
			var s Sample
			src := rand.New(rand.NewPCG(9, 1))
			for range n {
				s.Add(sim.Duration(src.ExpFloat64() * 1e11))
			}
			ps := TailPercentiles()
			b.ReportAllocs()
			for b.Loop() {
				s.Distribution(ps)
			}
		})
	}
}
