package workload

import (
	"fmt"
	"slices"
	"testing"

	gocmp "github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"

	"servesim/sim"
)

// drawnSpec describes a small open loop in which every stream is drawn from.
func drawnSpec() Spec {
	uniform := func(most int64) *LengthSpec {
		return &LengthSpec{Dist: "uniform", Min: pointer(int64(1)), Max: pointer(most)}
	}
	return Spec{
		Requests: pointer(int64(40)), Prompt: uniform(100_000), Output: uniform(5_000),
		Arrival: &ArrivalSpec{Process: "poisson", RatePerS: pointer(3.0)},
		Classes: []ClassSpec{{Name: "a", Weight: pointer(1.0)}, {Name: "b", Weight: pointer(1.0)}},
		Cancel:  &CancelSpec{Fraction: pointer(0.5), After: &DelaySpec{Dist: "uniform", Min: pointer(sim.Second), Max: pointer(sim.Minute)}},
	}
}

// streams returns what of a request each stream of drawnSpec is seen in.
func streams() map[string]func(Request) int64 {
	return map[string]func(Request) int64{
		"arrivals":            func(r Request) int64 { return int64(r.Arrival) },
		"prompts":             func(r Request) int64 { return int64(r.Prompt) },
		"outputs":             func(r Request) int64 { return int64(r.Output) },
		"times of cancelling": func(r Request) int64 { return int64(r.Cancel) },
		"choices to cancel":   func(r Request) int64 { return min(int64(r.Cancel), 1) },
	}
}

// TestMergedCounts by hand: of 3 and 2 requests, a limit of 3 leaves the first
// source 2, as it has one before the other begins.
func TestMergedCounts(t *testing.T) {
	a := []Request{{Arrival: 0, Prompt: 1, Output: 1}, {Arrival: 5, Prompt: 2, Output: 1}, {Arrival: 7, Prompt: 3, Output: 1}}
	b := []Request{{Arrival: 2, Prompt: 4, Output: 1}, {Arrival: 6, Prompt: 5, Output: 1}}
	src, err := MergeNamed(NamedSource{&list{all: a}, "a"}, NamedSource{&list{all: b}, ""}, NamedSource{&list{all: b[1:]}, "c"})
	if err != nil {
		t.Fatal(err)
	}
	limited, err := Limit(src, 3)
	must(t, limited, err)
	want := []Count{{"merge: requests of a", 2}, {"merge: requests of c", 0}, {"limit: requests kept, of at most 3", 3}}
	if diff := gocmp.Diff(want, CountsOf(limited)); diff != "" {
		t.Error(diff)
	}
	if _, err := src.Next(); err != nil {
		t.Fatal(err)
	}
	if diff := gocmp.Diff([]Count{{"merge: requests of a", 2}, {"merge: requests of c", 0}}, CountsOf(src)); diff != "" {
		t.Error("the fourth is of the source without a name: ", diff)
	}
}

// TestMergedCountsAddUp holds that every request of a merge is counted once, as
// its own source's.
func TestMergedCountsAddUp(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		var srcs []NamedSource
		var want []Count
		total := int64(0)
		for i := range rapid.IntRange(1, 4).Draw(t, "sources") {
			all := drawRequests(t, 6)
			name := fmt.Sprint("source ", i)
			srcs = append(srcs, NamedSource{&list{all: all}, name})
			want = append(want, Count{"merge: requests of " + name, int64(len(all))})
			total += int64(len(all))
		}
		src, err := MergeNamed(srcs...)
		if n := int64(len(must(t, src, err))); n != total {
			t.Errorf("%d requests, want %d", n, total)
		}
		if diff := gocmp.Diff(want, CountsOf(src)); diff != "" {
			t.Error(diff)
		}
	})
}

// TestLabelledDrawsStandAlone holds that what a merged workload draws is what it
// draws alone, whatever is merged with it, and that no two of one description
// share a draw.
func TestLabelledDrawsStandAlone(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		seed := sim.Seed(rapid.Uint64().Draw(t, "seed"))
		labels := []string{"", "a ", "b "}
		var srcs []Source
		var alone [][]Request
		for i, label := range labels[:rapid.IntRange(2, 3).Draw(t, "sources")] {
			class := fmt.Sprint(i)
			src, err := drawnSpec().SourceOf(seed, label)
			alone = append(alone, must(t, Label(src, class), err))
			src, err = drawnSpec().SourceOf(seed, label)
			if err != nil {
				t.Fatal(err)
			}
			srcs = append(srcs, Label(src, class))
		}
		src, err := Merge(srcs...)
		all := must(t, src, err)
		for i, want := range alone {
			got := slices.Clone(all)
			got = slices.DeleteFunc(got, func(r Request) bool { return r.Class != fmt.Sprint(i) })
			for k := range got {
				got[k].ID = int64(k)
			}
			if diff := gocmp.Diff(want, got); diff != "" {
				t.Errorf("source %d: %s", i, diff)
			}
			for _, other := range alone[:i] {
				for name, draw := range streams() {
					if slices.EqualFunc(want, other, func(a, b Request) bool { return draw(a) == draw(b) }) {
						t.Errorf("source %d has the %s of another", i, name)
					}
				}
			}
		}
	})
}

// TestLabelOfNothingIsSource holds that a workload without a label draws what
// Source draws, open loop or closed, and one with a label doesn't.
func TestLabelOfNothingIsSource(t *testing.T) {
	loop := drawnSpec()
	loop.Arrival, loop.ClosedLoop = nil, &ClosedLoopSpec{Users: pointer(int64(9))}
	for name, s := range map[string]Spec{"open": drawnSpec(), "closed": loop} {
		first := func(src Source, err error) (list []Request) {
			for range 9 {
				if err != nil {
					t.Fatal(err)
				}
				var r Request
				r, err = src.Next()
				list = append(list, r)
			}
			return list
		}
		plain := first(s.Source(5))
		if diff := gocmp.Diff(plain, first(s.SourceOf(5, ""))); diff != "" {
			t.Errorf("%s: %s", name, diff)
		}
		if gocmp.Equal(plain, first(s.SourceOf(5, "a "))) {
			t.Errorf("%s: a label changes nothing", name)
		}
	}
}
