package analysis

import (
	"math"
	"math/rand/v2"
	"os"
	"testing"

	"servesim/sim"

	"pgregory.net/rapid"
)

// queues draws the times of the same customers in two M/M/1 queues with load rho,
// the second of which serves each in the share faster of the time.
func queues(src *rand.PCG, rho, faster float64, n int) (base, run []int64) {
	r := rand.New(src)
	var waits [2]float64
	for i := range n + n/10 {
		service, gap := r.ExpFloat64(), r.ExpFloat64()/rho
		for k, factor := range []float64{1, faster} {
			stay := waits[k] + service*factor
			if i >= n/10 { // both have forgotten that they began empty
				if k == 0 {
					base = append(base, int64(seconds(stay)))
				} else {
					run = append(run, int64(seconds(stay)))
				}
			}
			waits[k] = max(0, stay-gap)
		}
	}
	return base, run
}

// TestChangesCover counts how often the intervals of changes between queues hold
// the change, which is known as the times in them are exponential.
func TestChangesCover(t *testing.T) {
	runs := 100
	if os.Getenv("SERVESIM_LARGE") != "" {
		runs = 1000
	}
	for _, c := range []struct {
		rho, faster float64
		values      int
	}{{0.5, 0.9, 20_000}, {0.7, 0.95, 40_000}} {
		unit := seconds(1/(1/c.faster-c.rho) - 1/(1-c.rho))
		truths := []float64{1, math.Ln2, math.Log(10), math.Log(100)}
		counts := make([]covered, len(truths))
		for i := range runs {
			base, run := queues(sim.Seed(i).Stream("changes"), c.rho, c.faster, c.values)
			for k, ch := range changes(base, run, DefaultPercentiles()) {
				counts[k].name = ch.Statistic
				counts[k].count(ch.Interval, truths[k]*unit.Seconds())
			}
		}
		for _, k := range counts {
			share := float64(k.held) / float64(k.given)
			t.Logf("M/M/1 at %v, served in %v of the time: %s: %d of %d have an interval, %.1f %% hold it", c.rho, c.faster, k.name, k.given, runs, 100*share)
			lo, hi := 0.92, 0.98
			if runs < 1000 {
				lo, hi = tolerated(k.given, lo, 0.001), tolerated(k.given, hi, 0.999)
			}
			if share < lo || share > hi || k.given < runs*8/10 {
				t.Errorf("%s: want %.1f to %.1f, of %d", k.name, 100*lo, 100*hi, runs)
			}
		}
	}
}

// TestAChangeIsJudgedByItsInterval has the base 1000 and all ways an interval can lie.
func TestAChangeIsJudgedByItsInterval(t *testing.T) {
	for _, c := range []struct {
		lo, hi sim.Duration
		want   Direction
	}{
		{-200, -100, Better}, {100, 200, Worse}, {-20, -1, Better}, {1, 20, Worse},
		{-10, -1, BetterSlightly}, {1, 10, WorseSlightly},
		{-10, 10, Same}, {0, 10, Same}, {-10, 0, Same}, {0, 0, Same},
		{-11, 1, Unclear}, {-1, 11, Unclear}, {-200, 100, Unclear}, {0, 11, Unclear},
	} {
		ch := Change{Base: 1000, Run: 1000 + (c.lo+c.hi)/2, Interval: Interval{Evidence{OK: true}, c.lo, c.hi}}
		ch.judge(100)
		if ch.Direction != c.want || (ch.Settles > 100) != (c.want == Unclear) {
			t.Errorf("%d to %d is %q and settled by %d; want %q", c.lo, c.hi, ch.Direction, ch.Settles, c.want)
		}
	}
	ch := Change{Base: 1000, Run: 900, Interval: Interval{Evidence: Evidence{Needs: 300}}}
	if ch.judge(100); ch.Direction != Unclear || ch.Settles != 300 {
		t.Errorf("without an interval: %q, settled by %d; want it unclear until 300", ch.Direction, ch.Settles)
	}
}

// TestARunDoesNotDifferFromItself, and one in which every request took a second
// longer is a second longer in every statistic, exactly.
func TestARunDoesNotDifferFromItself(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		base := rapid.SliceOfN(rapid.Int64Range(0, 1e13), 1, 2000).Draw(t, "base")
		shift := rapid.Int64Range(0, 1e12).Draw(t, "shift")
		run := make([]int64, len(base))
		for i := range run {
			run[i] = base[i] + shift
		}
		for _, c := range changes(base, run, DefaultPercentiles()) {
			i := c.Interval
			if c.Difference() != sim.Duration(shift) || i.OK && (i.Lo < sim.Duration(shift)-1 || i.Hi > sim.Duration(shift)+1) {
				t.Fatalf("%s: %d, in %v; want %d", c.Statistic, c.Difference(), i, shift)
			}
		}
	})
}

// TestGoodputChanges: of 1,000 requests every tenth is good in neither, every other
// tenth only in the second run.
func TestGoodputChanges(t *testing.T) {
	var base, run []bool
	for i := range 1000 {
		base, run = append(base, i*7%10 > 1), append(run, i*7%10 > 0)
	}
	c := goodput(base, run)
	if c.Base != 0.8 || c.Run != 0.9 || c.Direction != Better || !c.Interval.OK || c.Interval.Lo > 0.1 || c.Interval.Hi < 0.1 || c.Interval.Lo < 0.08 {
		t.Errorf("%+v; want 0.8 and 0.9, better by about 0.1", c)
	}
	if c := goodput(run, base); c.Direction != Worse {
		t.Errorf("the other way round: %+v; want worse", c)
	}
	if c := goodput(base, base); c.Direction != Same || c.Interval.Lo != 0 || c.Interval.Hi != 0 {
		t.Errorf("the same: %+v; want no change", c)
	}
	if goodput(nil, nil) != nil {
		t.Error("no requests have a change")
	}
}
