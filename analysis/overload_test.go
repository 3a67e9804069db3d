package analysis

import (
	"math/rand/v2"
	"strings"
	"testing"

	"servesim/sim"
	"servesim/sim/observe"
)

// queued is requests at arrivals in seconds, served one at a time for the times
// that serve draws, in seconds: the recursion of Lindley (1952).
func queued(t *testing.T, arrivals []float64, serve func() float64) *Summary {
	t.Helper()
	s, free := NewSummary(Options{}), 0.0
	at := func(seconds float64) sim.Time { return sim.Time(seconds * 1e12) }
	for i, a := range arrivals {
		begin := max(a, free)
		free = begin + serve()
		r := &observe.Request{ID: int64(i), Arrival: at(a), Sent: at(a), Scheduled: at(begin), First: at(free), Last: at(free), End: at(free), Prompt: 1, Wanted: 1, Output: 1}
		if err := s.Request(r); err != nil {
			t.Fatal(err)
		}
	}
	return s
}

// overloaded tells whether s warns of overload.
func overloaded(s *Summary) bool {
	for _, w := range s.Report().Warnings {
		if w.Kind == Overload {
			return true
		}
	}
	return false
}

// poisson returns n arrivals at one a second.
func poisson(src *rand.Rand, n int) []float64 {
	list, at := make([]float64, n), 0.0
	for i := range list {
		list[i] = at
		at -= logOf(src)
	}
	return list
}

// logOf returns the logarithm of a uniform draw: minus an exponential one.
func logOf(src *rand.Rand) float64 { return -src.ExpFloat64() }

// A queue with exponential service is stable below capacity, however long it is
// watched, and grows above it. A false alarm at 80 % would need a wait that one in
// thousands has; 20 seeds of each length see none.
func TestOverloadOfAQueue(t *testing.T) {
	for _, c := range []struct {
		load float64
		n    int
		want bool
	}{{0.5, 400, false}, {0.8, 400, false}, {0.8, 2000, false}, {0.8, 20_000, false}, {1.1, 10_000, true}, {1.1, 30_000, true}, {2, 200, true}, {50, 1000, true}, {5000, 1000, true}} {
		for seed := range uint64(20) {
			src := rand.New(rand.NewPCG(seed, uint64(c.n)))
			s := queued(t, poisson(src, c.n), func() float64 { return -c.load * logOf(src) })
			if got := overloaded(s); got != c.want {
				t.Errorf("load %v, %d requests, seed %d: overload %v, want %v", c.load, c.n, seed, got, c.want)
			}
		}
	}
}

// A burst that is over before the arrivals are isn't an overload, wherever it is;
// nor is a few requests, a batch that arrives at once, or constant waits.
func TestNoOverload(t *testing.T) {
	half := func() float64 { return 0.5 }
	steady := func(n int) []float64 {
		list := make([]float64, n)
		for i := range list {
			list[i] = float64(i)
		}
		return list
	}
	for at := 0; at <= 700; at += 100 {
		burst := steady(1000)
		for i := range 200 { // it takes 100 s to serve, and arrivals leave half of each second
			burst[at+i] = float64(at)
		}
		if overloaded(queued(t, burst, half)) {
			t.Errorf("a burst at %d s that drains is called an overload", at)
		}
	}
	for name, s := range map[string]*Summary{
		"ten requests":     queued(t, steady(10), func() float64 { return 5 }),
		"99 requests":      queued(t, steady(99), func() float64 { return 5 }),
		"all at once":      queued(t, make([]float64, 5000), half),
		"exactly capacity": queued(t, steady(5000), func() float64 { return 1 }),
		"nothing":          NewSummary(Options{}),
	} {
		if overloaded(s) {
			t.Errorf("%s: called an overload", name)
		}
	}
}

// One request a second and 2 s of work each: whoever arrives at t waits t.
func TestOverloadByHand(t *testing.T) {
	arrivals := make([]float64, 1000)
	for i := range arrivals {
		arrivals[i] = float64(i)
	}
	s := queued(t, arrivals, func() float64 { return 2 })
	const want = "overload: the queue grew as long as requests arrived: the last tenth of them waited 950 s in the mean, no tenth of the first half more than 450 s; "
	for _, w := range s.Report().Warnings {
		if w.Kind == Overload && strings.HasPrefix(w.Text, want) {
			return
		}
	}
	t.Errorf("warnings %v; want %s", s.Report().Warnings, want)
}

// A run that ends with its arrivals leaves the last ones waiting for an unknown
// time; those that were served tell of the overload.
func TestOverloadOfARunCutShort(t *testing.T) {
	s := NewSummary(Options{})
	for i := range int64(1000) {
		r := request(i, [5]int64{1000 * i, 0, 1000 * i, 1, 1}, 2)
		if r.End > 1000*1000*ms {
			r.Outcome, r.Scheduled, r.First, r.Last, r.End = observe.Unfinished, observe.Never, observe.Never, observe.Never, 1000*1000*ms
		}
		if err := s.Request(r); err != nil {
			t.Fatal(err)
		}
	}
	if !overloaded(s) {
		t.Error("half of the requests never began, and no overload is seen")
	}
}
