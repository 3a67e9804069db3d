package analysis

import (
	"slices"
	"testing"

	"pgregory.net/rapid"

	"servesim/sim"
	"servesim/sim/observe"
)

// sampleOf returns a Sample of values.
func sampleOf(values ...sim.Duration) *Sample {
	var s Sample
	for _, v := range values {
		s.Add(v)
	}
	return &s
}

func TestEstimatorsByHand(t *testing.T) {
	two := sampleOf(500, 300)
	four := sampleOf(40, 10, 30, 20)
	for _, c := range []struct {
		s  *Sample
		e  Estimator
		ps string
		// want is by each estimator's formula, counted out on paper.
		want []sim.Duration
	}{
		{two, Linear, "0,50,90,99,100", []sim.Duration{300, 400, 480, 498, 500}},
		{two, InverseCDF, "0,50,50.0000001,90,99,100", []sim.Duration{300, 300, 500, 500, 500, 500}},
		{two, FloorIndex, "0,49.9999999,50,90,99,100", []sim.Duration{300, 300, 500, 500, 500, 500}},
		{two, Nearest, "0,50,50.0000001,90,100", []sim.Duration{300, 300, 500, 500, 500}},
		{four, Linear, "25,50,75", []sim.Duration{18, 25, 33}}, // 17.5, 25, 32.5
		{four, InverseCDF, "25,26,50,75,76", []sim.Duration{10, 20, 20, 30, 40}},
		{four, FloorIndex, "24,25,50,75", []sim.Duration{10, 20, 30, 40}},
		{four, Nearest, "16,17,50,83,84", []sim.Duration{10, 20, 30, 30, 40}}, // 1.5 is nearest to 2
	} {
		ps, err := ParsePercentiles(c.ps)
		if err != nil {
			t.Fatal(err)
		}
		var got []sim.Duration
		for _, q := range c.s.By(c.e, ps).Quantiles {
			got = append(got, q.Value)
		}
		if !slices.Equal(got, c.want) {
			t.Errorf("%v: percentiles %s are %d, want %d", c.e, c.ps, got, c.want)
		}
	}
}

// A value that never came about is longer than any other: two answers and one
// failure have a median of the slower answer, and no P90.
func TestCensoredByHand(t *testing.T) {
	ps, err := ParsePercentiles("0,50,74,75,90")
	if err != nil {
		t.Fatal(err)
	}
	d := sampleOf(500, 300).Censored(Nearest, ps, 1)
	want := []QuantileValue{
		{P: ps[0], Value: 300}, {P: ps[1], Value: 500}, {P: ps[2], Value: 500}, // 2·0.74 is nearest to 1
		{P: ps[3], Unbounded: true}, {P: ps[4], Unbounded: true}, // 1.5 is nearest to 2
	}
	if d.Count != 2 || d.Mean != 400 || !slices.Equal(d.Quantiles, want) {
		t.Errorf("%+v, want %+v", d, want)
	}
	d = sampleOf(500, 300).Censored(Linear, ps[1:3], 1) // towards a value that never came
	if !slices.Equal(d.Quantiles, []QuantileValue{{P: ps[1], Value: 500}, {P: ps[2], Unbounded: true}}) {
		t.Errorf("%+v", d)
	}
}

// Law: each estimator picks by its definition from the sorted values, whether a
// value is taken many times or weighs as much, and none is beyond the extremes.
func TestEstimatorsLaw(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		var s Sample
		var g GapSample
		var all []int64
		for range rapid.IntRange(1, 12).Draw(t, "values") {
			v, n := rapid.Int64Range(0, 1000).Draw(t, "value"), rapid.Int64Range(1, 40).Draw(t, "times")
			for range n {
				s.Add(sim.Duration(v))
				all = append(all, v)
			}
			addGap(t, &g, v, n)
		}
		slices.Sort(all)
		p := Percentile{rapid.Int64Range(0, whole).Draw(t, "ppb")}
		e := rapid.SampledFrom(Estimators()).Draw(t, "estimator")
		got := s.By(e, []Percentile{p}).Quantiles[0].Value
		if weighed := g.By(e, []Percentile{p}).Quantiles[0].Value; weighed != got {
			t.Fatalf("%v %v: %d of values, %d of weights", e, p, got, weighed)
		}
		below := func(x int64) (n int64) { // values at most x
			for _, v := range all {
				if v <= x {
					n++
				}
			}
			return n
		}
		n := int64(len(all))
		switch e {
		case InverseCDF: // the first that reaches the share p
			i, _ := slices.BinarySearchFunc(all, p.ppb*n, func(v, share int64) int {
				if below(v)*whole >= share {
					return 1
				}
				return -1
			})
			if want := all[i]; int64(got) != want {
				t.Fatalf("inverse CDF %v of %v is %d, want %d", p, all, got, want)
			}
		case Linear: // a step of the inverse CDF or between two
			if int64(got) < all[0] || int64(got) > all[n-1] {
				t.Fatalf("%d is outside %v", got, all)
			}
		default:
			if i, ok := slices.BinarySearch(all, int64(got)); !ok {
				t.Fatalf("%v %v is %d, which isn't among %v at %d", e, p, got, all, i)
			}
		}
	})
}

// addGap adds a gap of v seen by n sequences.
func addGap(t *rapid.T, g *GapSample, v, n int64) {
	run := gapsOf(v, n)
	if err := g.Add(&run); err != nil {
		t.Fatal(err)
	}
}

// gapsOf is one gap of v seen by n sequences.
func gapsOf(v, n int64) observe.Gaps {
	return observe.Gaps{Seqs: int32(n), Steps: 1, First: sim.Duration(v)}
}
