package engine_test

import (
	"testing"

	"github.com/google/go-cmp/cmp"

	"servesim/sim"
	"servesim/sim/observe"
	"servesim/sim/scheduler"
	"servesim/sim/workload"
)

// story is the part of a record that outcomes are about.
type story struct {
	ID                     int64
	Outcome                observe.Outcome
	Reason                 string
	Sent, Scheduled, First sim.Time
	End                    sim.Time
	Output                 int32
}

func stories(rs []observe.Request) []story {
	var out []story
	for _, r := range rs {
		out = append(out, story{r.ID, r.Outcome, r.Reason, r.Sent, r.Scheduled, r.First, r.End, r.Output})
	}
	return out
}

const never = observe.Never

// TestGivingUp: request 0 computes its prompt from 0 to 30 ms and decodes at 10
// ms a token. Who gives up during a step leaves at that instant, and the step
// runs on as planned.
func TestGivingUp(t *testing.T) {
	for _, c := range []struct {
		what              string
		cancel, timeout   sim.Duration
		request, response sim.Duration
		want              story
	}{
		{"in time", 120 * ms, 0, 0, 0, story{0, observe.Completed, "", 0, 0, at(30), at(120), 10}},
		{"a moment too early", 120*ms - 1, 0, 0, 0, story{0, observe.Cancelled, "", 0, 0, at(30), at(120) - 1, 9}},
		{"between two tokens", 65 * ms, 0, 0, 0, story{0, observe.Cancelled, "", 0, 0, at(30), at(65), 4}},
		{"with a token", 70 * ms, 0, 0, 0, story{0, observe.Cancelled, "", 0, 0, at(30), at(70), 5}},
		{"during its prompt", 29 * ms, 0, 0, 0, story{0, observe.Cancelled, "", 0, 0, never, at(29), 0}},
		{"by timeout", 0, 65 * ms, 0, 0, story{0, observe.TimedOut, "", 0, 0, at(30), at(65), 4}},
		{"by timeout, before the client would", 90 * ms, 65 * ms, 0, 0, story{0, observe.TimedOut, "", 0, 0, at(30), at(65), 4}},
		{"by both at once", 65 * ms, 65 * ms, 0, 0, story{0, observe.TimedOut, "", 0, 0, at(30), at(65), 4}},
		{"before the timeout", 65 * ms, 90 * ms, 0, 0, story{0, observe.Cancelled, "", 0, 0, at(30), at(65), 4}},
		{"counted from the arrival", 65 * ms, 0, 5 * ms, 0, story{0, observe.Cancelled, "", at(5), at(5), at(35), at(65), 4}},
		{"on the way there", 4 * ms, 0, 5 * ms, 0, story{0, observe.Cancelled, "", never, never, never, at(4), 0}},
		{"on its arrival at the engine", 5 * ms, 0, 5 * ms, 0, story{0, observe.Cancelled, "", never, never, never, at(5), 0}},
		{"timed out on the way there", 0, 4 * ms, 5 * ms, 0, story{0, observe.TimedOut, "", never, never, never, at(4), 0}},
		{"as the answer arrives", 129 * ms, 0, 0, 9 * ms, story{0, observe.Completed, "", 0, 0, at(30), at(120), 10}},
		{"while the answer is on its way", 129*ms - 1, 0, 0, 9 * ms, story{0, observe.Cancelled, "", 0, 0, at(30), at(120), 10}},
		{"timed out while the answer is on its way", 0, 121 * ms, 0, 9 * ms, story{0, observe.TimedOut, "", 0, 0, at(30), at(120), 10}},
	} {
		for _, preset := range []string{"vllm@0.20", "vllm@0.8-v0"} {
			config := small(t, preset, requests(workload.Request{Prompt: 20, Output: 10, Cancel: c.cancel}))
			config.Timeout = c.timeout
			config.RequestDelay, config.ResponseDelay = workload.ConstantDelay(c.request), workload.ConstantDelay(c.response)
			if diff := cmp.Diff([]story{c.want}, stories(run(t, config).requests)); diff != "" {
				t.Errorf("%s: %s (-want +got):\n%s", preset, c.what, diff)
			}
		}
	}
}

// TestGivingUpInTheQueue: one slot, held by request 0 until 60 ms.
func TestGivingUpInTheQueue(t *testing.T) {
	c := small(t, "vllm@0.20", requests(
		workload.Request{Prompt: 20, Output: 4},
		workload.Request{Arrival: at(1), Prompt: 20, Output: 4, Cancel: 40 * ms},
		workload.Request{Arrival: at(2), Prompt: 20, Output: 2}))
	c.Scheduler.MaxNumSeqs = 1
	want := []story{
		{1, observe.Cancelled, "", at(1), never, never, at(41), 0},
		{0, observe.Completed, "", 0, 0, at(30), at(60), 4},
		{2, observe.Completed, "", at(2), at(60), at(90), at(100), 2},
	}
	if diff := cmp.Diff(want, stories(run(t, c).requests)); diff != "" {
		t.Errorf("records (-want +got):\n%s", diff)
	}
}

func TestRejections(t *testing.T) {
	const (
		pool   = "needs more KV blocks than the pool has"
		budget = "prompt exceeds max_num_batched_tokens with chunked prefill off"
	)
	chunked := func(on bool) func(*scheduler.Config) {
		return func(c *scheduler.Config) { c.EnableChunkedPrefill = on }
	}
	for _, c := range []struct {
		preset         string
		change         func(*scheduler.Config)
		prompt, output int32
		reason         string
		made           int32 // tokens, if it completes
	}{
		{"vllm@0.20", nil, 999, 5, "", 1}, // max_model_len is 1,000
		{"vllm@main", nil, 1000, 5, "prompt leaves no room for output within max_model_len", 0},
		{"vllm@0.20", nil, 1000, 5, "prompt of max_model_len tokens, cut into chunks, never completes", 0},
		{"vllm@0.20", func(c *scheduler.Config) { c.MaxNumBatchedTokens = 1000 }, 1000, 5, "", 1},
		{"vllm@0.20", nil, 2000, 5, "prompt leaves no room for output within max_model_len", 0},
		{"vllm@0.8-v0", chunked(true), 1000, 5, "", 1},
		{"vllm@0.8-v0", chunked(true), 1001, 5, "prompt leaves no room for output within max_model_len", 0},
		{"vllm@0.20", func(c *scheduler.Config) { c.NumGPUBlocks = 21 }, 300, 21, "", 21}, // 20 blocks hold 320 tokens
		{"vllm@0.20", func(c *scheduler.Config) { c.NumGPUBlocks = 21 }, 300, 22, pool, 0},
		{"vllm@0.20", chunked(false), 64, 5, "", 5},
		{"vllm@0.20", chunked(false), 65, 5, budget, 0},
		{"vllm@0.8-v0", nil, 65, 5, "prompt exceeds max_model_len or max_num_batched_tokens", 0},
		{"vllm@0.8-v0", func(c *scheduler.Config) { c.NumGPUBlocks = 2 }, 33, 1, "prompt needs more KV blocks than the pool has", 0},
	} {
		config := small(t, c.preset, requests(workload.Request{Prompt: c.prompt, Output: c.output}, workload.Request{Arrival: at(50_000), Prompt: 1, Output: 1}))
		if c.change != nil {
			c.change(&config.Scheduler)
		}
		k := run(t, config)
		r := k.byID(t, 0)
		outcome := observe.Completed
		if c.reason != "" {
			outcome = observe.Rejected
		}
		if r.Outcome != outcome || r.Reason != c.reason || r.Output != c.made || r.Wanted != c.output {
			t.Errorf("%s, %d and %d tokens: %v for %q with %d of %d tokens; want %v for %q with %d", c.preset, c.prompt, c.output,
				r.Outcome, r.Reason, r.Output, r.Wanted, outcome, c.reason, c.made)
		}
		if r.Outcome == observe.Rejected && (r.End != 0 || r.Sent != 0 || r.First != never) {
			t.Errorf("%s: rejected at %v, sent %v, first token %v", c.preset, r.End, r.Sent, r.First)
		}
		if last := k.byID(t, 1); last.Outcome != observe.Completed {
			t.Errorf("%s, %d and %d tokens: the request behind is %v", c.preset, c.prompt, c.output, last.Outcome)
		}
	}
}

// TestReasonsOfOneInstant: two requests that one step drops, each for its own reason.
func TestReasonsOfOneInstant(t *testing.T) {
	c := small(t, "vllm@0.8-v0", requests(workload.Request{Prompt: 65, Output: 1}, workload.Request{Prompt: 49, Output: 1}))
	c.Scheduler.NumGPUBlocks = 3 // which hold 48 tokens
	want := []story{
		{0, observe.Rejected, "prompt exceeds max_model_len or max_num_batched_tokens", 0, never, never, 0, 0},
		{1, observe.Rejected, "prompt needs more KV blocks than the pool has", 0, never, never, 0, 0},
	}
	if diff := cmp.Diff(want, stories(run(t, c).requests)); diff != "" {
		t.Errorf("records (-want +got):\n%s", diff)
	}
}

// TestHorizon: request 0 decodes from 30 ms on, a token each 10 ms, and request
// 1 prefills from 60 to 110 ms.
func TestHorizon(t *testing.T) {
	const unfinished = "the run's horizon came first"
	for _, c := range []struct {
		horizon sim.Duration
		want    []story
	}{
		{55 * ms, []story{ // request 1 has not arrived
			{0, observe.Unfinished, unfinished, 0, 0, at(30), at(55), 3}}},
		{60*ms - 1, []story{{0, observe.Unfinished, unfinished, 0, 0, at(30), at(60) - 1, 3}}},
		{60 * ms, []story{
			{0, observe.Unfinished, unfinished, 0, 0, at(30), at(60), 4},
			{1, observe.Unfinished, unfinished, at(60), never, never, at(60), 0}}},
		{100 * ms, []story{ // the step from 60 to 110 ms would pass it, so it does not run
			{0, observe.Unfinished, unfinished, 0, 0, at(30), at(100), 4},
			{1, observe.Unfinished, unfinished, at(60), never, never, at(100), 0}}},
		{110 * ms, []story{
			{0, observe.Unfinished, unfinished, 0, 0, at(30), at(110), 5},
			{1, observe.Unfinished, unfinished, at(60), at(60), at(110), at(110), 1}}},
		{120 * ms, []story{
			{1, observe.Completed, "", at(60), at(60), at(110), at(120), 2},
			{0, observe.Unfinished, unfinished, 0, 0, at(30), at(120), 6}}},
		{sim.Hour, []story{
			{1, observe.Completed, "", at(60), at(60), at(110), at(120), 2},
			{0, observe.Completed, "", 0, 0, at(30), at(140), 8}}},
	} {
		config := small(t, "vllm@0.20", requests(workload.Request{Prompt: 20, Output: 8}, workload.Request{Arrival: at(60), Prompt: 40, Output: 2}))
		config.Horizon = c.horizon
		k := run(t, config)
		if diff := cmp.Diff(c.want, stories(k.requests)); diff != "" {
			t.Errorf("horizon %v (-want +got):\n%s", c.horizon, diff)
		}
		for _, s := range k.runs {
			if end := s.Start.Add(s.Duration()); end > sim.Time(c.horizon) {
				t.Errorf("horizon %v: a step ends at %v", c.horizon, end)
			}
		}
	}
}

// TestHorizonHearsDeadlines: who gives up before the horizon has given up, even
// where no step runs any more.
func TestHorizonHearsDeadlines(t *testing.T) {
	for _, patience := range []int64{50, 60} {
		c := small(t, "vllm@0.20", requests(workload.Request{Prompt: 60, Output: 8, Cancel: sim.Duration(patience) * ms}))
		c.Horizon = 60 * ms // the prompt takes 70
		if got, want := stories(run(t, c).requests), []story{{0, observe.Cancelled, "", 0, never, never, at(patience), 0}}; !cmp.Equal(got, want) {
			t.Errorf("records %+v; want %+v", got, want)
		}
	}
}

// TestLivelock: request 1 can never fit. It is rejected, or, as in the real
// engine, it blocks request 2 for ever.
func TestLivelock(t *testing.T) {
	source := func() *list {
		return requests(workload.Request{Prompt: 20, Output: 2}, workload.Request{Prompt: 500, Output: 1}, workload.Request{Prompt: 20, Output: 2})
	}
	c := small(t, "vllm@0.20", source())
	c.Scheduler.NumGPUBlocks = 21 // which hold 320 tokens
	k := run(t, c)
	for id, want := range map[int64]observe.Outcome{0: observe.Completed, 1: observe.Rejected, 2: observe.Completed} {
		if got := k.byID(t, id).Outcome; got != want {
			t.Errorf("without livelock request %d is %v; want %v", id, got, want)
		}
	}
	c.Source, c.Scheduler.AllowLivelock, c.Horizon = source(), true, sim.Hour
	k = run(t, c)
	for id, want := range map[int64]observe.Outcome{0: observe.Completed, 1: observe.Unfinished, 2: observe.Unfinished} {
		if got := k.byID(t, id); got.Outcome != want || want == observe.Unfinished && got.Reason == "" {
			t.Errorf("with livelock request %d is %v for %q; want %v", id, got.Outcome, got.Reason, want)
		}
	}
}
