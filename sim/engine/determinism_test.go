package engine_test

import (
	"bytes"
	"context"
	"math/rand/v2"
	"testing"

	"github.com/google/go-cmp/cmp"

	"servesim/sim"
	"servesim/sim/engine"
	"servesim/sim/observe"
	"servesim/sim/scheduler"
	"servesim/sim/workload"
)

// networked returns a run of n chat requests near capacity under preset, with
// drawn network delays and clients who give up.
func networked(t *testing.T, preset string, n int64) engine.Config {
	t.Helper()
	c := h100Config(t, preset)
	c.Source = chat(t, n, 18)
	delay := func(spec workload.DelaySpec) workload.Delay {
		d, err := spec.Delay()
		if err != nil {
			t.Fatal(err)
		}
		return d
	}
	mean := 20 * ms
	c.RequestDelay = delay(workload.DelaySpec{Dist: "exponential", Mean: &mean})
	c.ResponseDelay = delay(workload.DelaySpec{Dist: "exponential", Mean: &mean})
	c.Timeout = 15 * sim.Second
	return c
}

// written runs c and returns its records as written to a file.
func written(t *testing.T, c engine.Config) []byte {
	t.Helper()
	var b bytes.Buffer
	w, err := observe.NewWriter(&b, observe.Header{Seed: uint64(c.Seed)})
	if err != nil {
		t.Fatal(err)
	}
	c.Sink = w
	if err := engine.Run(context.Background(), c); err != nil {
		t.Fatal(err)
	}
	if err := w.Close(); err != nil {
		t.Fatal(err)
	}
	return b.Bytes()
}

func TestSameInputsSameBytes(t *testing.T) {
	for _, p := range scheduler.Presets() {
		first, second := written(t, networked(t, p.Name, 2000)), written(t, networked(t, p.Name, 2000))
		if !bytes.Equal(first, second) {
			t.Errorf("%s: two runs of one configuration wrote different records", p.Name)
		}
		if n := bytes.Count(first, []byte("\n")); n < 2000 {
			t.Errorf("%s: 2,000 requests wrote only %d lines", p.Name, n)
		}
		other := networked(t, p.Name, 2000)
		other.Seed = 2
		if bytes.Equal(first, written(t, other)) {
			t.Errorf("%s: another seed makes no difference", p.Name)
		}
	}
}

// given is what does not depend on the policy: the workload and the network.
type given struct {
	ID             int64
	Arrival        sim.Time
	Prompt, Wanted int32
	Response       sim.Duration
}

func givens(t *testing.T, k *kept) map[int64]given {
	t.Helper()
	out := map[int64]given{}
	for _, r := range k.requests {
		out[r.ID] = given{r.ID, r.Arrival, r.Prompt, r.Wanted, r.Response}
	}
	if len(out) != len(k.requests) {
		t.Errorf("%d records are of %d requests", len(k.requests), len(out))
	}
	return out
}

// TestPoliciesSeeTheSameArrivals also varies what the policies do with their
// limits and how long clients wait: none of it may reach the draws.
func TestPoliciesSeeTheSameArrivals(t *testing.T) {
	const n = 2000
	base := run(t, networked(t, "vllm@0.20", n))
	want := givens(t, base)
	if len(want) != n {
		t.Fatalf("%d of %d requests have a record", len(want), n)
	}
	sent := map[int64]sim.Time{}
	for _, r := range base.requests {
		sent[r.ID] = r.Sent
	}
	for _, p := range scheduler.Presets() {
		for what, change := range map[string]func(*engine.Config){
			"as it is":      func(*engine.Config) {},
			"short of KV":   func(c *engine.Config) { c.Scheduler.NumGPUBlocks = 3000 },
			"few slots":     func(c *engine.Config) { c.Scheduler.MaxNumSeqs = 20 },
			"impatient":     func(c *engine.Config) { c.Timeout = sim.Second },
			"no way back":   func(c *engine.Config) { c.ResponseDelay = workload.ConstantDelay(0) },
			"other weights": func(c *engine.Config) { c.Cost = plainCost{} },
		} {
			c := networked(t, p.Name, n)
			change(&c)
			if c.Scheduler.ReservesModelLen() {
				c.Scheduler.MaxModelLen = 32768 // for which 3,000 blocks are enough
			}
			k := run(t, c)
			got := givens(t, k)
			if what == "no way back" {
				for id, g := range got {
					g.Response = want[id].Response
					got[id] = g
				}
			}
			if diff := cmp.Diff(want, got); diff != "" {
				t.Errorf("%s, %s: other arrivals:\n%s", p.Name, what, diff)
			}
			for _, r := range k.requests {
				if r.Sent != sent[r.ID] {
					t.Errorf("%s, %s: request %d is sent at %v, not %v", p.Name, what, r.ID, r.Sent, sent[r.ID])
					break
				}
			}
		}
	}
}

// TestDelaysAreByRequest: each request draws from members of its own, by its
// ID, whoever came before it or gave up.
func TestDelaysAreByRequest(t *testing.T) {
	c := networked(t, "vllm@0.20", 500)
	k := run(t, c)
	var src rand.PCG
	for _, r := range k.requests {
		c.Seed.Family("network.request").Reset(&src, uint64(r.ID))
		if want := c.RequestDelay.Draw(&src); r.Sent.Sub(r.Arrival) != want {
			t.Errorf("request %d is on its way for %v; want %v", r.ID, r.Sent.Sub(r.Arrival), want)
		}
		c.Seed.Family("network.response").Reset(&src, uint64(r.ID))
		if want := c.ResponseDelay.Draw(&src); r.Response != want {
			t.Errorf("the answer to request %d takes %v; want %v", r.ID, r.Response, want)
		}
	}
}

// TestEndsInOrder: records of requests come in order of End, steps in order of
// Start, and none overlap.
func TestEndsInOrder(t *testing.T) {
	for _, p := range scheduler.Presets() {
		k := run(t, networked(t, p.Name, 3000))
		for i := 1; i < len(k.requests); i++ {
			if a, b := &k.requests[i-1], &k.requests[i]; b.End < a.End {
				t.Fatalf("%s: request %d ends at %v, recorded behind request %d, which ends at %v", p.Name, b.ID, b.End, a.ID, a.End)
			}
		}
		for i := 1; i < len(k.runs); i++ {
			if a, b := &k.runs[i-1], &k.runs[i]; b.Start < a.Start.Add(a.Duration()) {
				t.Fatalf("%s: steps begin at %v, before those that began at %v are over", p.Name, b.Start, a.Start)
			}
		}
	}
}

// users is a closed loop of users who call again a second after each answer.
type users struct {
	waiting, left int64
	next          int64
	ends          map[int64]sim.Time // what Done was told
}

func (u *users) request(at sim.Time) workload.Request {
	u.next++
	return workload.Request{ID: u.next - 1, Arrival: at, Prompt: 20, Output: 4}
}

func (u *users) Next() (workload.Request, error) {
	if u.next == u.waiting {
		return (&list{}).Next()
	}
	return u.request(0), nil
}

func (u *users) Done(id int64, t sim.Time) (workload.Request, bool) {
	u.ends[id] = t
	if u.left == 0 {
		return workload.Request{}, false
	}
	u.left--
	return u.request(t.Add(sim.Second)), true
}

// TestClosedLoop: each end is told to the source when the client sees it, and
// what that releases runs.
func TestClosedLoop(t *testing.T) {
	u := &users{waiting: 2, left: 3, ends: map[int64]sim.Time{}}
	c := small(t, "vllm@0.20", u)
	c.ResponseDelay = workload.ConstantDelay(7 * ms)
	k := run(t, c)
	if len(k.requests) != 5 || len(u.ends) != 5 {
		t.Fatalf("%d requests have a record and %d ends were told; want 5", len(k.requests), len(u.ends))
	}
	for _, r := range k.requests {
		if u.ends[r.ID] != r.End.Add(7*ms) {
			t.Errorf("request %d ends at %v; the source was told %v", r.ID, r.End, u.ends[r.ID])
		}
	}
	// Both prompts take 50 ms, three more tokens 30: the answers are there at 87 ms.
	if got := k.byID(t, 2).Arrival; got != at(1087) {
		t.Errorf("the third call is made at %v; want 1.087s", got)
	}
}
