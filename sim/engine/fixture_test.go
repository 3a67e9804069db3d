package engine_test

import (
	"context"
	"io"
	"slices"
	"testing"

	"servesim/sim"
	"servesim/sim/engine"
	"servesim/sim/observe"
	"servesim/sim/scheduler"
	"servesim/sim/workload"
)

const ms = sim.Millisecond

// at returns the instant n ms into a run.
func at(n int64) sim.Time { return sim.Time(n) * sim.Time(ms) }

// list is a Source of given requests, then of err or io.EOF.
type list struct {
	requests []workload.Request
	next     int
	err      error
}

func (l *list) Next() (workload.Request, error) {
	if l.next == len(l.requests) {
		if l.err != nil {
			return workload.Request{}, l.err
		}
		return workload.Request{}, io.EOF
	}
	l.next++
	return l.requests[l.next-1], nil
}

// requests numbers requests as a Source does.
func requests(rs ...workload.Request) *list {
	for i := range rs {
		rs[i].ID = int64(i)
	}
	return &list{requests: rs}
}

// kept is a Sink that keeps the requests and counts the steps.
type kept struct {
	requests []observe.Request
	steps    int64
	runs     []observe.StepRun // without chunks and gaps
	fail     error             // what Step returns at the instant failAt and after
	failAt   sim.Time
}

func (k *kept) Request(r *observe.Request) error {
	one := *r
	one.Attempts = slices.Clone(r.Attempts)
	k.requests = append(k.requests, one)
	return nil
}

func (k *kept) Step(s *observe.StepRun) error {
	if k.fail != nil && s.Start >= k.failAt {
		return k.fail
	}
	k.steps += s.Steps
	one := *s
	one.Chunks, one.Gaps = nil, nil
	k.runs = append(k.runs, one)
	return nil
}

// byID returns the record of request id.
func (k *kept) byID(t *testing.T, id int64) observe.Request {
	t.Helper()
	for _, r := range k.requests {
		if r.ID == id {
			return r
		}
	}
	t.Fatalf("request %d has no record", id)
	return observe.Request{}
}

// small returns a run of source at plainCost under preset, with room for 64
// tokens a step, 8 sequences and 99 blocks of 16 tokens.
func small(t *testing.T, preset string, source workload.Source) engine.Config {
	t.Helper()
	p, err := scheduler.FindPreset(preset)
	if err != nil {
		t.Fatal(err)
	}
	c := p.Config
	c.AsyncScheduling = false // what a test is about is easier to see
	c.MaxNumBatchedTokens, c.MaxNumSeqs, c.MaxModelLen, c.NumGPUBlocks = 64, 8, 1000, 100
	return engine.Config{Scheduler: c, Cost: plainCost{}, Source: source, Seed: 1}
}

// run runs c and returns its records.
func run(t *testing.T, c engine.Config) *kept {
	t.Helper()
	k := &kept{}
	c.Sink = k
	if err := engine.Run(context.Background(), c); err != nil {
		t.Fatal(err)
	}
	return k
}

// failing runs c, which ends with an error, and returns what it says.
func failing(t *testing.T, ctx context.Context, c engine.Config) (*kept, error) {
	t.Helper()
	k := &kept{}
	if c.Sink == nil {
		c.Sink = k
	}
	err := engine.Run(ctx, c)
	if err == nil {
		t.Fatal("the run ends without an error")
	}
	return k, err
}
