package analysis

import (
	"math/rand/v2"
	"reflect"
	"testing"

	"servesim/sim"
	"servesim/sim/observe"

	"pgregory.net/rapid"
)

// mserOf takes requests with TTFTs, in ms, and one token each.
func mserOf(t *testing.T, n int64, ttft func(i int64) int64) *MSER {
	t.Helper()
	m := new(MSER)
	for i := range n {
		if err := m.Request(request(i, [5]int64{i, 0, 0, ttft(i), 0}, 1)); err != nil {
			t.Fatal(err)
		}
	}
	return m
}

// Levels that are 100 at first and then alternate about 10 are cut where they fall, to the batch.
func TestMSERByHand(t *testing.T) {
	level := func(first int64) func(i int64) int64 {
		return func(i int64) int64 {
			if i < first {
				return 100
			}
			return 9 + i/5%2*2
		}
	}
	for first, want := range map[int64]int64{0: 0, 5: 5, 20: 20, 23: 25, 400: 400} {
		if got, ok := mserOf(t, 1000, level(first)).Cut(); !ok || got != want {
			t.Errorf("%d slow requests: cut at %d (%v), want %d", first, got, ok, want)
		}
	}
	for name, m := range map[string]*MSER{
		"slow for 3/5":  mserOf(t, 1000, level(600)),
		"growing":       mserOf(t, 1000, func(i int64) int64 { return i * i }),
		"99 requests":   mserOf(t, 99, level(0)),
		"no completion": new(MSER),
	} {
		if got, ok := m.Cut(); ok {
			t.Errorf("%s: cut at %d; want none", name, got)
		}
	}
	if got, ok := mserOf(t, 40_000, level(10_000)).Cut(); !ok || got != 10_000 { // batches of 20
		t.Errorf("10,000 slow requests of 40,000: cut at %d, %v", got, ok)
	}
}

// The order of the records says nothing.
func TestMSERInAnyOrder(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		src := rand.New(rand.NewPCG(rapid.Uint64().Draw(t, "seed"), 0))
		n := rapid.Int64Range(0, 300).Draw(t, "n") * rapid.SampledFrom([]int64{1, 100}).Draw(t, "times")
		var a, b MSER
		for _, i := range src.Perm(int(n)) {
			r := request(int64(i), [5]int64{int64(i), 0, 0, int64(i*7919%1000) + 1, int64(i % 13)}, int32(1+i%3))
			if err := a.Request(r); err != nil {
				t.Fatal(err)
			}
		}
		for i := range n {
			r := request(i, [5]int64{i, 0, 0, i*7919%1000 + 1, i % 13}, int32(1+i%3))
			if err := b.Request(r); err != nil {
				t.Fatal(err)
			}
		}
		cutA, okA := a.Cut()
		cutB, okB := b.Cut()
		if cutA != cutB || okA != okB || cutA < 0 || 2*cutA > n+10 {
			t.Fatalf("cut at %d (%v) and %d (%v) of %d", cutA, okA, cutB, okB, n)
		}
	})
}

// A queue that begins with 300 requests at once, 40 % loaded, forgets them.
func TestMSEROfAQueue(t *testing.T) {
	for seed := range uint64(20) {
		src := rand.New(rand.NewPCG(seed, 3))
		arrivals := append(make([]float64, 300), poisson(src, 10_000)...)
		m := new(MSER)
		serveAll(t, m, arrivals, func() float64 { return -0.4 * logOf(src) })
		if got, ok := m.Cut(); !ok || got < 300 || got > 1500 {
			t.Errorf("seed %d: cut at %d, %v", seed, got, ok)
		}
	}
}

// A cut and what it leaves out are all of a run, and what a Summary says after it is
// what it would say of these records alone.
func TestACutDivides(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		n := rapid.Int64Range(0, 50).Draw(t, "n")
		whole, alone := NewSummary(Options{}), NewSummary(Options{})
		c := &Cut{First: rapid.Int64Range(0, 20).Draw(t, "first"), From: sim.Time(rapid.Int64Range(0, 30).Draw(t, "from")) * sim.Time(ms), To: whole}
		left, steps := int64(0), int64(0)
		check := func(err error) {
			if err != nil {
				t.Fatal(err)
			}
		}
		for i := range n {
			r := request(i, [5]int64{i, 1, 2, 3, 4}, 2)
			s := &observe.StepRun{Serial: i, Start: sim.Time(i) * sim.Time(ms), Steps: 1 + i%3, First: 5}
			check(c.Request(r))
			check(c.Step(s))
			if i < c.First || sim.Time(i)*sim.Time(ms) < c.From {
				left++
			} else {
				check(alone.Request(r))
			}
			if s.Start < c.From {
				steps += s.Steps
			} else {
				check(alone.Step(s))
			}
		}
		if a, b := c.LeftOut(); a != left || b != steps {
			t.Fatalf("%d requests and %d steps left out; want %d and %d", a, b, left, steps)
		}
		a, b := whole.Report(), alone.Report()
		if a.Counts.Requests != n-left || !reflect.DeepEqual(a.TTFT, b.TTFT) || a.Start != b.Start || a.Span != b.Span || a.Engine.Steps != b.Engine.Steps {
			t.Fatalf("%+v, alone %+v", a, b)
		}
	})
}
