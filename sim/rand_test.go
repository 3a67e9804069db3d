package sim

import (
	"fmt"
	"math"
	"math/rand/v2"
	"testing"

	"pgregory.net/rapid"
)

// TestPinnedDraws holds the derivation of streams still: a change of it changes
// every seeded result that anyone has written down.
func TestPinnedDraws(t *testing.T) {
	member := func(s Seed, name string, i uint64) *rand.PCG {
		var src rand.PCG
		s.Family(name).Reset(&src, i)
		return &src
	}
	for _, c := range []struct {
		what string
		src  *rand.PCG
		want [3]uint64
	}{
		{"seed 0, no name", Seed(0).Stream(""), [3]uint64{0x774bcacf78345581, 0x53568dde534a61af, 0xb68aa62189fbd275}},
		{"seed 1, arrival", Seed(1).Stream("arrival"), [3]uint64{0xf7f5406d6406f8a, 0x8051a264b962b10d, 0x66e86a917f2bdb95}},
		{"seed 1, prompt", Seed(1).Stream("prompt"), [3]uint64{0x9e3ac5d95d675d6, 0x85c33b7a88c9685, 0x46dabc99d55ade47}},
		{"seed 2, arrival", Seed(2).Stream("arrival"), [3]uint64{0x4559a596c902fd10, 0xc31dd1f6aa5599a7, 0xbe3376339ec47002}},
		{"seed 2^64-1, arrival", Seed(math.MaxUint64).Stream("arrival"), [3]uint64{0x995ea5471d258235, 0x7a5d0a033ceff6b2, 0x6f9e8417cf84ad6f}},
		{"seed 1, member 0 of network.request", member(1, "network.request", 0), [3]uint64{0xf07dac446f6c438b, 0x269f089493ec0db7, 0xdbed6d6182972ab4}},
		{"seed 1, member 1 of network.request", member(1, "network.request", 1), [3]uint64{0x44a06b4c1e0c80d, 0x9d9829cc5279f387, 0xc62deb66bf8a57ff}},
		{"seed 1, member 2^64-1 of network.request", member(1, "network.request", math.MaxUint64), [3]uint64{0xe35a3c210083710d, 0xb2b5fdaae58098d5, 0x751d8c3d50bdc5f6}},
	} {
		got := [3]uint64{c.src.Uint64(), c.src.Uint64(), c.src.Uint64()}
		if got != c.want {
			t.Errorf("%s draws %#x; pinned is %#x", c.what, got, c.want)
		}
	}
}

// TestMix pins the finaliser by the first outputs of SplitMix64 from seed 0,
// which its authors' reference implementation gives.
func TestMix(t *testing.T) {
	const golden = 0x9e3779b97f4a7c15
	state := uint64(0)
	for i, want := range []uint64{0xe220a8397b1dcdaf, 0x6e789e6aa1b965f4, 0x06c45d188009454f} {
		if got := mix(state); got != want {
			t.Errorf("draw %d is %#x; want %#x", i, got, want)
		}
		state += golden
	}
}

// TestStreamsDiffer looks for two streams or members that begin alike. By
// chance that happens once in 10^12 runs of this test.
func TestStreamsDiffer(t *testing.T) {
	seen := map[uint64]string{}
	add := func(what string, src *rand.PCG) {
		first := src.Uint64()
		if other, ok := seen[first]; ok {
			t.Errorf("%s and %s begin alike", what, other)
		}
		seen[first] = what
	}
	var src rand.PCG
	for seed := Seed(0); seed < 8; seed++ {
		for _, name := range []string{"", "a", "b", "ab", "ba", "arrival", "prompt", "output", "network.request", "network.response"} {
			add(fmt.Sprintf("stream %q of seed %d", name, seed), seed.Stream(name))
			for i := range uint64(50) {
				seed.Family(name).Reset(&src, i)
				add(fmt.Sprintf("member %d of %q of seed %d", i, name, seed), &src)
			}
		}
	}
}

func TestStreamsDoNotInfluenceEachOther(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		seed := Seed(rapid.Uint64().Draw(t, "seed"))
		alone := seed.Stream("arrival")
		a, other := seed.Stream("arrival"), seed.Stream("prompt")
		for i := range 20 {
			for range rapid.IntRange(0, 3).Draw(t, "draws elsewhere") {
				other.Uint64()
			}
			if got, want := a.Uint64(), alone.Uint64(); got != want {
				t.Fatalf("draw %d is %#x beside another stream, %#x alone", i, got, want)
			}
		}
	})
}

func TestMembersDoNotDependOnOrder(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		f := Seed(rapid.Uint64().Draw(t, "seed")).Family("network.request")
		var want [8]uint64
		for i := range want {
			var src rand.PCG
			f.Reset(&src, uint64(i))
			want[i] = src.Uint64()
		}
		var src rand.PCG // one source for all, drawn from for longer or shorter
		for _, i := range rapid.SliceOfN(rapid.Uint64Range(0, 7), 1, 20).Draw(t, "order") {
			f.Reset(&src, i)
			if got := src.Uint64(); got != want[i] {
				t.Fatalf("member %d draws %#x here, %#x alone", i, got, want[i])
			}
			for range rapid.IntRange(0, 3).Draw(t, "more draws") {
				src.Uint64()
			}
		}
	})
}

// TestStreamsAreUncorrelated adds up what 20,000 neighbouring members and seeds
// draw first, as numbers from 0 to 1: the mean of uniform numbers is within 5
// standard errors of a half, but once in two million times.
func TestStreamsAreUncorrelated(t *testing.T) {
	const n = 20_000
	limit := 5 * math.Sqrt(1.0/12/n)
	var members, seeds, product float64
	var src rand.PCG
	f, last := Seed(7).Family("x"), 0.0
	unit := func(src *rand.PCG) float64 { return float64(src.Uint64()>>11) * 0x1p-53 }
	for i := range uint64(n) {
		f.Reset(&src, i)
		u := unit(&src)
		members += u
		product += (u - 0.5) * (last - 0.5)
		last = u
		seeds += unit(Seed(i).Stream("x"))
	}
	if d := math.Abs(members/n - 0.5); d > limit {
		t.Errorf("members of a family draw %v off a half in the mean", d)
	}
	if d := math.Abs(seeds/n - 0.5); d > limit {
		t.Errorf("streams of successive seeds draw %v off a half in the mean", d)
	}
	// The product of two independent uniforms about their means has a standard deviation of 1/12.
	if d := math.Abs(product / n); d > 5.0/12/math.Sqrt(n) {
		t.Errorf("successive members have a covariance of %v", d)
	}
}
