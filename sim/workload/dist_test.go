package workload

import (
	"math"
	"math/rand/v2"
	"slices"
	"testing"

	"servesim/sim"
)

// ksBound is the Kolmogorov distance, times the root of the sample size, that
// a sample of its own distribution exceeds with probability 2 exp(-2*1.95²) =
// 0.001; distributions with atoms exceed it less often.
const ksBound = 1.95

// ks returns the largest distance between the distribution function of sample,
// which it sorts, and cdf, a step function at the atoms of sample.
func ks(sample []float64, cdf func(float64) float64) float64 {
	slices.Sort(sample)
	n, d := float64(len(sample)), 0.0
	for i := 0; i < len(sample); {
		j := i
		for j < len(sample) && sample[j] == sample[i] {
			j++
		}
		before := cdf(math.Nextafter(sample[i], math.Inf(-1)))
		d = max(d, math.Abs(float64(i)/n-before), math.Abs(float64(j)/n-cdf(sample[i])))
		i = j
	}
	return d
}

// testLaws returns one or more laws of each kind, with their means.
func testLaws() []struct {
	name string
	law  law
	mean float64
} {
	quartiles := knotLaw{knots{[]float64{0, 0.25, 0.5, 1}, []float64{2, 4, 4, 10}}}
	return []struct {
		name string
		law  law
		mean float64
	}{
		{"constant", constantLaw(7), 7},
		{"normal", normalLaw{800, 300}, 800},
		{"normal without spread", normalLaw{5, 0}, 5},
		{"lognormal", lognormalLaw{2, 0.5}, math.Exp(2.125)},
		{"exponential", exponentialLaw{3}, 3},
		{"knots with an atom", quartiles, 0.25*3 + 0.25*4 + 0.5*7},
		{"mixture", mixLaw{cumulate([]float64{3, 1}), []law{exponentialLaw{1}, constantLaw(9)}}, 0.75 + 9*0.25},
		// Half a normal: the mean of the upper half is sigma*sqrt(2/pi).
		{"bounded", boundedLaw{normalLaw{0, 1}, 0, 50}, math.Sqrt(2 / math.Pi)},
	}
}

func TestLawsDrawWhatTheySay(t *testing.T) {
	const n = 100_000
	for _, c := range testLaws() {
		t.Run(c.name, func(t *testing.T) {
			src := sim.Seed(5).Stream(c.name)
			sample := make([]float64, n)
			for i := range sample {
				sample[i] = c.law.draw(src)
			}
			if d := ks(sample, func(x float64) float64 { p, _ := c.law.below(x); return p }); d > ksBound/math.Sqrt(n) {
				t.Errorf("distance of draws from below is %.4f, want at most %.4f", d, ksBound/math.Sqrt(n))
			}
			p, m := c.law.below(math.MaxFloat64)
			if math.Abs(p-1) > 1e-12 || math.Abs(m-c.mean) > 1e-9*c.mean {
				t.Errorf("below(max) = %v, %v, want 1, %v", p, m, c.mean)
			}
		})
	}
}

// TestLawsSplitTheirMean checks that below's second value is the part of the
// mean below x, by numeric integration of x dF.
func TestLawsSplitTheirMean(t *testing.T) {
	for _, c := range testLaws() {
		for _, x := range []float64{0.5, 3, 4, 8, 700} {
			_, got := c.law.below(x)
			want, last := 0.0, 0.0
			const steps = 40_000
			from := -2000.0
			last, _ = c.law.below(from)
			for i := 1; i <= steps; i++ {
				at := from + (x-from)*float64(i)/steps
				p, _ := c.law.below(at)
				want += (p - last) * (at - (x-from)/steps/2)
				last = p
			}
			// One step is (x+2000)/40000, so the sum is off by at most half of that.
			if tol := (x - from) / steps; math.Abs(got-want) > tol {
				t.Errorf("%s: mean below %g is %g, want %g +- %g", c.name, x, got, want, tol)
			}
		}
	}
}

func TestQuantileByHand(t *testing.T) {
	k := knots{[]float64{0, 0.5, 1}, []float64{10, 20, 100}}
	for _, c := range []struct{ u, want float64 }{{0, 10}, {0.25, 15}, {0.5, 20}, {0.75, 60}} {
		if got := k.quantile(c.u); got != c.want {
			t.Errorf("quantile(%g) = %g, want %g", c.u, got, c.want)
		}
	}
}

func TestUnitIsBelowOne(t *testing.T) {
	src := rand.NewPCG(1, 2)
	var sum float64
	const n = 1_000_000
	for range n {
		u := unit(src)
		if u < 0 || u >= 1 {
			t.Fatalf("unit = %g", u)
		}
		sum += u
	}
	// The mean of n uniforms has standard error sqrt(1/12n).
	if tol := 4 * math.Sqrt(1.0/12/n); math.Abs(sum/n-0.5) > tol {
		t.Errorf("mean %g, want 0.5 +- %g", sum/n, tol)
	}
}

func TestPickByHand(t *testing.T) {
	upTo := cumulate([]float64{1, 2, 1})
	for _, c := range []struct {
		u    float64
		want int
	}{{0, 0}, {0.24, 0}, {0.25, 1}, {0.74, 1}, {0.75, 2}, {1 - 0x1p-53, 2}} {
		if got := pick(upTo, c.u); got != c.want {
			t.Errorf("pick(%g) = %d, want %d", c.u, got, c.want)
		}
	}
}
