package analysis

import (
	"reflect"
	"testing"

	"servesim/sim"
	"servesim/sim/observe"

	"pgregory.net/rapid"
)

// split deals list to some parts, in any order.
func split[T any](t *rapid.T, list []T) [][]T {
	parts := make([][]T, rapid.IntRange(1, 6).Draw(t, "parts"))
	for _, v := range rapid.Permutation(list).Draw(t, "order") {
		i := rapid.IntRange(0, len(parts)-1).Draw(t, "part")
		parts[i] = append(parts[i], v)
	}
	return parts
}

// unordered returns d without intervals, which rest on order.
func unordered(d Distribution) Distribution {
	d.MeanInterval = Interval{}
	for i := range d.Quantiles {
		d.Quantiles[i].Interval = Interval{}
	}
	return d
}

// TestMergingIsTakingAll merges parts of values, some of which keep each of them
// and some no longer do, in some tree, takes more values after, and compares with one
// sample of all. Both say the same to the last bit, resolution included.
func TestMergingIsTakingAll(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		limit := rapid.Int64Range(1, 60).Draw(t, "limit")
		values := rapid.SliceOfN(rapid.Int64Range(0, 1<<rapid.IntRange(1, 60).Draw(t, "bits")), 0, 80).Draw(t, "values")
		ps := drawPercentiles(t)
		whole := &Sample{limit: limit}
		for _, v := range values {
			whole.Add(sim.Duration(v))
		}
		want := unordered(whole.Distribution(ps))
		list := []*Sample{{limit: limit}}
		for _, part := range split(t, values) {
			s := &Sample{limit: limit}
			for _, v := range part {
				s.Add(sim.Duration(v))
			}
			list = append(list, s)
		}
		late := list[len(list)-1] // its values come after the merges
		list = list[:len(list)-1]
		for len(list) > 1 {
			i := rapid.IntRange(1, len(list)-1).Draw(t, "merged")
			to := rapid.IntRange(0, i-1).Draw(t, "to")
			list[to].Merge(list[i])
			list = append(list[:i], list[i+1:]...)
		}
		all := list[0]
		if late.count+int64(late.n) <= limit {
			late.settle()
			for _, c := range late.full {
				for _, v := range c {
					all.Add(sim.Duration(v))
				}
			}
		} else {
			all.Merge(late)
		}
		if got := unordered(all.Distribution(ps)); !reflect.DeepEqual(got, want) {
			t.Fatalf("merged %+v, taken together %+v", got, want)
		}
		if exact := int64(len(values)) <= limit; want.OK && exact == (all.hist != nil) {
			t.Fatalf("%d values, limit %d: histogram %v", len(values), limit, all.hist != nil)
		}
	})
}

// TestMergingGapsIsTakingAll does it with runs of gaps.
func TestMergingGapsIsTakingAll(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		limit := rapid.Int64Range(1, 30).Draw(t, "limit")
		values := rapid.SliceOfN(rapid.Int64Range(0, 1e12), 0, 50).Draw(t, "values")
		ps := drawPercentiles(t)
		take := func(s *GapSample, list []int64) *GapSample {
			for _, v := range list {
				if err := s.Add(gapsFrom(v)); err != nil {
					t.Fatal(err)
				}
			}
			return s
		}
		want := unordered(take(&GapSample{limit: limit}, values).Distribution(ps))
		all := &GapSample{limit: limit}
		parts := split(t, values)
		for _, part := range parts[1:] {
			all.Merge(take(&GapSample{limit: limit}, part))
		}
		if got := unordered(take(all, parts[0]).Distribution(ps)); !reflect.DeepEqual(got, want) {
			t.Fatalf("merged %+v, taken together %+v", got, want)
		}
		if exact := int64(len(values)) <= limit; want.OK && exact == (all.hist != nil) {
			t.Fatalf("%d runs, limit %d: histogram %v", len(values), limit, all.hist != nil)
		}
	})
}

// A merged sample has no order, and so no intervals; what it took from goes on alone.
func TestMergedHasNoIntervals(t *testing.T) {
	var a, b Sample
	var g, h GapSample
	for i := range int64(20_000) {
		b.Add(sim.Duration(i * 7919 % 20_000))
		if err := h.Add(&observe.Gaps{Seqs: 1, Steps: 1, First: sim.Duration(i * 7919 % 20_000)}); err != nil {
			t.Fatal(err)
		}
	}
	a.Merge(&b)
	g.Merge(&h)
	for name, d := range map[string]Distribution{"values": a.Distribution(DefaultPercentiles()), "gaps": g.Distribution(DefaultPercentiles())} {
		if d.Count != 20_000 || d.MeanInterval != (Interval{}) || d.Quantiles[0].Interval != (Interval{}) {
			t.Errorf("%s: %+v", name, d)
		}
	}
	b.Add(1e12)
	if d := b.Distribution(DefaultPercentiles()); d.Max != 1e12 || !d.MeanInterval.OK {
		t.Errorf("the part goes on as %+v", d)
	}
	if d := a.Distribution(nil); d.Count != 20_000 || d.Max != 19_999 {
		t.Errorf("and changed the whole: %+v", d)
	}
}
