package workload

import (
	"fmt"
	"math"
	"testing"

	"pgregory.net/rapid"

	"servesim/sim"
)

func pointer[T any](v T) *T { return &v }

// risingInts draws n numbers in [lo, hi] that do not fall.
func risingInts(t *rapid.T, n int, lo, hi int64) []int64 {
	list := make([]int64, n)
	for i := range list {
		list[i] = rapid.Int64Range(lo, hi).Draw(t, "value")
		lo = list[i]
	}
	return list
}

// percentages draws percentages from 0 to 100 that rise.
func percentages(t *rapid.T) []float64 {
	p := []float64{0}
	for range rapid.IntRange(0, 4).Draw(t, "inner knots") {
		next := p[len(p)-1] + rapid.Float64Range(0.1, 20).Draw(t, "step")
		p = append(p, next)
	}
	return append(p, 100)
}

// drawLengthSpec draws a spec that should have no fault, unless its limits
// leave too little. Only with mixtures does it draw those, or limits.
func drawLengthSpec(t *rapid.T, mixtures bool) *LengthSpec {
	kinds := []string{"constant", "uniform", "normal", "lognormal", "knots"}
	if mixtures {
		kinds = append(kinds, "mixture")
	}
	s := &LengthSpec{Dist: rapid.SampledFrom(kinds).Draw(t, "dist")}
	switch s.Dist {
	case "constant":
		s.Value = pointer(rapid.Int64Range(1, 5000).Draw(t, "value"))
		return s
	case "uniform":
		limits := risingInts(t, 2, 1, 5000)
		s.Min, s.Max = &limits[0], &limits[1]
		return s
	case "normal":
		s.Mean = pointer(rapid.Float64Range(10, 5000).Draw(t, "mean"))
		s.Stddev = pointer(rapid.Float64Range(0, 2000).Draw(t, "stddev"))
	case "lognormal":
		s.Mean = pointer(rapid.Float64Range(2, 5000).Draw(t, "mean"))
		s.Sigma = pointer(rapid.Float64Range(0.01, 2).Draw(t, "sigma"))
	case "knots":
		s.P = percentages(t)
		s.Values = risingInts(t, len(s.P), 1, 9000)
	case "mixture":
		for range rapid.IntRange(1, 3).Draw(t, "parts") {
			part := drawLengthSpec(t, false)
			part.Weight = pointer(rapid.Float64Range(0.1, 10).Draw(t, "weight"))
			s.Parts = append(s.Parts, *part)
		}
	}
	if mixtures && rapid.Bool().Draw(t, "limited") {
		limits := risingInts(t, 2, 1, 9000)
		s.Min, s.Max = &limits[0], &limits[1]
	}
	return s
}

func TestLengthsKeepTheirLimits(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		s := drawLengthSpec(t, true)
		l, err := s.Length()
		if err != nil {
			if s.Max == nil {
				t.Fatalf("%+v: %v", s, err)
			}
			t.Skip("the limits leave too little")
		}
		lo, hi := int64(1), int64(MaxTokens)
		if s.Min != nil {
			lo, hi = *s.Min, *s.Max
		}
		src := sim.Seed(rapid.Uint64().Draw(t, "seed")).Stream("x")
		for range 200 {
			if n := int64(l.Draw(src, 0)); n < lo || n > hi {
				t.Fatalf("drew %d tokens, outside %d to %d", n, lo, hi)
			}
		}
	})
}

// TestLengthsFollowInside checks draws against the probabilities that the
// check of limits relies on: the distribution function they imply is that of
// the draws.
func TestLengthsFollowInside(t *testing.T) {
	const n = 40_000
	for name, s := range map[string]*LengthSpec{
		"constant":   {Dist: "constant", Value: pointer(int64(9))},
		"uniform":    {Dist: "uniform", Min: pointer(int64(3)), Max: pointer(int64(8))},
		"llmperf":    {Dist: "normal", Mean: pointer(800.0), Stddev: pointer(300.0)},
		"truncated":  {Dist: "normal", Mean: pointer(5.0), Stddev: pointer(10.0)},
		"lognormal":  {Dist: "lognormal", Mean: pointer(1000.0), Sigma: pointer(0.8), Max: pointer(int64(2000))},
		"small":      {Dist: "lognormal", Mu: pointer(0.5), Sigma: pointer(1.0)},
		"knots":      {Dist: "knots", P: []float64{0, 10, 50, 51, 100}, Values: []int64{1, 1, 5, 5, 9}, Min: pointer(int64(2))},
		"mixture":    {Dist: "mixture", Max: pointer(int64(50)), Parts: []LengthSpec{{Weight: pointer(1.0), Dist: "constant", Value: pointer(int64(3))}, {Weight: pointer(2.0), Dist: "uniform", Min: pointer(int64(1)), Max: pointer(int64(100))}}},
		"one prompt": {Dist: "by_prompt", PromptUpTo: []int64{10}, P: []float64{0, 100}, ValuesByPrompt: [][]int64{{0, 7}}},
	} {
		t.Run(name, func(t *testing.T) {
			l, err := s.Length()
			if err != nil {
				t.Fatal(err)
			}
			src := sim.Seed(3).Stream(name)
			sample, sum, squares := make([]float64, n), 0.0, 0.0
			for i := range sample {
				sample[i] = float64(l.Draw(src, 1))
				sum += sample[i]
				squares += sample[i] * sample[i]
			}
			all, _ := l.tokens.inside(l.lo, l.hi)
			d := ks(sample, func(x float64) float64 {
				p, _ := l.tokens.inside(l.lo, min(int64(math.Floor(x)), l.hi))
				return max(p, 0) / all
			})
			if d > ksBound/math.Sqrt(n) {
				t.Errorf("distance %.4f, want at most %.4f", d, ksBound/math.Sqrt(n))
			}
			// Four standard errors, and the half token that rounding may move a mean.
			mean := sum / n
			tol := 0.5 + 4*math.Sqrt(max(0, squares/n-mean*mean)/n)
			if math.Abs(mean-l.mean()) > tol {
				t.Errorf("mean %.2f, want %.2f +- %.2f", mean, l.mean(), tol)
			}
		})
	}
}

// TestKnotsAreQuantiles checks the law that makes knots nearest-rank
// quantiles: with one knot per token, every number has its share.
func TestKnotsAreQuantiles(t *testing.T) {
	k := knotTokens{percentKnots([]float64{0, 50, 75, 100}, []int64{3, 4, 4, 6})}
	for n, want := range map[int64]float64{3: 0, 4: 0.75, 5: 0.125, 6: 0.125, 7: 0} {
		if got, _ := k.inside(n, n); math.Abs(got-want) > 1e-15 {
			t.Errorf("P(%d) = %g, want %g", n, got, want)
		}
	}
	for u, want := range map[float64]float64{0: 3, 0.25: 4, 0.5: 4, 0.74: 4, 0.76: 5, 0.875: 5, 0.9: 6} {
		if got := math.Ceil(k.quantile(u)); got != want {
			t.Errorf("quantile %g is %g tokens, want %g", u, got, want)
		}
	}
}

func TestOutputFollowsPromptBin(t *testing.T) {
	s := &LengthSpec{
		Dist: "by_prompt", PromptUpTo: []int64{10, 20},
		P: []float64{0, 100}, ValuesByPrompt: [][]int64{{0, 5}, {99, 104}},
	}
	l, err := s.Length()
	if err != nil {
		t.Fatal(err)
	}
	src := sim.Seed(1).Stream("x")
	for prompt, lo := range map[int32]int32{1: 1, 10: 1, 11: 100, 20: 100, 21: 100, math.MaxInt32: 100} {
		t.Run(fmt.Sprint(prompt), func(t *testing.T) {
			seen := map[int32]bool{}
			for range 200 {
				n := l.Draw(src, prompt)
				if n < lo || n > lo+4 {
					t.Fatalf("output %d, want %d to %d", n, lo, lo+4)
				}
				seen[n] = true
			}
			if len(seen) != 5 {
				t.Errorf("saw %d of 5 outputs in 200 draws", len(seen)) // misses one with probability 5*0.8^200
			}
		})
	}
}

func TestDrawDoesNotAllocate(t *testing.T) {
	for _, name := range []string{"azure-chat", "llmperf"} {
		s, err := Spec{Preset: name}.Resolve()
		if err != nil {
			t.Fatal(err)
		}
		l, err := s.Output.Length()
		if err != nil {
			t.Fatal(err)
		}
		src := sim.Seed(1).Stream("x")
		if allocs := testing.AllocsPerRun(1000, func() { l.Draw(src, 500) }); allocs != 0 {
			t.Errorf("%s: Draw allocates %v times", name, allocs)
		}
	}
}

// TestRoundingByHand: LLMPerf's int() rounds a normal down, and a lognormal
// goes to the nearest, here 5.7 with a spread of a thousandth.
func TestRoundingByHand(t *testing.T) {
	for _, c := range []struct {
		spec LengthSpec
		want int32
	}{
		{LengthSpec{Dist: "normal", Mean: pointer(5.9), Stddev: pointer(0.0)}, 5},
		{LengthSpec{Dist: "lognormal", Mean: pointer(5.7), Sigma: pointer(0.001)}, 6},
		{LengthSpec{Dist: "lognormal", Mean: pointer(5.3), Sigma: pointer(0.001)}, 5},
	} {
		l, err := c.spec.Length()
		if err != nil {
			t.Fatal(err)
		}
		src := sim.Seed(1).Stream("x")
		for range 100 {
			if n := l.Draw(src, 0); n != c.want {
				t.Fatalf("%s of mean %g drew %d, want %d", c.spec.Dist, *c.spec.Mean, n, c.want)
			}
		}
	}
}
