package portable

import (
	"math"
	"math/rand/v2"
	"slices"
	"testing"

	"gonum.org/v1/gonum/mathext"
)

// TestGammaIsGamma measures the Kolmogorov distance of draws from the regularised
// incomplete gamma function. A sample of its own distribution exceeds 1.95/√n
// with probability 0.001.
func TestGammaIsGamma(t *testing.T) {
	const n = 50_000
	for i, shape := range []float64{0.0001, 0.05, 0.5, 0.907, 1, 1.5, 10, 1e6} {
		src := rand.NewPCG(5, uint64(i))
		sample := make([]float64, n)
		for k := range sample {
			sample[k] = Gamma(src, shape)
		}
		slices.Sort(sample)
		distance := 0.0
		for k, x := range sample {
			if x < 1e-300 {
				continue // draws that a float64 can't tell apart
			}
			p := mathext.GammaIncReg(shape, x)
			distance = max(distance, p-float64(k)/n, float64(k+1)/n-p)
		}
		if distance > 1.95/math.Sqrt(n) {
			t.Errorf("shape %v: distance %.4f, want at most %.4f", shape, distance, 1.95/math.Sqrt(n))
		}
	}
}

func TestDrawsDoNotAllocate(t *testing.T) {
	src := rand.NewPCG(1, 2)
	if n := testing.AllocsPerRun(1000, func() { Exponential(src); Normal(src); Gamma(src, 0.5) }); n != 0 {
		t.Errorf("%v allocations", n)
	}
}

func BenchmarkDraws(b *testing.B) {
	src := rand.NewPCG(1, 2)
	b.Run("exponential", func(b *testing.B) {
		for b.Loop() {
			Exponential(src)
		}
	})
	b.Run("lognormal", func(b *testing.B) {
		for b.Loop() {
			Exp(Normal(src))
		}
	})
	b.Run("gamma", func(b *testing.B) {
		for b.Loop() {
			Gamma(src, 0.907)
		}
	})
}
