package portable

import (
	"math"
	"math/rand/v2"
	"testing"
)

// ziggurat computes strips as the paper does, from the density, its inverse, the
// area of a strip and the largest value of a draw.
func ziggurat(n int, most, tail, area float64, density, inverse func(float64) float64) []strip {
	s := make([]strip, n)
	x, before := tail, tail
	base := area / density(tail)
	s[0] = strip{uint32(tail / base * most), float32(base / most), 1}
	s[1].inside = 0
	s[n-1].width, s[n-1].height = float32(tail/most), float32(density(tail))
	for i := n - 2; i >= 1; i-- {
		x = inverse(float64(area/x) + density(x))
		s[i+1].inside = uint32(x / before * most)
		before = x
		s[i].width, s[i].height = float32(x/most), float32(density(x))
	}
	return s
}

// tables returns both tables, computed.
func tables() (exponential, normal []strip) {
	exponential = ziggurat(256, 1<<32, exponentialTail, 3.949659822581572e-3,
		func(x float64) float64 { return Exp(-x) }, func(y float64) float64 { return -Log(y) })
	normal = ziggurat(128, 1<<31, normalTail, 9.91256303526217e-3,
		func(x float64) float64 { return Exp(-0.5 * x * x) }, func(y float64) float64 { return math.Sqrt(-2 * Log(y)) })
	return exponential, normal
}

func TestStripsAreThoseOfThePaper(t *testing.T) {
	exponential, normal := tables()
	for i, want := range exponential {
		if got := exponentialStrips[i]; got != want {
			t.Errorf("exponential strip %d is %v, want %v", i, got, want)
		}
	}
	for i, want := range normal {
		if got := normalStrips[i]; got != want {
			t.Errorf("normal strip %d is %v, want %v", i, got, want)
		}
	}
}

// TestDrawsAreThoseOfTheStandardLibrary draws from both with one seed: they must
// consume the same numbers, and differ at most in the last bits of a tail.
func TestDrawsAreThoseOfTheStandardLibrary(t *testing.T) {
	for _, c := range []struct {
		name   string
		ours   func(*rand.PCG) float64
		theirs func(*rand.Rand) float64
	}{
		{"exponential", Exponential, (*rand.Rand).ExpFloat64},
		{"normal", Normal, (*rand.Rand).NormFloat64},
	} {
		a, b := rand.NewPCG(3, 4), rand.New(rand.NewPCG(3, 4))
		other := 0
		for i := range 1_000_000 {
			x, y := c.ours(a), c.theirs(b)
			if math.Abs(x-y) > 1e-14*math.Abs(y) {
				t.Fatalf("%s draw %d is %v, of the standard library %v", c.name, i, x, y)
			}
			if x != y {
				other++
			}
		}
		t.Logf("%s: %d of 1,000,000 draws differ in their last bits", c.name, other)
	}
}
