package explain

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"testing"

	"pgregory.net/rapid"

	"servesim/analysis/blame"
	"servesim/scenario"
	"servesim/sim"
	"servesim/sim/observe"
)

// TestEventsAreTheWholeLife holds, for drawn scenarios, that the events of a life
// follow each other without gaps, that they sum to TTFT and E2E to the picosecond, in
// each cause, and that what prompts cost is all charged to named ones.
func TestEventsAreTheWholeLife(t *testing.T) {
	rapid.Check(t, func(r *rapid.T) {
		policy := rapid.SampledFrom([]string{"vllm@0.20", "vllm@0.8-v0", "vllm@0.11"}).Draw(r, "policy")
		src := source(t, "requests=100", fmt.Sprintf("seed=%d", rapid.IntRange(1, 1000).Draw(r, "seed")),
			fmt.Sprintf("rate_per_s=%d", rapid.SampledFrom([]int{4, 30}).Draw(r, "rate")), "policy="+policy,
			fmt.Sprintf("num_gpu_blocks_override=%d", rapid.SampledFrom([]int{2500, 20000}).Draw(r, "blocks")))
		src = with(src, setting("engine.enable_chunked_prefill", fmt.Sprint(rapid.Bool().Draw(r, "chunked"))))
		lives, err := Tell(context.Background(), src, Choice{Requests: []int64{3, 50}, Worst: Orders(), Number: 3}, Work{})
		if err != nil {
			t.Fatal(err)
		}
		if len(lives.List) < 5 {
			r.Fatalf("%d lives", len(lives.List))
		}
		for i := range lives.List {
			holds(r, &lives.List[i])
		}
	})
}

// holds checks the sums of a life.
func holds(t *rapid.T, l *Life) {
	q := &l.Request
	var first, rest blame.Parts
	at := sim.Duration(0)
	for i := range l.Events {
		e := &l.Events[i]
		if e.After != at || e.Lasts <= 0 || e.Parts.Sum() != e.Lasts {
			t.Fatalf("request %d: event %d, %q, begins %v after the arrival and lasts %v of parts %v; the one before ended at %v", q.ID, i, e.text(q.ID), e.After, e.Lasts, e.Parts.Sum(), at)
		}
		at += e.Lasts
		into := &first
		if e.First {
			into = &rest
		}
		for c, d := range e.Parts {
			into[c] += d
		}
		if strings.Contains(e.text(q.ID), "unknown") || e.text(q.ID) == "" {
			t.Fatalf("request %d: event %d is told as %q", q.ID, i, e.text(q.ID))
		}
	}
	if first != l.ToFirst || rest != l.AfterFirst {
		t.Fatalf("request %d: events sum to %v and %v by cause, its latency to %v and %v", q.ID, first, rest, l.ToFirst, l.AfterFirst)
	}
	if q.Outcome == observe.Completed && (first.Sum() != q.First.Sub(q.Arrival) || at != q.Last.Sub(q.Arrival)+q.Response) {
		t.Fatalf("request %d: %v to the first token, %v in all", q.ID, first.Sum(), at)
	}
	var named, culprits sim.Duration
	for c := range blame.Cause(blame.Causes) {
		if c.Named() {
			named += first[c] + rest[c]
		}
	}
	for _, c := range l.Culprits {
		culprits += c.Time
	}
	if named != culprits {
		t.Fatalf("request %d: prompts cost it %v, those that are named %v", q.ID, named, culprits)
	}
}

// TestWorstAreTheWorst holds that the slowest are told, the slowest first, and what
// was asked for by ID before them.
func TestWorstAreTheWorst(t *testing.T) {
	src := source(t)
	for _, by := range Orders() {
		var values []sim.Duration
		var mine []sim.Duration
		p, err := scenario.Load(src)
		if err != nil {
			t.Fatal(err)
		}
		seen := &every{by: by}
		if _, err := p.Simulate(t.Context(), scenario.Options{Sinks: []observe.Sink{seen}}); err != nil {
			t.Fatal(err)
		}
		values = seen.values
		slices.Sort(values)
		slices.Reverse(values)
		l, err := Tell(t.Context(), src, Choice{Worst: []string{by}, Number: 4}, Work{})
		if err != nil {
			t.Fatal(err)
		}
		for i := range l.List {
			d, _ := slowness(&l.List[i].Request, by)
			mine = append(mine, d)
		}
		if !slices.Equal(mine, values[:4]) {
			t.Errorf("%s: %v are told, the worst are %v", by, mine, values[:4])
		}
	}
	l, err := Tell(t.Context(), src, Choice{Requests: []int64{9, 2, 9}}, Work{})
	if err != nil || len(l.List) != 2 || l.List[0].Request.ID != 9 || l.List[1].Request.ID != 2 {
		t.Error(l, err)
	}
}

// every keeps what the slowest are found by, of all requests.
type every struct {
	by     string
	values []sim.Duration
}

func (e *every) Step(*observe.StepRun) error { return nil }

func (e *every) Request(r *observe.Request) error {
	if d, ok := slowness(r, e.by); ok {
		e.values = append(e.values, d)
	}
	return nil
}

// TestWarmUpHasNoWorst holds that the slowest are found among those that figures are
// of, and that any request can be named.
func TestWarmUpHasNoWorst(t *testing.T) {
	src := source(t, "run.warmup=20s")
	l, err := Tell(t.Context(), src, Choice{Requests: []int64{0}, Worst: Orders(), Number: 5}, Work{})
	if err != nil {
		t.Fatal(err)
	}
	for i := range l.List {
		r := &l.List[i].Request
		if early := r.Arrival < sim.Time(20*sim.Second); early != (r.ID == 0) {
			t.Errorf("request %d arrives at %v", r.ID, r.Arrival)
		}
	}
	if len(l.List) < 6 {
		t.Errorf("%d lives are told", len(l.List))
	}
}

func TestLivesGolden(t *testing.T) {
	src := source(t, "requests=200", "rate_per_s=20", "policy=vllm@0.8-v0", "num_gpu_blocks_override=2500")
	l, err := Tell(t.Context(), src, Choice{Requests: []int64{17}, Worst: []string{"ttft", "itl"}, Number: 1}, Work{})
	if err != nil {
		t.Fatal(err)
	}
	golden(t, "lives.txt", written(t, l.Write))
}

func TestExactly(t *testing.T) {
	for want, d := range map[string]sim.Duration{"0": 0, "1.5": 1_500_000_000, "0.000000001": 1, "-2.000000003": -2_000_000_003, "10": 10 * sim.Millisecond} {
		if got := exactly(d); got != want {
			t.Errorf("%d ps: %s, want %s", d, got, want)
		}
	}
}
