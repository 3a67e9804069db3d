package analysis

import (
	"testing"

	"pgregory.net/rapid"

	"servesim/sim"
)

// spans are milliseconds.
func spans(ms ...int64) (list []sim.Duration) {
	for _, n := range ms {
		list = append(list, sim.Duration(n)*sim.Millisecond)
	}
	return list
}

// TestChangeBySeedByHand: differences of 1 to 5 ms have a mean of 3, a standard
// deviation of 1.5811 and, with Student's 2.7764 of 4 degrees, an interval of 1.037
// to 4.963.
func TestChangeBySeedByHand(t *testing.T) {
	c := ChangeBySeed(spans(100, 200, 300, 400, 500), spans(101, 202, 303, 404, 505))
	if c.Base != 300*sim.Millisecond || c.Difference() != 3*sim.Millisecond || !c.Interval.OK || c.Direction != Worse {
		t.Fatalf("%+v", c)
	}
	if lo, hi := c.Interval.Lo.Milliseconds(), c.Interval.Hi.Milliseconds(); lo < 1.036 || lo > 1.038 || hi < 4.962 || hi > 4.964 {
		t.Errorf("interval %v to %v ms", lo, hi)
	}
}

// TestChangeBySeedLaws holds that a change the other way is the opposite, that
// one of nothing is the same whatever its seeds' luck, and that a constant change
// has an interval of no width.
func TestChangeBySeedLaws(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		draw := rapid.SliceOfN(rapid.Int64Range(1, 1_000_000), 1, 12).Draw(t, "values")
		by := rapid.Int64Range(-1, 1000).Draw(t, "by")
		var a, b []sim.Duration
		for i, v := range draw {
			a, b = append(a, sim.Duration(v)), append(b, sim.Duration(v+by*int64(i%3)))
		}
		up, down := ChangeBySeed(a, b), ChangeBySeed(b, a)
		if up.Base != down.Run || up.Interval.OK != (len(a) >= FewestReplications) {
			t.Fatalf("%+v and %+v", up, down)
		}
		if d := up.Interval.Hi + down.Interval.Lo; up.Interval.OK && (d < -2 || d > 2) {
			t.Fatalf("%v and %v are not opposite", up.Interval, down.Interval)
		}
		if same := ChangeBySeed(a, a); same.Interval.OK && (same.Direction != Same || same.Interval.Lo != 0 || same.Interval.Hi != 0) {
			t.Fatalf("no change: %+v", same)
		}
		if !up.Interval.OK && up.Direction != Unclear {
			t.Fatalf("without an interval: %+v", up)
		}
	})
}

// TestShareChangeBySeed holds that more good requests are better.
func TestShareChangeBySeed(t *testing.T) {
	g := ShareChangeBySeed([]float64{0.5, 0.6, 0.55, 0.5, 0.5}, []float64{0.6, 0.7, 0.65, 0.6, 0.61})
	if g.Direction != Better || g.Base != 0.53 || g.Run != 0.632 || g.Interval.Lo < 0.09 || g.Interval.Hi > 0.11 {
		t.Errorf("%+v", g)
	}
	none := ShareChangeBySeed(make([]float64, 5), make([]float64, 5))
	if none.Direction != Same || none.Base != 0 {
		t.Errorf("%+v", none)
	}
}
