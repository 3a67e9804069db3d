package publish

import (
	"encoding/json"
	"math"
	"slices"
	"testing"

	"pgregory.net/rapid"

	"servesim/internal/exact"
	"servesim/sim"
)

// Law: a time reads back, in s and in ms, to the picosecond.
func TestTimesReadBack(t *testing.T) {
	ms, _ := exact.UnitOf("ms")
	rapid.Check(t, func(t *rapid.T) {
		d := sim.Duration(rapid.Int64Range(0, math.MaxInt64).Draw(t, "time"))
		for digits, unit := range map[int]exact.Unit{inSeconds: exact.Seconds(), inMilliseconds: ms} {
			text := appendTime(nil, d, digits)
			at, ok := unit.Parse(text)
			if got, fits := at.Since(exact.Instant{}); !ok || !fits || got != d || !json.Valid(text) {
				t.Fatalf("%v is %s, which reads back as %v", d, text, got)
			}
		}
	})
	for want, d := range map[string]sim.Duration{"0.0": 0, "1.0": sim.Second, "0.000000000001": 1, "12.5": 12_500 * sim.Millisecond} {
		if got := string(appendTime(nil, d, inSeconds)); got != want {
			t.Errorf("%s, want %s", got, want)
		}
	}
}

// Law: gaps unpack as they were packed, and even ones take next to nothing.
func TestGapsUnpack(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		at := []sim.Time{0}
		var want []sim.Duration
		for range rapid.IntRange(0, 5).Draw(t, "stretches") {
			first, inc := rapid.Int64Range(0, math.MaxInt32).Draw(t, "first"), rapid.Int64Range(0, 1000).Draw(t, "more")
			for i := range rapid.Int64Range(1, 50).Draw(t, "gaps") {
				want = append(want, sim.Duration(first+i*inc))
				at = append(at, at[len(at)-1].Add(want[len(want)-1]))
			}
		}
		var got []sim.Duration
		packed := pack(at, nil)
		unpack(packed, func(d sim.Duration) { got = append(got, d) })
		if !slices.Equal(got, want) {
			t.Fatalf("%v, want %v", got, want)
		}
		if len(packed) > 5*2*8 {
			t.Fatalf("%d bytes for 5 stretches", len(packed))
		}
	})
}

// TestFloatsAreFloats holds that a whole number has a point, and what is none is 0.
func TestFloatsAreFloats(t *testing.T) {
	for want, x := range map[string]float64{"4.0": 4, "0.1": 0.1, "1e+21": 1e21, "0.0": math.NaN(), "-2.5": -2.5} {
		if got := string(appendFloat(nil, x)); got != want {
			t.Errorf("%s, want %s", got, want)
		}
	}
}
