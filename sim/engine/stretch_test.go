package engine

import (
	"math"
	"math/big"
	"slices"
	"testing"

	"pgregory.net/rapid"

	"servesim/sim"
	"servesim/sim/gpu"
)

// exact returns the duration of the first k steps of p, however long.
func exact(p gpu.Progression, k int64) *big.Int {
	n := big.NewInt(k)
	first := new(big.Int).Mul(n, big.NewInt(int64(p.First)))
	inc := new(big.Int).Mul(n, big.NewInt(k-1))
	inc.Mul(inc, big.NewInt(int64(p.Inc))).Rsh(inc, 1)
	return first.Add(first, inc)
}

// anyProgression draws step times from a picosecond to days, growing by
// nothing, little or as much.
func anyProgression(t *rapid.T) gpu.Progression {
	span := func(name string, lo int64) sim.Duration {
		top := rapid.SampledFrom([]int64{lo, 3, 1000, 1e9, 1e13, 1e17}).Draw(t, name+" up to")
		return sim.Duration(rapid.Int64Range(lo, max(lo, top)).Draw(t, name))
	}
	return gpu.Progression{First: span("first", 1), Inc: span("inc", 0), Steps: 1}
}

// fitting returns the most steps of p, up to limit, that last no longer than
// can be counted.
func fitting(p gpu.Progression, limit int64) int64 {
	most := big.NewInt(math.MaxInt64)
	lo, hi := int64(1), limit
	for lo < hi {
		if mid := (lo + hi + 1) / 2; exact(p, mid).Cmp(most) <= 0 {
			lo = mid
		} else {
			hi = mid - 1
		}
	}
	return lo
}

// leastSteps is the first k up to limit whose first k steps last at least d, by
// halving over exact sums; limit if none does.
func leastSteps(p gpu.Progression, d sim.Duration, limit int64) int64 {
	lo, hi := int64(1), limit
	for lo < hi {
		if mid := (lo + hi) / 2; exact(p, mid).Cmp(big.NewInt(int64(d))) >= 0 {
			hi = mid
		} else {
			lo = mid + 1
		}
	}
	return lo
}

func TestStepsAgainstExactSums(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		p := anyProgression(t)
		limit := fitting(p, rapid.Int64Range(1, maxStretch).Draw(t, "limit"))
		var d sim.Duration
		switch rapid.IntRange(0, 2).Draw(t, "span") {
		case 0: // anything
			d = sim.Duration(rapid.Int64Range(0, math.MaxInt64-1).Draw(t, "ps"))
		default: // at the end of a step or a picosecond beside it
			k := rapid.Int64Range(1, limit).Draw(t, "k")
			d = total(p, k) + sim.Duration(rapid.Int64Range(-1, 1).Draw(t, "beside"))
			d = max(0, min(d, math.MaxInt64-1))
		}
		if got := big.NewInt(int64(total(p, limit))); got.Cmp(exact(p, limit)) != 0 {
			t.Fatalf("%d steps of %+v last %v; total says %v", limit, p, exact(p, limit), got)
		}
		least := leastSteps(p, d, limit)
		if got := stepsUntil(p, d, limit); got != least {
			t.Fatalf("stepsUntil(%+v, %d, %d) = %d; want %d", p, int64(d), limit, got, least)
		}
		most := leastSteps(p, d+1, limit) - 1
		if exact(p, limit).Cmp(big.NewInt(int64(d))) <= 0 {
			most = limit
		}
		if got := stepsWithin(p, d, limit); got != most {
			t.Fatalf("stepsWithin(%+v, %d, %d) = %d; want %d", p, int64(d), limit, got, most)
		}
	})
}

func TestStepsByHand(t *testing.T) {
	p := gpu.Progression{First: 10, Inc: 2} // 10, 12, 14, 16: 10, 22, 36, 52 in all
	for _, c := range []struct {
		d             sim.Duration
		until, within int64
	}{
		{0, 1, 0}, {1, 1, 0}, {9, 1, 0}, {10, 1, 1}, {11, 2, 1}, {22, 2, 2}, {23, 3, 2}, {36, 3, 3}, {51, 4, 3}, {52, 4, 4}, {53, 4, 4}, {1000, 4, 4},
	} {
		if until, within := stepsUntil(p, c.d, 4), stepsWithin(p, c.d, 4); until != c.until || within != c.within {
			t.Errorf("%d: %d steps last as long and %d fit; want %d and %d", int64(c.d), until, within, c.until, c.within)
		}
	}
}

func TestHistoryAgainstList(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		var h history
		var gaps []sim.Duration // gaps[i] ended with step i+1
		forgotten := int64(0)
		max := func(from int64) sim.Duration {
			if from >= int64(len(gaps)) {
				return 0
			}
			return slices.Max(gaps[from:])
		}
		t.Repeat(map[string]func(*rapid.T){
			"push": func(t *rapid.T) {
				gap := sim.Duration(rapid.Int64Range(1, 6).Draw(t, "gap"))
				gaps = append(gaps, gap)
				h.push(int64(len(gaps)), gap)
			},
			"forget": func(t *rapid.T) {
				forgotten = rapid.Int64Range(forgotten, int64(len(gaps))).Draw(t, "up to")
				h.forget(forgotten)
			},
			"": func(t *rapid.T) {
				for from := forgotten; from <= int64(len(gaps)); from++ {
					if got := h.max(from); got != max(from) {
						t.Fatalf("the longest gap since step %d of %v is %d; want %d", from, gaps, got, max(from))
					}
				}
			},
		})
	})
}
