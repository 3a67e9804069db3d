package capacity

import (
	"errors"
	"math"
	"testing"

	"pgregory.net/rapid"

	"servesim/scenario"
)

// asUsage tells whether err is a fault of what the user gave.
func asUsage(err error, to **scenario.UsageError) bool { return errors.As(err, to) }

// TestLastIsTheLast compares with looking at every number.
func TestLastIsTheLast(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		low := rapid.IntRange(-50, 50).Draw(t, "low")
		high := low + rapid.IntRange(0, 300).Draw(t, "more")
		start := rapid.IntRange(low, high).Draw(t, "start")
		want := rapid.IntRange(low-1, high).Draw(t, "last")
		visits := 0
		got, err := last(low, start, high, rapid.IntRange(1, 40).Draw(t, "step"), func(i int) (bool, error) {
			if visits++; i < low || i > high {
				t.Fatalf("it looks at %d, beyond %d to %d", i, low, high)
			}
			return i <= want, nil
		})
		if err != nil || got != want || visits > 25 {
			t.Fatalf("found %d after %d looks, want %d (%v)", got, visits, want, err)
		}
	})
}

// TestLastKeepsTheOrderOfPredicates has predicates that are true here and there, of
// which one is never true without the other.
func TestLastKeepsTheOrderOfPredicates(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		n := rapid.IntRange(1, 60).Draw(t, "n")
		loose, tight := make([]bool, n), make([]bool, n)
		for i := range n {
			loose[i] = rapid.Bool().Draw(t, "loose")
			tight[i] = loose[i] && rapid.Bool().Draw(t, "tight")
		}
		start, step := rapid.IntRange(0, n-1).Draw(t, "start"), rapid.IntRange(1, 9).Draw(t, "step")
		find := func(of []bool) int {
			i, _ := last(0, start, n-1, step, func(i int) (bool, error) { return of[i], nil })
			return i
		}
		if a, b := find(tight), find(loose); a > b {
			t.Fatalf("the tighter has %d, the looser %d", a, b)
		}
	})
}

// TestGrid holds that rates rise by the resolution, to four digits, and are found again.
func TestGrid(t *testing.T) {
	g := grid{0.02}
	for i, want := range map[int]float64{0: 1, 1: 1.02, 35: 2, -35: 0.5, 116: 9.943} {
		if got := g.rate(i); math.Abs(got/want-1) > 1e-3 {
			t.Errorf("rate %d is %v, want about %v", i, got, want)
		}
	}
	for _, res := range []float64{0.001, 0.02, 0.5} {
		g := grid{res}
		for i := -300; i < 300; i++ {
			r := g.rate(i)
			if g.rate(i+1) <= r || g.place(r) != i || g.place(math.Nextafter(r, 0)) != i-1 {
				t.Fatalf("resolution %v, rate %d: %v, next %v; its place is %d", res, i, r, g.rate(i+1), g.place(r))
			}
		}
	}
}
