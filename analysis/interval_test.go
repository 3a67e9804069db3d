package analysis

import (
	"math"
	"math/big"
	"math/rand/v2"
	"testing"

	"servesim/sim"
	"servesim/sim/observe"

	"gonum.org/v1/gonum/stat/distuv"
	"pgregory.net/rapid"
)

func TestStudentsDistribution(t *testing.T) {
	for _, d := range []float64{1, 2, 3, 4, 5, 9, 15, 29, 31, 63, 1000} {
		want := distuv.StudentsT{Mu: 0, Sigma: 1, Nu: d}.Quantile(0.975)
		if got := student95(d); math.Abs(got/want-1) > 1e-3 {
			t.Errorf("with %v degrees of freedom %v; want %v", d, got, want)
		}
	}
}

// TestRanksHoldTheQuantile compares the shares with the binomial distribution
// that they stand for: the ranks must leave out 2.5 % at each end, to within a
// rank's own probability.
func TestRanksHoldTheQuantile(t *testing.T) {
	for _, c := range []struct{ p, n float64 }{
		{0.5, 100}, {0.5, 1000}, {0.9, 100}, {0.9, 1000}, {0.99, 368}, {0.99, 1000}, {0.99, 1e5}, {0.999, 3688}, {0.01, 368},
	} {
		lo, hi := rankShares(c.p, c.n)
		b := distuv.Binomial{N: c.n, P: c.p}
		l, u := math.Floor(lo*c.n+0.5), min(c.n, math.Ceil(hi*c.n+0.5))
		outer, inner := 1-(b.CDF(u-1)-b.CDF(l-1)), 1-(b.CDF(u-2)-b.CDF(l))
		if outer > 0.052 || inner < 0.049 {
			t.Errorf("%v of %v: ranks %v to %v leave out %.4f, one less on each side %.4f; want 0.05 between", c.p, c.n, l, u, outer, inner)
		}
	}
}

// TestLeastIndependent: 0.99^367 is above 2.5 % and 0.99^368 isn't.
func TestLeastIndependent(t *testing.T) {
	for _, c := range []struct{ p, want float64 }{{0.5, 6}, {0.9, 36}, {0.99, 368}, {0.01, 368}, {0.999, 3688}} {
		if got := leastIndependent(c.p); got != c.want {
			t.Errorf("%v takes %v; want %v", c.p, got, c.want)
		}
	}
}

// TestScores has Wilson's interval of 8 of 10: 0.490 to 0.943.
func TestScores(t *testing.T) {
	lo, hi := scoreShares(0.8, 10)
	if math.Abs(lo-0.4902) > 1e-4 || math.Abs(hi-0.9433) > 1e-4 {
		t.Errorf("%v to %v; want 0.4902 to 0.9433", lo, hi)
	}
}

func TestUnskewedSolvesItsCubic(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		x := rapid.Float64Range(-3, 3).Draw(t, "t")
		a := rapid.Float64Range(-0.5, 0.5).Draw(t, "a")
		g := unskewed(x, a)
		if back := g + 2*a*g*g + 4./3*a*a*g*g*g + a; math.Abs(a) > 1e-6 && math.Abs(back-x) > 1e-9 {
			t.Fatalf("unskewed(%v, %v) = %v, which gives %v", x, a, g, back)
		}
	})
}

// TestNoIntervalOfTooLittle has runs too short for an interval, and one whose
// values drift, which none could be long enough for.
func TestNoIntervalOfTooLittle(t *testing.T) {
	sample := func(n int, value func(i int) int64) Distribution {
		var s Sample
		for i := range n {
			s.Add(sim.Duration(value(i)))
		}
		ps, err := ParsePercentiles("50 99 max")
		if err != nil {
			t.Fatal(err)
		}
		return s.Distribution(ps)
	}
	noise := func(i int) int64 {
		return new(big.Int).Exp(big.NewInt(int64(i)+2), big.NewInt(17), big.NewInt(1_000_003)).Int64()
	}
	d := sample(100, noise)
	for _, c := range []struct {
		what string
		got  Interval
		want string
	}{
		{"mean of 100", d.MeanInterval, "no interval: needs n >= 128"},
		{"P50 of 100", d.Quantiles[0].Interval, "no interval: needs n >= 128"},
		{"P99 of 100", d.Quantiles[1].Interval, "no interval: needs n >= 400"},
		{"maximum", sample(1000, noise).Quantiles[2].Interval, "no interval"},
	} {
		if got := c.got.Why(); got != c.want {
			t.Errorf("%s: %q; want %q", c.what, got, c.want)
		}
	}
	d = sample(20_000, func(i int) int64 { return int64(i) * 1000 })
	for _, i := range []Interval{d.MeanInterval, d.Quantiles[0].Interval, d.Quantiles[1].Interval} {
		if i.OK || i.Effective > fewestEffective {
			t.Errorf("a run that only grows has the interval %v of %v independent values; want none", i, i.Effective)
		}
	}
}

// TestEqualValuesHaveNoSpread: an interval of a constant is the constant.
func TestEqualValuesHaveNoSpread(t *testing.T) {
	var s Sample
	for range 1000 {
		s.Add(7)
	}
	d := s.Distribution(DefaultPercentiles())
	for _, i := range []Interval{d.MeanInterval, d.Quantiles[0].Interval, d.Quantiles[2].Interval} {
		if !i.OK || i.Lo != 7 || i.Hi != 7 {
			t.Errorf("a thousand sevens have the interval %v", i)
		}
	}
}

// TestIntervalsHoldTheirValues and lie within the extremes, however long the run,
// kept or folded.
func TestIntervalsHoldTheirValues(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		s := Sample{limit: chunkValues}
		var g GapSample
		n := rapid.IntRange(1, 3*chunkValues).Draw(t, "n")
		step := rapid.Int64Range(1, 1_000_002).Draw(t, "step")
		v := int64(1)
		for range n {
			v = v * step % 1_000_003
			s.Add(sim.Duration(v))
			if err := g.Add(gapsFrom(v)); err != nil {
				t.Fatal(err)
			}
		}
		for _, d := range []Distribution{s.Distribution(DefaultPercentiles()), g.Distribution(DefaultPercentiles())} {
			if i := d.MeanInterval; i.OK && (i.Lo > d.Mean || i.Hi < d.Mean) {
				t.Fatalf("the mean %d has the interval %v", d.Mean, i)
			}
			for _, q := range d.Quantiles {
				if i := q.Interval; i.OK && (i.Lo > q.Value || i.Hi < q.Value || i.Lo < d.Min || i.Hi > d.Max) {
					t.Fatalf("%v = %d in %d..%d has the interval %v", q.P, q.Value, d.Min, d.Max, i)
				}
			}
		}
	})
}

// TestTallyCovers counts how often the interval of a share holds it, where
// requests are good or bad in runs of mean length 5, 10 of which are good to one that isn't.
func TestTallyCovers(t *testing.T) {
	c := covered{name: "share"}
	for i := range 400 {
		src := sim.Seed(i).Stream("tally")
		var y Tally
		good := true
		for range 20_000 {
			if src.Uint64()%5 == 0 {
				good = src.Uint64()%11 != 0
			}
			y.Add(good)
		}
		v := y.Interval(0)
		lo, hi := sim.Duration(v.Lo*1e12), sim.Duration(v.Hi*1e12)
		c.count(Interval{v.Evidence, lo, hi}, 10./11)
	}
	share := float64(c.held) / float64(c.given)
	if lo, hi := tolerated(c.given, 0.92, 0.001), tolerated(c.given, 0.98, 0.999); c.given != 400 || share < lo || share > hi {
		t.Errorf("%.1f %% of %d intervals hold the share; want %.1f to %.1f of 400", 100*share, c.given, 100*lo, 100*hi)
	}
}

// TestTallyOfOneKind: where all were good, nothing in that says how failures
// crowd. 0.025^(1/36.888794) is 0.9048374, that is e^-0.1.
func TestTallyOfOneKind(t *testing.T) {
	for _, all := range []bool{false, true} {
		var y Tally
		for range 10_000 {
			y.Add(all)
		}
		if i := y.Interval(0); i.OK || i.Why() != "no interval" {
			t.Errorf("all %v: %+v; want no interval", all, i)
		}
		lo, hi := 0., 0.0951626
		if all {
			lo, hi = 0.9048374, 1
		}
		if i := y.Interval(36.888794); !i.OK || math.Abs(i.Lo-lo) > 1e-7 || math.Abs(i.Hi-hi) > 1e-7 || i.Effective != 36.888794 {
			t.Errorf("all %v: %+v; want %v to %v", all, i, lo, hi)
		}
		if i := y.Interval(1e9); i.Effective != 10_000 {
			t.Errorf("all %v: %v of 10,000 requests are independent", all, i.Effective)
		}
	}
}

// TestSharesOfOneKindHold has queues in which a request in 400 fails, in the mean,
// where time in the system is limited. Of the runs in which none did, the interval
// holds the share in all but few.
func TestSharesOfOneKindHold(t *testing.T) {
	limit := sim.Duration(math.Log(400) / 0.3 * 1e12) // time in an M/M/1 queue of load 0.7 is exponential, of mean 1/0.3 s
	runs, held := 0, 0
	for i := range 400 {
		s := NewSummary(Options{SLO: SLO{Goodput: Goodput{{Objective: E2EL, Max: limit}}}})
		src := rand.New(rand.NewPCG(uint64(i), 4))
		serveAll(t, s, poisson(src, 400), func() float64 { return -0.7 * logOf(src) })
		if share := s.Report().Goodput; share.Good == share.Requests && share.Interval.OK {
			runs++
			if share.Interval.Lo <= 1-1./400 {
				held++
			}
		}
	}
	if runs < 50 || held < runs*95/100 {
		t.Errorf("%d of %d intervals hold the share", held, runs)
	}
}

// gapsFrom returns a run of gaps from v up.
func gapsFrom(v int64) *observe.Gaps {
	return &observe.Gaps{Seqs: int32(v%5) + 1, Steps: v%9 + 1, First: sim.Duration(v), Inc: sim.Duration(v % 4)}
}

// TestALimitWithinTheIntervalIsTooCloseToCall: P99 is 100 ps, in 90 to 120.
func TestALimitWithinTheIntervalIsTooCloseToCall(t *testing.T) {
	p99 := Percentile{990_000_000}
	for _, c := range []struct {
		max    sim.Duration
		strict bool
		want   Judgement
	}{
		{130, false, Pass}, {120, false, Pass}, {120, true, TooClose}, {119, false, TooClose}, {100, false, TooClose},
		{90, false, TooClose}, {90, true, Fail}, {89, false, Fail},
	} {
		l := RunLimit{At: p99, Limit: Limit{Max: c.max, Strict: c.strict}}
		d := Distribution{OK: true, Count: 1000, Quantiles: []QuantileValue{{P: p99, Value: 100, Interval: Interval{Evidence{OK: true}, 90, 120}}}}
		if got := l.verdict(d, 0, 990).Judgement; got != c.want {
			t.Errorf("at most %d, strictly %v: %s; want %s", c.max, c.strict, got, c.want)
		}
		d.Quantiles[0].Interval.OK = false
		if got, want := l.verdict(d, 0, 990).Judgement, map[bool]Judgement{true: Pass, false: Fail}[c.max >= 100]; got != want {
			t.Errorf("at most %d, without an interval: %s; want %s", c.max, got, want)
		}
	}
	for _, c := range []struct {
		least int64
		want  Judgement
	}{{900_000_000, Pass}, {880_000_000, Pass}, {910_000_000, TooClose}, {950_000_000, TooClose}, {960_000_000, Fail}} {
		v := shareVerdict(Percentile{c.least}, tallyCell{900, 1000}, 0, ShareInterval{Evidence{OK: true}, 0.9, 0.95})
		if v.Judgement != c.want {
			t.Errorf("at least %d ppb in 90 %% to 95 %%: %s; want %s", c.least, v.Judgement, c.want)
		}
	}
}

// TestFoldedIntervalsAreLikeKeptOnes watches one queue by keeping its values, and
// as a run that is too long to keep; both say nearly the same.
func TestFoldedIntervalsAreLikeKeptOnes(t *testing.T) {
	kept, folded := Sample{limit: 1 << 30}, Sample{limit: 64 * chunkValues}
	queue(0.7)(sim.Seed(1).Stream("folded"), 200*chunkValues, func(d sim.Duration) {
		kept.Add(d)
		folded.Add(d)
	})
	a, b := kept.Distribution(DefaultPercentiles()), folded.Distribution(DefaultPercentiles())
	if kept.hist != nil || folded.hist == nil {
		t.Fatal("the first is to be kept and the second folded")
	}
	near := func(what string, x, y Interval) {
		wide := func(i Interval) float64 { return float64(i.Hi - i.Lo) }
		if !x.OK || !y.OK || wide(y) < 0.7*wide(x) || wide(y) > 1.4*wide(x) || y.Effective < x.Effective/2 || y.Effective > 2*x.Effective {
			t.Errorf("%s: kept %v of %.0f, folded %v of %.0f", what, x, x.Effective, y, y.Effective)
		}
	}
	near("mean", a.MeanInterval, b.MeanInterval)
	for i := range a.Quantiles {
		near(a.Quantiles[i].P.String(), a.Quantiles[i].Interval, b.Quantiles[i].Interval)
	}
}
