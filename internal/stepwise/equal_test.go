package stepwise

import (
	"context"
	"fmt"
	"io"
	"sort"
	"testing"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"

	"servesim/sim"
	"servesim/sim/engine"
	"servesim/sim/gpu"
	"servesim/sim/observe"
	"servesim/sim/scheduler"
	"servesim/sim/workload"
)

// list is a Source of given requests.
type list struct {
	requests []workload.Request
	next     int
}

func (l *list) Next() (workload.Request, error) {
	if l.next == len(l.requests) {
		return workload.Request{}, io.EOF
	}
	l.next++
	return l.requests[l.next-1], nil
}

// loop is a closed loop: each end releases the next of requests after think.
type loop struct {
	list
	users int
	think sim.Duration
}

func (l *loop) Next() (workload.Request, error) {
	if l.next == min(l.users, len(l.requests)) {
		return workload.Request{}, io.EOF
	}
	l.next++
	r := l.requests[l.next-1]
	r.Arrival = 0
	return r, nil
}

func (l *loop) Done(_ int64, t sim.Time) (workload.Request, bool) {
	if l.next == len(l.requests) {
		return workload.Request{}, false
	}
	l.next++
	r := l.requests[l.next-1]
	r.Arrival = t.Add(l.think)
	return r, true
}

// pieces is a cost model with several pieces: a floor that does not depend on
// the context, and a line above it that changes slope at a knee.
type pieces struct {
	floor, base, perSeq, perKV, perToken, perPair sim.Duration
	knee                                          int64 // context tokens a sequence
}

func (c pieces) Step(w gpu.Work) sim.Duration {
	d := c.base + c.perSeq*sim.Duration(w.DecodeSeqs+w.PrefillSeqs+w.Samples) + c.perToken*sim.Duration(w.PrefillTokens) +
		c.perPair*sim.Duration(w.PrefillPairs) + c.perKV*sim.Duration(min(w.DecodeKV, c.knee*w.DecodeSeqs))
	return max(c.floor, d)
}

func (c pieces) Decode(seqs, kv int64) gpu.Progression {
	at := func(i int64) sim.Duration {
		return c.Step(gpu.Work{DecodeSeqs: seqs, DecodeKV: kv + i*seqs, Samples: seqs})
	}
	p := gpu.Progression{First: at(0), Inc: at(1) - at(0), Steps: 1}
	// The longest prefix that is arithmetic, found the plain way.
	for p.Steps < 64 && at(p.Steps) == p.First+p.Inc*sim.Duration(p.Steps) {
		p.Steps++
	}
	if p.Steps == 1 {
		p.Inc = 0
	}
	return p
}

// compare runs c through both engines and returns how their records differ.
func compare(newConfig func() engine.Config) (fast *recorder, diff string) {
	fast, slow := &recorder{Peaks: map[place]int64{}}, &recorder{Peaks: map[place]int64{}}
	c := newConfig()
	c.Sink, c.Detail, c.Drill.Told = fast, true, fast.change
	if err := engine.Run(context.Background(), c); err != nil {
		return fast, "fast: " + err.Error()
	}
	c = newConfig()
	c.Sink, c.Drill.Told = slow, slow.change
	if err := Run(c); err != nil {
		return fast, "slow: " + err.Error()
	}
	fast.sort()
	slow.sort()
	if d := cmp.Diff(slow.Requests, fast.Requests); d != "" {
		return fast, "requests (-slow +fast):\n" + d
	}
	if d := cmp.Diff(slow.Changes, fast.Changes); d != "" {
		return fast, "changes (-slow +fast):\n" + d
	}
	if d := cmp.Diff(slow.Steps, fast.Steps); d != "" {
		return fast, "steps (-slow +fast):\n" + d
	}
	for t, n := range fast.Peaks {
		if slow.Peaks[t] != n {
			return fast, fmt.Sprintf("step %v: %d blocks used, fast says %d", t, slow.Peaks[t], n)
		}
	}
	return fast, ""
}

// anyRequests draws requests, some of them at one instant.
func anyRequests(t *rapid.T) []workload.Request {
	n := rapid.IntRange(1, 30).Draw(t, "requests")
	out := make([]workload.Request, n)
	at := sim.Time(0)
	for i := range out {
		at += sim.Time(rapid.SampledFrom([]int64{0, 0, 1, 7, 50, 50, 300, 3000}).Draw(t, "gap"))
		out[i] = workload.Request{ID: int64(i), Arrival: at,
			Prompt: rapid.Int32Range(1, 60).Draw(t, "prompt"), Output: rapid.Int32Range(1, 50).Draw(t, "output"),
			Priority: rapid.Int32Range(0, 2).Draw(t, "priority")}
		if rapid.IntRange(0, 2).Draw(t, "hashes") > 0 {
			anyBlocks(t, &out[i])
		}
		if rapid.IntRange(0, 9).Draw(t, "cancels") == 0 {
			out[i].Cancel = sim.Duration(rapid.Int64Range(1, 3000).Draw(t, "cancel"))
		}
	}
	return out
}

// anyDelay draws a distribution of delays, so that requests overtake each other.
func anyDelay(t *rapid.T) workload.Delay {
	low, high := sim.Duration(0), sim.Duration(rapid.Int64Range(1, 200).Draw(t, "longest delay"))
	d, err := (&workload.DelaySpec{Dist: "uniform", Min: &low, Max: &high}).Delay()
	if err != nil {
		t.Fatal(err)
	}
	return d
}

// anyConfig draws a whole run.
func anyConfig(t *rapid.T) func() engine.Config {
	c := engine.Config{Scheduler: anyScheduler(t), Seed: sim.Seed(rapid.Uint64().Draw(t, "seed"))}
	small := func(name string, lo, hi int64) sim.Duration {
		return sim.Duration(rapid.Int64Range(lo, hi).Draw(t, name))
	}
	c.Cost = pieces{floor: small("floor", 1, 40), base: small("base", 1, 20), perSeq: small("perSeq", 0, 3),
		perKV: small("perKV", 0, 2), perToken: small("perToken", 0, 3), perPair: small("perPair", 0, 1),
		knee: rapid.Int64Range(1, 100).Draw(t, "knee")}
	if rapid.IntRange(0, 3).Draw(t, "impatient") == 0 {
		c.Timeout = small("timeout", 1, 4000)
	}
	if rapid.IntRange(0, 3).Draw(t, "network") == 0 {
		c.RequestDelay = workload.ConstantDelay(small("request delay", 0, 100))
		c.ResponseDelay = anyDelay(t)
		if rapid.Bool().Draw(t, "overtaking") {
			c.RequestDelay = anyDelay(t)
		}
	}
	if rapid.IntRange(0, 5).Draw(t, "ends") == 0 {
		c.Horizon = small("horizon", 1, 6000)
		c.Scheduler.AllowLivelock = rapid.Bool().Draw(t, "livelock")
	}
	if rapid.Bool().Draw(t, "several") {
		c.Replicas = rapid.IntRange(2, 5).Draw(t, "replicas")
	}
	if rapid.IntRange(0, 2).Draw(t, "drills") > 0 {
		c.Drill = anyDrill(t, max(1, c.Replicas))
	}
	router := rapid.SampledFrom(engine.Routers()).Draw(t, "router")
	requests := anyRequests(t)
	users := rapid.IntRange(0, 8).Draw(t, "users")
	think := small("think", 0, 200)
	return func() engine.Config {
		c := c
		c.Source, c.Router = &list{requests: requests}, router.New(c.Seed)
		if users > 0 && users <= 4 {
			c.Source = &loop{list: list{requests: requests}, users: users, think: think}
		}
		return c
	}
}

func TestEnginesAgree(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		newConfig := anyConfig(t)
		got, diff := compare(newConfig)
		if diff != "" {
			t.Fatal(diff)
		}
		laws(t, newConfig(), got)
	})
}

// laws checks what holds of every run.
func laws(t *rapid.T, c engine.Config, got *recorder) {
	seen := map[int64]bool{}
	for i := range got.Requests {
		r := &got.Requests[i]
		if seen[r.ID] {
			t.Fatalf("request %d has two records", r.ID)
		}
		seen[r.ID] = true
		made := int64(0)
		for _, s := range r.Made {
			made += s.Steps
		}
		if made != int64(r.Output) || len(r.Lost) != int(r.Preemptions) {
			t.Fatalf("request %d has %d tokens and %d preemptions; of those it tells %d and %d", r.ID, r.Output, r.Preemptions, made, len(r.Lost))
		}
		if r.Outcome == observe.Completed {
			completedLaws(t, c, r)
		}
		attemptLaws(t, c.Drill, r)
		if r.End < r.Arrival {
			t.Fatalf("request %d ends at %v, before it arrives at %v", r.ID, r.End, r.Arrival)
		}
	}
	if c.Horizon == 0 {
		want := map[int64]bool{}
		for _, q := range requestsOf(c.Source) {
			want[q.ID] = true
		}
		if d := cmp.Diff(want, seen); d != "" {
			t.Fatalf("requests without a record, or records without a request: %s", d)
		}
	}
	serial := map[int32]int64{}
	for i, s := range got.Steps {
		if serial[s.Replica]++; s.Serial != serial[s.Replica]-1 || s.Cut && len(s.Gaps) > 0 || s.Base > s.Duration || (s.Held != observe.NotHeld) != (s.Waiting > 0) {
			t.Fatalf("step %d: %+v", i, s)
		}
		tokens := s.Decodes
		for _, chunk := range s.Chunks {
			tokens += chunk.Tokens
		}
		if c.Scheduler.Policy == scheduler.VLLMV1 && tokens > c.Scheduler.MaxNumBatchedTokens {
			t.Fatalf("the step at %v computes %d tokens, over the budget of %d", s.Start, tokens, c.Scheduler.MaxNumBatchedTokens)
		}
		if c.Scheduler.Policy == scheduler.VLLMV1 && s.Running > c.Scheduler.MaxNumSeqs {
			t.Fatalf("the step at %v runs %d sequences, over the limit of %d", s.Start, s.Running, c.Scheduler.MaxNumSeqs)
		}
	}
}

// completedLaws checks what holds of a request that completed.
func completedLaws(t *rapid.T, c engine.Config, r *observe.Request) {
	instants := []sim.Time{r.Arrival, r.Sent, r.Sent.Add(r.Detour), r.Queued, r.Scheduled, r.First, r.Last, r.End}
	if !sort.SliceIsSorted(instants, func(i, j int) bool { return instants[i] < instants[j] }) {
		t.Fatalf("request %d: instants out of order: %v", r.ID, instants)
	}
	if want := int64(r.Prompt) + int64(r.Output) - 1 - int64(r.Cached) + r.Recomputed; r.Computed != want {
		t.Fatalf("request %d computed %d tokens; prompt and output, less what was cached, and recomputation come to %d", r.ID, r.Computed, want)
	}
	if (r.Recomputed > 0) && r.Preemptions == 0 {
		t.Fatalf("request %d recomputed %d tokens without a preemption", r.ID, r.Recomputed)
	}
	if c.Timeout > 0 && r.End.Add(r.Response).Sub(r.Arrival) > c.Timeout {
		t.Fatalf("request %d completed after its timeout", r.ID)
	}
	if r.Output > 1 && r.MaxGap*sim.Duration(r.Output-1) < r.Last.Sub(r.First) {
		t.Fatalf("request %d: its worst gap, %v, is shorter than its mean gap", r.ID, r.MaxGap)
	}
}

// requestsOf returns all the requests that s can yield.
func requestsOf(s workload.Source) []workload.Request {
	switch s := s.(type) {
	case *list:
		return s.requests
	case *loop:
		return s.requests
	}
	return nil
}
