package page

import (
	"testing"

	"servesim/analysis/blame"
	"servesim/sim"

	"pgregory.net/rapid"
)

// Law: a column of a track is full, and over all columns each cause has about its share
// of the life.
func TestColumnsAreShares(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		var pieces []blame.Piece
		var parts blame.Parts
		at := sim.Time(rapid.Int64Range(0, 1e15).Draw(t, "arrival"))
		for range rapid.IntRange(1, 60).Draw(t, "pieces") {
			p := blame.Piece{
				Cause: blame.Cause(rapid.IntRange(0, blame.Causes-1).Draw(t, "cause")), Start: at,
				Lasts: sim.Duration(rapid.Int64Range(int64(sim.Microsecond), 1e12).Draw(t, "lasts")),
			}
			pieces, at = append(pieces, p), at.Add(p.Lasts)
			parts[p.Cause] += p.Lasts
		}
		whole := parts.Sum()
		columns := columnsOf(pieces, whole)
		var sums [blame.Causes]int
		for i, c := range columns {
			if c[blame.Causes-1] < trackHeight-1 || c[blame.Causes-1] > trackHeight {
				t.Fatalf("column %d is %d high, want %d", i, c[blame.Causes-1], trackHeight)
			}
			low := 0
			for k, h := range c {
				sums[k], low = sums[k]+h-low, h
			}
		}
		for k, d := range parts {
			got, want := float64(sums[k])/(trackWidth*trackHeight), float64(d)/float64(whole)
			if diff := got - want; diff > 0.03 || diff < -0.03 {
				t.Fatalf("%v has %.4f of the track, and %.4f of the life", blame.Cause(k), got, want)
			}
		}
	})
}

// TestPlace holds the words for places.
func TestPlace(t *testing.T) {
	for n, want := range map[int]string{1: "", 2: "2nd ", 3: "3rd ", 4: "4th ", 11: "11th ", 12: "12th ", 21: "21st ", 113: "113th "} {
		if got := place(n); got != want {
			t.Errorf("place(%d) = %q, want %q", n, got, want)
		}
	}
}
