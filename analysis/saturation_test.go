package analysis

import (
	"math"
	"math/rand/v2"
	"strings"
	"testing"

	"servesim/sim"
	"servesim/sim/observe"

	"pgregory.net/rapid"
)

// queued is requests at arrivals in seconds, served one at a time for the times
// that serve draws, in seconds: the recursion of Lindley (1952).
func queued(t *testing.T, arrivals []float64, serve func() float64) *Summary {
	t.Helper()
	s := NewSummary(Options{})
	serveAll(t, s, arrivals, serve)
	return s
}

// serveAll hands the records of such a queue to s.
func serveAll(t *testing.T, s observe.Sink, arrivals []float64, serve func() float64) {
	t.Helper()
	free := 0.0
	at := func(seconds float64) sim.Time { return sim.Time(seconds * 1e12) }
	for i, a := range arrivals {
		begin := max(a, free)
		free = begin + serve()
		r := &observe.Request{ID: int64(i), Arrival: at(a), Sent: at(a), Scheduled: at(begin), First: at(free), Last: at(free), End: at(free), Prompt: 1, Wanted: 1, Output: 1}
		if err := s.Request(r); err != nil {
			t.Fatal(err)
		}
	}
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
		if s := queued(t, burst, half).Report().Saturation; s.State != Backlogged || s.Queue.Peak < 190 || s.Queue.Last > 1 {
			t.Errorf("a burst at %d s that drains is called %+v", at, s)
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
	r := queued(t, arrivals, func() float64 { return 2 }).Report()
	s := r.Saturation
	near := func(got, want float64) bool { return math.Abs(got-want) < 0.005 }
	if s.State != Overloaded || !near(s.ArrivalRate, 1) || !near(s.CompletionRate, 0.5) || !near(s.Queue.Growth, 0.5) ||
		s.Queue.Last != 500 || s.Queue.Peak != 500 || s.Half.Seconds() != 499.5 || s.Queue.Lo > 0.5 || s.Queue.Hi < 0.5 {
		t.Errorf("%+v", s)
	}
	const want = "overload: in the last half of the arrivals 1 requests/s came and 0.501/s completed; the queue grew by 0.5 a second (95 % interval "
	if w := r.Warnings[0]; w.Kind != Overload || !w.First() || !strings.HasPrefix(w.Text, want) || !strings.HasSuffix(w.Text, "), to 500; latencies depend on how long the run was, and have no intervals") {
		t.Errorf("first warning %v; want %s", w, want)
	}
}

// No figure of an overloaded run has an interval, and each says why.
func TestOverloadWithholdsIntervals(t *testing.T) {
	slo, err := ParseSLO("e2e <= 1s, e2e p50 <= 1s, goodput >= 10%")
	if err != nil {
		t.Fatal(err)
	}
	for load, withheld := range map[float64]bool{0.5: false, 2: true} {
		src := rand.New(rand.NewPCG(1, 1))
		s := NewSummary(Options{SLO: slo})
		serveAll(t, s, poisson(src, 20_000), func() float64 { return -load * logOf(src) })
		r := s.Report()
		list := []Evidence{r.Goodput.Interval.Evidence, r.Verdicts[0].Value.Interval.Evidence, r.Verdicts[1].ShareInterval.Evidence}
		for _, m := range []Distribution{r.TTFT, r.E2E, r.Queue} {
			list = append(list, m.MeanInterval.Evidence, m.Quantiles[0].Interval.Evidence)
		}
		for i, e := range list {
			if e.OK == withheld || (e.Why() == "no interval: the run is overloaded") != withheld {
				t.Errorf("load %v, number %d: %+v", load, i, e)
			}
		}
	}
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

// Below capacity a queue is stable, and above it is overloaded, given long enough;
// just at it, chance decides, and calls it overloaded in no more than the 5 % of
// runs that an interval misses. Of 100 seeds 12 or more is rarer than 1 in 200.
func TestSaturationOfAQueue(t *testing.T) {
	for _, c := range []struct {
		load          float64
		n             int
		state         SaturationState
		least, atMost int
	}{{0.5, 10_000, Stable, 100, 100}, {0.9, 10_000, Stable, 97, 100}, {1, 10_000, Overloaded, 0, 11}, {1.1, 10_000, Overloaded, 97, 100}} {
		found := 0
		for seed := range uint64(100) {
			src := rand.New(rand.NewPCG(seed, 2))
			if queued(t, poisson(src, c.n), func() float64 { return -c.load * logOf(src) }).saturation.report().State == c.state {
				found++
			}
		}
		if found < c.least || found > c.atMost {
			t.Errorf("load %v: %d of 100 runs are %s, want %d to %d", c.load, found, c.state, c.least, c.atMost)
		}
	}
}

// A burst that is still there when the last request comes, and one that is all.
func TestBacklogged(t *testing.T) {
	late := make([]float64, 1000)
	for i := range late {
		late[i] = float64(min(i, 880))
	}
	for name, arrivals := range map[string][]float64{"late burst": late, "all at once": make([]float64, 1000)} {
		r := queued(t, arrivals, func() float64 { return 0.5 }).Report()
		s := r.Saturation
		if s.State != Backlogged || s.Queue.Peak < 100 || s.Queue.Last < 100 || r.Warnings[0].Kind != Backlog || !strings.Contains(r.Warnings[0].Text, "still did when the last one came") {
			t.Errorf("%s: %+v, %v", name, s, r.Warnings)
		}
	}
}

// Where nobody waits, but most answers take longer than requests come, the number
// in the engine still grows.
func TestUnsettled(t *testing.T) {
	for seconds, want := range map[int64]SaturationState{100: Stable, 950: Unsettled} {
		s := NewSummary(Options{})
		for i := range int64(1000) {
			if err := s.Request(request(i, [5]int64{1000 * i, 0, 0, 1, 1000 * seconds}, 2)); err != nil {
				t.Fatal(err)
			}
		}
		r := s.Report()
		if r.Saturation.State != want || (r.E2E.MeanInterval.Withheld != "") != (want == Unsettled) {
			t.Errorf("answers of %d s: %+v, %v", seconds, r.Saturation, r.E2E.MeanInterval)
		}
	}
}

// What is said doesn't depend on the order of the records.
func TestSaturationInAnyOrder(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		n := rapid.IntRange(1, 300).Draw(t, "n")
		longest := rapid.SampledFrom([]int64{10, 1e6, 1e12, 1e17}).Draw(t, "longest")
		list := make([]*observe.Request, n)
		for i := range list {
			span := rapid.Int64Range(0, longest)
			sent := sim.Time(span.Draw(t, "sent"))
			begun := sent.Add(sim.Duration(span.Draw(t, "wait")))
			end := begun.Add(sim.Duration(span.Draw(t, "served")))
			list[i] = &observe.Request{Sent: sent, Scheduled: begun, End: end, Outcome: rapid.SampledFrom(observe.Outcomes()).Draw(t, "outcome")}
		}
		var a, b saturation
		for _, r := range list {
			a.request(r)
		}
		for _, r := range rapid.Permutation(list).Draw(t, "order") {
			b.request(r)
		}
		if x, y := a.report(), b.report(); !sameSaturation(x, y) {
			t.Fatalf("%+v and in another order %+v", x, y)
		}
		if q := a.report().Queue; q.Peak > int64(n) || q.Last > q.Peak || q.Last < 0 {
			t.Fatalf("queue %+v of %d requests", q, n)
		}
	})
}

// sameSaturation compares two of them; what has no value equals itself.
func sameSaturation(x, y Saturation) bool {
	for _, s := range []*Saturation{&x, &y} {
		if s.Half == 0 {
			s.ArrivalRate, s.CompletionRate = 0, 0
			for _, t := range []*Trend{&s.Queue, &s.Present} {
				t.Growth, t.Lo, t.Hi = 0, 0, 0
			}
		}
	}
	return x == y
}
