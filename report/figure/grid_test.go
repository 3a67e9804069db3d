package figure

import (
	"math"
	"slices"
	"testing"

	"servesim/sim"

	"pgregory.net/rapid"
)

// TestThinKeepsTheExtremes: what is kept is in order and has the first, the last, the
// lowest and the highest point, and no more points than were asked for.
func TestThinKeepsTheExtremes(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		y := rapid.SliceOfN(rapid.Float64Range(-1e3, 1e3), 1, 300).Draw(t, "y")
		most := rapid.IntRange(6, 60).Draw(t, "most")
		x := make([]float64, len(y))
		for i := range x {
			x[i] = float64(i)
		}
		keep := thin(x, y, most)
		if len(keep) > most && len(y) > most || len(y) <= most && len(keep) != len(y) {
			t.Fatalf("%d of %d points kept, %d asked for", len(keep), len(y), most)
		}
		if !slices.IsSorted(keep) || keep[0] != 0 || keep[len(keep)-1] != len(y)-1 {
			t.Fatalf("kept %v", keep)
		}
		kept := pick(y, keep)
		if slices.Min(kept) != slices.Min(y) || slices.Max(kept) != slices.Max(y) {
			t.Fatalf("kept %g to %g of %g to %g", slices.Min(kept), slices.Max(kept), slices.Min(y), slices.Max(y))
		}
	})
}

// TestLevelIsTheMean: the mean of a level in each cell is that of what it held,
// summed by the microsecond, in whichever order it was told.
func TestLevelIsTheMean(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		type held struct{ from, to, n int64 } // µs
		list := rapid.SliceOfN(rapid.Custom(func(t *rapid.T) held {
			from := rapid.Int64Range(0, 9_000_000).Draw(t, "from")
			return held{from, from + rapid.Int64Range(1, 2_000_000).Draw(t, "lasts"), rapid.Int64Range(1, 9).Draw(t, "n")}
		}), 1, 20).Draw(t, "held")
		one, other := newLevel(), newLevel()
		tell := func(l *level, h held) {
			l.hold(sim.Time(h.from)*sim.Time(sim.Microsecond), sim.Time(h.to)*sim.Time(sim.Microsecond), h.n)
		}
		for i := range list {
			tell(&one, list[i])
			tell(&other, list[len(list)-1-i])
		}
		x, y := one.means()
		_, again := other.means()
		if !slices.Equal(y, again) {
			t.Fatalf("in the other order the means are %v, not %v", again, y)
		}
		width := int64(one.width / sim.Microsecond)
		for i := range x {
			from, sum := int64(i)*width, int64(0)
			for _, h := range list {
				sum += h.n * max(0, min(h.to, from+width)-max(h.from, from))
			}
			if want := float64(sum) / float64(width); math.Abs(y[i]-want) > 1e-9*max(1, want) {
				t.Fatalf("cell %d of %d µs: mean %g, want %g", i, width, y[i], want)
			}
		}
	})
}
