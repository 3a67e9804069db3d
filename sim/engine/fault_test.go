package engine_test

import (
	"context"
	"errors"
	"strings"
	"testing"

	"servesim/sim"
	"servesim/sim/engine"
	"servesim/sim/gpu"
	"servesim/sim/observe"
	"servesim/sim/scheduler"
	"servesim/sim/workload"
)

func TestConfigCheck(t *testing.T) {
	c := small(t, "vllm@0.20", requests())
	c.Sink = &kept{}
	if err := c.Check(); err != nil {
		t.Errorf("a good configuration: %v", err)
	}
	for want, change := range map[string]func(*engine.Config){
		"engine: cost model, source and sink are all needed":                                                     func(c *engine.Config) { c.Cost = nil },
		"timeout: found -1ms; it must be 0 (never) or more":                                                      func(c *engine.Config) { c.Timeout = -ms },
		"horizon: found -1ms; it must be 0 (none) or more":                                                       func(c *engine.Config) { c.Horizon = -ms },
		"max_num_seqs: found 0; it must be at least 1":                                                           func(c *engine.Config) { c.Scheduler.MaxNumSeqs = 0 },
		"horizon: with the engine's livelock allowed, a request that can never fit runs for ever; set a horizon": func(c *engine.Config) { c.Scheduler.AllowLivelock = true },
		"block_size: found 0; it must be at least 1\nengine: cost model, source and sink are all needed\ntimeout: found -1ps; it must be 0 (never) or more\nhorizon: found -1ps; it must be 0 (none) or more": func(c *engine.Config) {
			c.Scheduler.BlockSize, c.Source, c.Timeout, c.Horizon = 0, nil, -1, -1
		},
	} {
		bad := c
		change(&bad)
		if err := engine.Run(context.Background(), bad); err == nil || err.Error() != want {
			t.Errorf("Run returns\n%v\nwant\n%s", err, want)
		}
	}
}

func TestSourceErrors(t *testing.T) {
	broken := errors.New("trace.csv: line 3: no such column")
	for _, c := range []struct {
		source *list
		want   string
	}{
		{&list{err: broken}, "at 0s: trace.csv: line 3: no such column"},
		// The engine reads two requests ahead: the fault shows when request 1 arrives.
		{&list{requests: []workload.Request{{Prompt: 20, Output: 3}, {ID: 1, Arrival: at(40), Prompt: 1, Output: 1}, {ID: 2, Arrival: at(60), Prompt: 1, Output: 1}},
			err: broken}, "at 40ms: trace.csv: line 3: no such column"},
		{&list{requests: []workload.Request{{Prompt: 20, Output: 3}, {ID: 1, Arrival: at(40), Prompt: 1, Output: 1}, {ID: 2, Arrival: at(60), Prompt: 1, Output: 1},
			{ID: 3, Arrival: at(50), Prompt: 1, Output: 1}}}, "at 40ms: request 3 arrives at 50ms, before the one ahead of it at 60ms"},
		{&list{requests: []workload.Request{{Arrival: -1, Prompt: 1, Output: 1}}}, "at 0s: request 0 arrives at -1ps, before the one ahead of it at 0s"},
		{&list{requests: []workload.Request{{Arrival: sim.MaxTime, Prompt: 1, Output: 1, Cancel: 1}}},
			"at 0s: request 0 arrives at 9223372.036854775807s; a run can last 106 days"},
	} {
		_, err := failing(t, context.Background(), small(t, "vllm@0.20", c.source))
		if err.Error() != c.want {
			t.Errorf("Run returns\n%v\nwant\n%s", err, c.want)
		}
		if c.source.err != nil && !errors.Is(err, broken) {
			t.Errorf("%v does not wrap the error of the source", err)
		}
	}
}

func TestSinkErrorsEndTheRun(t *testing.T) {
	full := errors.New("no space left on device")
	sink := &kept{fail: full, failAt: at(30)}
	c := small(t, "vllm@0.20", requests(workload.Request{Prompt: 20, Output: 30}, workload.Request{Arrival: at(45), Prompt: 1, Output: 1}))
	c.Sink = sink
	_, err := failing(t, context.Background(), c)
	if !errors.Is(err, full) || err.Error() != "at 50ms: no space left on device" { // when the steps end
		t.Errorf("Run returns %v", err)
	}
	if sink.steps != 1 || len(sink.requests) != 0 {
		t.Errorf("%d steps and %d requests went to the sink; want the one step before the fault", sink.steps, len(sink.requests))
	}
}

func TestCancelledContext(t *testing.T) {
	c := small(t, "vllm@0.20", requests(workload.Request{Prompt: 20, Output: 3}))
	ctx, cancel := context.WithCancelCause(context.Background())
	stop := errors.New("interrupted")
	cancel(stop)
	if k, err := failing(t, ctx, c); !errors.Is(err, stop) || k.steps != 0 {
		t.Errorf("Run returns %v after %d steps", err, k.steps)
	}
}

// TestCancelDuringRun has the sink cancel, and the source never end.
func TestCancelDuringRun(t *testing.T) {
	ctx, cancel := context.WithCancel(context.Background())
	defer cancel()
	c := small(t, "vllm@0.20", &endless{})
	c.Sink = &interrupter{cancel: cancel, after: 1000}
	if err := engine.Run(ctx, c); !errors.Is(err, context.Canceled) || !strings.HasPrefix(err.Error(), "at ") {
		t.Errorf("Run returns %v", err)
	}
}

// endless is a Source of small requests, one each 100 ms.
type endless struct{ n int64 }

func (e *endless) Next() (workload.Request, error) {
	e.n++
	return workload.Request{ID: e.n - 1, Arrival: at(100 * e.n), Prompt: 20, Output: 2}, nil
}

// interrupter is a Sink that calls cancel at a request.
type interrupter struct {
	cancel       func()
	after, count int64
}

func (i *interrupter) Step(*observe.StepRun) error { return nil }

func (i *interrupter) Request(*observe.Request) error {
	if i.count++; i.count == i.after {
		i.cancel()
	}
	if i.count > i.after+100_000 {
		return errors.New("the run goes on long after it was cancelled")
	}
	return nil
}

// badCost is a cost model that breaks its contract.
type badCost struct {
	step   sim.Duration
	decode gpu.Progression
}

func (b badCost) Step(gpu.Work) sim.Duration        { return b.step }
func (b badCost) Decode(_, _ int64) gpu.Progression { return b.decode }

func TestCostModelFaults(t *testing.T) {
	good := gpu.Progression{First: ms, Steps: 1}
	for _, c := range []struct {
		cost badCost
		want string
	}{
		{badCost{0, good}, "at 0s: the cost model answers 0s per step and 0s more for each of 1; steps take time and do not get shorter"},
		{badCost{-ms, good}, "at 0s: the cost model answers -1ms per step and 0s more for each of 1; steps take time and do not get shorter"},
		{badCost{ms, gpu.Progression{First: 0, Steps: 5}}, "at 1ms: the cost model answers 0s per step and 0s more for each of 5; steps take time and do not get shorter"},
		{badCost{ms, gpu.Progression{First: ms, Inc: -1, Steps: 5}}, "at 1ms: the cost model answers 1ms per step and -1ps more for each of 5; steps take time and do not get shorter"},
		{badCost{ms, gpu.Progression{First: ms}}, "at 1ms: the cost model answers 1ms per step and 0s more for each of 0; steps take time and do not get shorter"},
		{badCost{sim.MaxDuration, good}, "at 9223372.036854775807s: the run lasts longer than the 106 days that can be counted"},
	} {
		config := small(t, "vllm@0.20", requests(workload.Request{Prompt: 20, Output: 3}))
		config.Cost = c.cost
		if _, err := failing(t, context.Background(), config); err.Error() != c.want {
			t.Errorf("Run returns\n%v\nwant\n%s", err, c.want)
		}
	}
}

// slowCost takes d for every step.
type slowCost sim.Duration

func (s slowCost) Step(gpu.Work) sim.Duration { return sim.Duration(s) }
func (s slowCost) Decode(_, _ int64) gpu.Progression {
	return gpu.Progression{First: sim.Duration(s), Steps: 1 << 40}
}

// long returns a run of one request of a million tokens at d a step: from 9 s
// on, all steps together last longer than can be counted.
func long(t *testing.T, d sim.Duration, request workload.Request) engine.Config {
	request.Prompt, request.Output = 1, 1_000_001
	c := small(t, "vllm@0.20", requests(request))
	c.Scheduler.MaxModelLen, c.Scheduler.NumGPUBlocks, c.Cost = 2_000_000, 100_000, slowCost(d)
	return c
}

func TestLongRuns(t *testing.T) {
	if k := run(t, long(t, 9*sim.Second, workload.Request{})); k.requests[0].End != sim.Time(9_000_009*sim.Second) {
		t.Errorf("a million steps of 9 s end at %v", k.requests[0].End)
	}
	for _, d := range []sim.Duration{10 * sim.Second, 20 * sim.Second, 37 * sim.Second, sim.Hour} {
		k, err := failing(t, context.Background(), long(t, d, workload.Request{}))
		if !strings.HasSuffix(err.Error(), "the run lasts longer than the 106 days that can be counted") {
			t.Errorf("a million steps of %v: %v", d, err)
		}
		for _, s := range k.runs {
			if s.Duration() < 0 || s.Start < 0 {
				t.Errorf("a million steps of %v: %d of them begin at %v and last %v", d, s.Steps, s.Start, s.Duration())
			}
		}
		k = run(t, long(t, d, workload.Request{Cancel: 5*d + 1}))
		if r := k.requests[0]; r.Outcome != observe.Cancelled || r.End != sim.Time(5*d+1) || r.Output != 5 {
			t.Errorf("given up after 5 steps of %v: %v with %d tokens at %v", d, r.Outcome, r.Output, r.End)
		}
		c := long(t, d, workload.Request{})
		c.Horizon = 5 * d
		if r := run(t, c).requests[0]; r.Outcome != observe.Unfinished || r.Output != 5 {
			t.Errorf("ended after 5 steps of %v: %v with %d tokens", d, r.Outcome, r.Output)
		}
	}
}

func TestUnknownPolicy(t *testing.T) {
	c := small(t, "vllm@0.20", requests())
	c.Scheduler.Policy = "none such"
	c.Sink = &kept{}
	var names []string
	for _, p := range scheduler.Policies() {
		names = append(names, p.Name)
	}
	err := engine.Run(context.Background(), c)
	if want := `policy: unknown policy "none such"; the policies are ` + strings.Join(names, ", "); err == nil || !strings.Contains(err.Error(), want) {
		t.Errorf("Run returns %v; want %s", err, want)
	}
}

// barred is a closed loop of calls that the engine rejects at once.
type barred struct{ list }

func (b *barred) Done(id int64, t sim.Time) (workload.Request, bool) {
	return workload.Request{ID: id + 1, Arrival: t, Prompt: 5000, Output: 1}, true
}

// A closed loop whose every call is rejected must not stop time, with a horizon
// or without, and must not hold a user who interrupts the run.
func TestStandingStill(t *testing.T) {
	for preset, chunked := range map[string]bool{"vllm@0.20": true, "vllm@0.8-v0": false} {
		loop := &barred{list{requests: []workload.Request{{Prompt: 5000, Output: 1}}}}
		c := small(t, preset, loop)
		c.Scheduler.EnableChunkedPrefill, c.Horizon = chunked, sim.Second
		_, err := failing(t, context.Background(), c)
		if want := "every call of the closed loop is rejected"; !strings.Contains(err.Error(), want) {
			t.Errorf("%s: Run returns\n%v\nwhich lacks %q", preset, err, want)
		}
		ctx, cancel := context.WithCancel(context.Background())
		cancel()
		if _, err := failing(t, ctx, small(t, preset, loop)); !errors.Is(err, context.Canceled) {
			t.Errorf("%s: cancelled, Run returns %v", preset, err)
		}
	}
}

// hasty is a closed loop whose follow-up comes before what releases it.
type hasty struct{ list }

func (h *hasty) Done(id int64, t sim.Time) (workload.Request, bool) {
	return workload.Request{ID: id + 1, Arrival: t - 1, Prompt: 1, Output: 1}, true
}

func TestReleaseBeforeTheEnd(t *testing.T) {
	_, err := failing(t, context.Background(), small(t, "vllm@0.20", &hasty{list{requests: []workload.Request{{Prompt: 20, Output: 3}}}}))
	if want := ", before the end of the one that releases it at "; !strings.Contains(err.Error(), want) {
		t.Errorf("Run returns\n%v\nwhich lacks %q", err, want)
	}
}
