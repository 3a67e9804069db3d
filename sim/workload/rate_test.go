package workload

import (
	"cmp"
	"fmt"
	"math"
	"slices"
	"strings"
	"testing"

	gocmp "github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"

	"servesim/sim"
)

func TestSplitIsAPartition(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		all := drawRequests(t, 15)
		seed, p := sim.Seed(rapid.Uint64().Draw(t, "seed")), rapid.Float64Range(0.01, 0.99).Draw(t, "p")
		side := map[int64]Part{}
		var parts [2][]Request
		for _, part := range []Part{First, Rest} {
			src, err := Split(&list{all: all}, p, seed, part)
			parts[part] = must(t, src, err)
			for _, r := range parts[part] {
				if was, known := side[r.Session]; known && was != part && r.Session != 0 {
					t.Errorf("session %d is torn", r.Session)
				}
				side[r.Session] = part
			}
			if countOf(t, src, "split: requests kept")+countOf(t, src, "split: requests left out") != int64(len(all)) {
				t.Errorf("%v of %d", CountsOf(src), len(all))
			}
		}
		union := slices.SortedStableFunc(slices.Values(slices.Concat(parts[0], parts[1])), byArrivalAndLengths)
		want := slices.SortedStableFunc(slices.Values(all), byArrivalAndLengths)
		if diff := gocmp.Diff(numbered(want), numbered(union)); diff != "" {
			t.Error(diff)
		}
	})
}

// byArrivalAndLengths orders requests whatever their numbers.
func byArrivalAndLengths(a, b Request) int {
	a.ID, b.ID = 0, 0
	if c := cmp.Compare(a.Arrival, b.Arrival); c != 0 {
		return c
	}
	return strings.Compare(fmt.Sprintf("%+v", a), fmt.Sprintf("%+v", b))
}

// steady returns n requests, one a second.
func steady(n int) []Request {
	all := make([]Request, n)
	for i := range all {
		all[i] = Request{Arrival: sim.Time(i) * sim.Time(sim.Second), Prompt: int32(i + 1), Output: 1, Line: int64(i + 2)}
	}
	return all
}

// The number that thinning keeps is binomial: at most five standard deviations
// from its mean.
func TestThinKeepsItsFraction(t *testing.T) {
	const n = 10_000
	all := steady(n)
	for _, p := range []float64{0.01, 0.1, 0.5, 0.9, 1} {
		for seed := range sim.Seed(5) {
			src, err := Thin(&list{all: all}, p, seed)
			got := float64(len(must(t, src, err)))
			if sd := math.Sqrt(n * p * (1 - p)); math.Abs(got-n*p) > 5*sd {
				t.Errorf("seed %d: kept %v of %d at %v", seed, got, n, p)
			}
		}
	}
}

func TestThinningIsNested(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		seed := sim.Seed(rapid.Uint64().Draw(t, "seed"))
		p := rapid.Float64Range(0.01, 1).Draw(t, "p")
		q := rapid.Float64Range(p, 1).Draw(t, "q")
		few, errFew := Thin(&list{all: steady(200)}, p, seed)
		many, errMany := Thin(&list{all: steady(200)}, q, seed)
		kept := map[int64]bool{}
		for _, r := range must(t, many, errMany) {
			kept[r.Line] = true
		}
		for _, r := range must(t, few, errFew) {
			if !kept[r.Line] {
				t.Errorf("line %d is kept at %v and not at %v", r.Line, p, q)
			}
		}
	})
}

// A whole multiplier keeps every request that many times, no arrival leaves the
// period, and each copy is the source turned round: its gaps are those of the
// source in another order.
func TestRateSuperposes(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		all := drawRequests(t, 8)
		for i := range all {
			all[i].Line = int64(i + 2)
		}
		k := rapid.IntRange(2, 5).Draw(t, "k")
		opened, closed := 0, 0
		open := func() (Source, error) {
			opened++
			return &list{all: all, closed: &closed}, nil
		}
		src, err := Rate(open, float64(k), sim.Seed(rapid.Uint64().Draw(t, "seed")))
		got := must(t, src, err)
		times := map[int64]int{}
		for _, r := range got {
			times[r.Line]++
		}
		period := sim.Duration(0)
		if n := len(all); n > 1 {
			span := all[n-1].Arrival.Sub(0)
			period = span + span/sim.Duration(n-1)
		}
		for _, r := range all {
			if times[r.Line] != k {
				t.Errorf("line %d comes %d times, want %d", r.Line, times[r.Line], k)
			}
		}
		if last := got[len(got)-1]; last.Arrival.Sub(0) > period {
			t.Errorf("%v is after the period %v", last.Arrival, period)
		}
		if opened > 2*k || opened != closed {
			t.Errorf("opened %d times and closed %d times", opened, closed)
		}
	})
}

// Four requests, one a second, come round every four seconds, so that a copy
// is as regular as its source wherever it is cut.
func TestCopyOfSteadySource(t *testing.T) {
	all := steady(4)
	for i := range all {
		all[i].Name = "r"
	}
	for seed := range sim.Seed(20) {
		src, err := Rate(func() (Source, error) { return &list{all: all}, nil }, 2, seed)
		var copied []sim.Time
		for _, r := range must(t, src, err) {
			if r.Name == "r~1" {
				copied = append(copied, r.Arrival)
			} else if want := all[r.Prompt-1].Arrival; r.Arrival != want {
				t.Errorf("the source itself is moved from %v to %v", want, r.Arrival)
			}
		}
		if len(copied) != 4 || copied[0] >= sim.Time(sim.Second) {
			t.Fatalf("seed %d: %v", seed, copied)
		}
		for i := 1; i < 4; i++ {
			if gap := copied[i].Sub(copied[i-1]); gap != sim.Second {
				t.Errorf("seed %d: a gap of %v in %v", seed, gap, copied)
			}
		}
	}
}

// Of 400 requests in a window of 300, 2.5 times the rate is two copies whole and
// half of a third, and each is counted.
func TestRateCounts(t *testing.T) {
	open := func() (Source, error) { return Window(&list{all: steady(400)}, 0, sim.Time(300*sim.Second)) }
	src, err := Rate(open, 2.5, 7)
	n := int64(len(must(t, src, err)))
	kept := countOf(t, src, "rate: a shifted copy thinned to 0.5: requests kept")
	want := []Count{
		{"window: requests kept", 300}, {"window: requests before it", 0}, {"window: requests read after it, where reading stops", 1},
		{"rate: requests as they are", 300}, {"rate: requests of whole copies, each shifted by a time of its own, its end moved to the beginning", 300},
		{"rate: a shifted copy thinned to 0.5: requests kept", n - 600},
		{"rate: a shifted copy thinned to 0.5: requests left out", 900 - n},
	}
	if diff := gocmp.Diff(want, CountsOf(src)); diff != "" || kept < 100 || kept > 200 {
		t.Errorf("%d kept %s", kept, diff)
	}
}

// Copies are other users: they share no session and no prefix with the source,
// but within a copy what was shared is still shared.
func TestCopiesAreOtherUsers(t *testing.T) {
	all := steady(4)
	for i := range all {
		all[i].Session, all[i].Name = int64(i%2+1), fmt.Sprint("r", i)
		all[i].Blocks, all[i].BlockTokens = []uint64{uint64(i % 2)}, 16
	}
	src, err := Merge(&list{all: all}, &list{all: all}, &list{all: all})
	got := must(t, src, err)
	bySession, byBlock, names := map[int64]int{}, map[uint64]int{}, map[string]bool{}
	for _, r := range got {
		bySession[r.Session]++
		byBlock[r.Blocks[0]]++
		names[r.Name] = true
	}
	if len(got) != 12 || len(bySession) != 6 || len(byBlock) != 6 || len(names) != 12 {
		t.Errorf("%d requests, sessions %v, blocks %v, names %v", len(got), bySession, byBlock, names)
	}
	for _, n := range bySession {
		if n != 2 {
			t.Errorf("a session has %d requests, want 2: %v", n, bySession)
		}
	}
	if byBlock[0] != 2 || byBlock[1] != 2 {
		t.Errorf("the first source's blocks are changed: %v", byBlock)
	}
}

func TestMergeIsByTimeThenSource(t *testing.T) {
	a := []Request{{Arrival: 0, Prompt: 1, Output: 1}, {Arrival: 5, Prompt: 2, Output: 1}}
	b := []Request{{Arrival: 0, Prompt: 3, Output: 1}, {Arrival: 5, Prompt: 4, Output: 1}, {Arrival: 6, Prompt: 5, Output: 1}}
	src, err := Merge(&list{all: a}, &list{all: b})
	var order []int32
	for _, r := range must(t, src, err) {
		order = append(order, r.Prompt)
	}
	if want := []int32{1, 3, 2, 4, 5}; !slices.Equal(order, want) {
		t.Errorf("order %v, want %v", order, want)
	}
	rapid.Check(t, func(t *rapid.T) {
		a, b := drawRequests(t, 6), drawRequests(t, 6)
		src, err := Merge(&list{all: a}, &list{all: b})
		if got := must(t, src, err); len(got) != len(a)+len(b) {
			t.Errorf("%d requests of %d and %d", len(got), len(a), len(b))
		}
	})
}

// Superposition keeps the mean rate times the multiplier on a real, bursty
// trace, and thinning its fraction.
func TestRateOfPublicTrace(t *testing.T) {
	open, err := Reopen(sharedTrace(t, "azure/AzureLLMInferenceTrace_code.csv"), Options{})
	if err != nil {
		t.Fatal(err)
	}
	const n, span = 8819, 3436.0
	for _, m := range []float64{0.25, 1, 2, 3.5} {
		src, err := Rate(open, m, 7)
		got := must(t, src, err)
		whole, part := math.Modf(m)
		if off, sd := math.Abs(float64(len(got))-n*m), math.Sqrt(n*part*(1-part)); off > 5*sd {
			t.Errorf("rate %v: %d requests of %d", m, len(got), n)
		}
		if last := got[len(got)-1].Arrival.Seconds(); whole >= 1 && math.Abs(last-span) > 10 {
			t.Errorf("rate %v: the last arrives at %v s", m, last)
		}
		again, err := Rate(open, m, 7)
		if diff := gocmp.Diff(got, must(t, again, err)); diff != "" {
			t.Errorf("rate %v: another run is different", m)
		}
		if err := CloseSource(src); err != nil {
			t.Error(err)
		}
	}
}
