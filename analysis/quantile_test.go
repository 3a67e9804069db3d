package analysis

import (
	"fmt"
	"math"
	"math/big"
	"math/rand/v2"
	"slices"
	"testing"

	"pgregory.net/rapid"

	"servesim/sim"
	"servesim/sim/observe"
)

// naive is the type-7 quantile by definition: sort, and interpolate with
// fractions of unlimited size.
func naive(values []int64, p Percentile) int64 {
	v := slices.Sorted(slices.Values(values))
	h := big.NewRat(p.ppb, whole)
	h.Mul(h, big.NewRat(int64(len(v)-1), 1))
	lo := new(big.Int).Quo(h.Num(), h.Denom()).Int64()
	hi := min(lo+1, int64(len(v)-1))
	frac := h.Sub(h, big.NewRat(lo, 1))
	x := frac.Mul(frac, new(big.Rat).SetInt(new(big.Int).Sub(big.NewInt(v[hi]), big.NewInt(v[lo]))))
	x.Add(x, new(big.Rat).SetInt64(v[lo]))
	x.Add(x, big.NewRat(1, 2)) // halves up
	q := new(big.Int)
	q.DivMod(x.Num(), x.Denom(), new(big.Int))
	return q.Int64()
}

// drawPercentiles draws ascending percentiles, the extremes often among them.
func drawPercentiles(t *rapid.T) []Percentile {
	ppb := rapid.OneOf(rapid.Int64Range(0, whole), rapid.SampledFrom([]int64{0, whole, whole / 2, 990_000_000}))
	list := rapid.SliceOfN(ppb, 1, 6).Draw(t, "percentiles")
	slices.Sort(list)
	var ps []Percentile
	for _, x := range slices.Compact(list) {
		ps = append(ps, Percentile{x})
	}
	return ps
}

// drawSpan draws spans of every size, ties often.
func drawSpan() *rapid.Generator[int64] {
	return rapid.OneOf(
		rapid.Int64Range(0, 20),
		rapid.Int64Range(1e9, 1e9+5000),
		rapid.Int64Range(0, math.MaxInt64),
	)
}

func TestQuantileIsTypeSeven(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		values := rapid.SliceOfN(rapid.OneOf(drawSpan(), rapid.Int64()), 1, 600).Draw(t, "values")
		d := make([]sim.Duration, len(values))
		for i, v := range values {
			d[i] = sim.Duration(v)
		}
		for _, p := range drawPercentiles(t) {
			got, ok := Quantile(d, p)
			if want := naive(values, p); !ok || int64(got) != want {
				t.Fatalf("%v = %d, %v; want %d", p, got, ok, want)
			}
		}
	})
}

func TestSampleIsExactUpToItsLimit(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		n := rapid.IntRange(1, 3*chunkValues).Draw(t, "n")
		src := rand.New(rand.NewPCG(1, rapid.Uint64().Draw(t, "seed")))
		top := rapid.Int64Range(1, math.MaxInt64).Draw(t, "top")
		s := Sample{limit: 3 * chunkValues}
		values := make([]int64, n)
		var total big.Int
		for i := range values {
			values[i] = src.Int64N(top)
			total.Add(&total, big.NewInt(values[i]))
			s.Add(sim.Duration(values[i]))
		}
		ps := drawPercentiles(t)
		d := s.Distribution(ps)
		for i, p := range ps {
			if q := d.Quantiles[i]; int64(q.Value) != naive(values, p) || q.Resolution != 0 || q.P != p {
				t.Fatalf("%v = %+v, want %d", p, q, naive(values, p))
			}
		}
		total.Add(&total, big.NewInt(int64(n/2)))
		if want := total.Quo(&total, big.NewInt(int64(n))).Int64(); int64(d.Mean) != want || d.Count != int64(n) {
			t.Fatalf("mean %d of %d, want %d of %d", d.Mean, d.Count, want, n)
		}
		if d.Min != sim.Duration(slices.Min(values)) || d.Max != sim.Duration(slices.Max(values)) {
			t.Fatalf("extremes %d, %d", d.Min, d.Max)
		}
	})
}

func TestSampleBeyondItsLimitKeepsItsResolution(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		n := rapid.IntRange(chunkValues+1, 3*chunkValues).Draw(t, "n")
		src := rand.New(rand.NewPCG(2, rapid.Uint64().Draw(t, "seed")))
		scale := rapid.Float64Range(1, 40).Draw(t, "scale")
		s := Sample{limit: chunkValues}
		ps := drawPercentiles(t)
		var values []int64
		for i := range n {
			values = append(values, int64(math.Exp2(src.Float64()*scale)))
			s.Add(sim.Duration(values[i]))
			if i == n/2 {
				s.Distribution(ps) // looking changes nothing
			}
		}
		d := s.Distribution(ps)
		for i, p := range ps {
			q, want := d.Quantiles[i], naive(values, p)
			if math.Abs(float64(int64(q.Value)-want)) > float64(q.Resolution) {
				t.Fatalf("%v = %+v, want %d", p, q, want)
			}
			if next := float64(slices.Max(values)); q.Resolution > 1 && float64(q.Resolution-1) > next/subs {
				t.Fatalf("%v = %+v: coarser than promised", p, q)
			}
		}
	})
}

// drawRun draws a run of gaps and returns it with its expansion.
func drawRun(t *rapid.T) (observe.Gaps, []int64) {
	g := observe.Gaps{
		Seqs:  rapid.Int32Range(1, 4).Draw(t, "seqs"),
		Steps: rapid.Int64Range(1, 40).Draw(t, "steps"),
		First: sim.Duration(rapid.OneOf(rapid.Int64Range(0, 50), rapid.Int64Range(0, 1e13)).Draw(t, "first")),
		Inc:   sim.Duration(rapid.OneOf(rapid.Int64Range(0, 3), rapid.Int64Range(0, 1e11)).Draw(t, "inc")),
	}
	if rapid.Bool().Draw(t, "down") {
		g.First += g.Inc * sim.Duration(g.Steps-1)
		g.Inc = -g.Inc
	}
	var all []int64
	for i := range g.Steps {
		for range g.Seqs {
			all = append(all, int64(g.First)+int64(g.Inc)*i)
		}
	}
	return g, all
}

func TestGapsEqualTheirExpansion(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		exact, folded := GapSample{}, GapSample{hist: new(histogram), watch: new(stretches)}
		var all []int64
		var total big.Int
		for range rapid.IntRange(1, 60).Draw(t, "runs") {
			g, values := drawRun(t)
			all = append(all, values...)
			for _, s := range []*GapSample{&exact, &folded} {
				if err := s.Add(&g); err != nil {
					t.Fatal(err)
				}
			}
		}
		for _, v := range all {
			total.Add(&total, big.NewInt(v))
		}
		total.Add(&total, big.NewInt(int64(len(all)/2)))
		mean := total.Quo(&total, big.NewInt(int64(len(all)))).Int64()
		ps := drawPercentiles(t)
		a, b := exact.Distribution(ps), folded.Distribution(ps)
		for i, p := range ps {
			want := naive(all, p)
			if q := a.Quantiles[i]; int64(q.Value) != want || q.Resolution != 0 {
				t.Fatalf("%v = %+v, want %d", p, q, want)
			}
			if q := b.Quantiles[i]; max(int64(q.Value)-want, want-int64(q.Value)) > int64(q.Resolution) {
				t.Fatalf("folded %v = %+v, want %d", p, q, want)
			}
		}
		for _, d := range []Distribution{a, b} {
			if int64(d.Mean) != mean || d.Count != int64(len(all)) ||
				int64(d.Min) != slices.Min(all) || int64(d.Max) != slices.Max(all) {
				t.Fatalf("%+v, want mean %d of %d", d, mean, len(all))
			}
		}
	})
}

func TestGapSampleFoldsAtItsLimit(t *testing.T) {
	s := GapSample{limit: chunkRuns}
	var all []int64
	for i := range 2*chunkRuns + 10 {
		g := observe.Gaps{Seqs: 1, Steps: 2, First: sim.Duration(1e9 + int64(i)*7919%100_003), Inc: 11}
		if err := s.Add(&g); err != nil {
			t.Fatal(err)
		}
		all = append(all, int64(g.First), int64(g.First)+11)
		if folded := s.hist != nil; folded != (i >= chunkRuns) {
			t.Fatalf("after %d runs: folded %v", i+1, folded)
		}
	}
	d := s.Distribution(DefaultPercentiles())
	for _, q := range d.Quantiles {
		want := naive(all, q.P)
		if off := int64(q.Value) - want; max(off, -off) > int64(q.Resolution) || q.Resolution == 0 || q.Resolution > q.Value/subs {
			t.Errorf("%+v, want %d", q, want)
		}
	}
	if d.Count != int64(len(all)) {
		t.Errorf("%d gaps, want %d", d.Count, len(all))
	}
}

func TestGapSampleRefusesWhatCannotBe(t *testing.T) {
	for _, g := range []observe.Gaps{
		{Seqs: 0, Steps: 1}, {Seqs: 1, Steps: 0}, {Seqs: 1, Steps: -1}, {Seqs: -1, Steps: 1},
		{Seqs: 1, Steps: 1, First: -1}, {Seqs: 1, Steps: 3, First: 5, Inc: -3},
		{Seqs: 1, Steps: 3, First: sim.MaxDuration, Inc: 1},
		{Seqs: 1, Steps: 3, First: 1, Inc: math.MinInt64},
		{Seqs: 1, Steps: math.MaxInt32 + 1, First: 1},
	} {
		var s GapSample
		if err := s.Add(&g); err == nil {
			t.Errorf("%+v: no error", g)
		}
	}
}

func TestParsePercentiles(t *testing.T) {
	ps, err := ParsePercentiles("99.9, p50,max,0.0000001")
	if got := fmt.Sprint(ps, err); got != "[p0.0000001 p50 p99.9 max] <nil>" {
		t.Error(got)
	}
	for _, bad := range []string{"", ",", "101", "100.0000001", "-1", "NaN", "1e1", "p", "50,50", "99.99999999", "50%", "+5", "5.", "."} {
		if ps, err := ParsePercentiles(bad); err == nil {
			t.Errorf("%q gave %v", bad, ps)
		}
	}
}

// Four values lie at 0, 1/3, 2/3 and 1 of the way; P50 is half-way between the
// second and the third, P90 seven tenths of the way from the third to the last.
func ExampleQuantile() {
	values := []sim.Duration{30 * sim.Millisecond, 10 * sim.Millisecond, 20 * sim.Millisecond, 60 * sim.Millisecond}
	for _, p := range DefaultPercentiles() {
		d, _ := Quantile(values, p)
		fmt.Println(p, d)
	}
	_, ok := Quantile(nil, Percentile{})
	fmt.Println("of nothing:", ok)
	// Output:
	// p50 25ms
	// p90 51ms
	// p99 59.1ms
	// of nothing: false
}

// Two sequences saw three gaps, of 10, 11 and 12 ms, and one saw a stall of 80 ms.
func ExampleGapSample() {
	var s GapSample
	_ = s.Add(&observe.Gaps{Seqs: 2, Steps: 3, First: 10 * sim.Millisecond, Inc: sim.Millisecond})
	_ = s.Add(&observe.Gaps{Seqs: 1, Steps: 1, First: 80 * sim.Millisecond})
	d := s.Distribution(TailPercentiles())
	fmt.Println(d.Count, d.Mean, d.Quantiles[0].Value, d.Max)
	// Output: 7 20.857142857ms 11ms 80ms
}
