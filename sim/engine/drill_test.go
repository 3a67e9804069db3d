package engine_test

import (
	"context"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"servesim/sim"
	"servesim/sim/engine"
	"servesim/sim/observe"
	"servesim/sim/workload"
)

// drilled returns a run of two replicas in turn through d.
func drilled(t *testing.T, d engine.Drill, rs ...workload.Request) engine.Config {
	t.Helper()
	c := small(t, "vllm@0.20", requests(rs...))
	router, _ := engine.FindRouter("round-robin")
	c.Replicas, c.Router, c.Drill = 2, router.New(1), d
	return c
}

// fate is what a drill decides of a request, in ms.
type fate struct {
	Outcome                                  observe.Outcome
	Reason                                   string
	Replica                                  int32
	Sent, Detour, Queued, First, Last, End   int64
	Output                                   int32
	Computed                                 int64
	AttemptsFrom, AttemptsTo, AttemptsOutput []int64
}

// fateOf returns that of r.
func fateOf(r observe.Request) fate {
	instant := func(t sim.Time) int64 {
		if t == observe.Never {
			return -1
		}
		return int64(t / sim.Time(ms))
	}
	f := fate{Outcome: r.Outcome, Reason: r.Reason, Replica: r.Replica, Sent: instant(r.Sent), Detour: int64(r.Detour / ms), Queued: instant(r.Queued),
		First: instant(r.First), Last: instant(r.Last), End: instant(r.End), Output: r.Output, Computed: r.Computed}
	for _, a := range r.Attempts {
		f.AttemptsFrom, f.AttemptsTo = append(f.AttemptsFrom, instant(a.From)), append(f.AttemptsTo, instant(a.To))
		f.AttemptsOutput = append(f.AttemptsOutput, int64(a.Output))
	}
	return f
}

// three are requests of which the first two begin at once, the third at 45 ms.
func three() []workload.Request {
	return []workload.Request{{Prompt: 20, Output: 10}, {Prompt: 20, Output: 3}, {Arrival: at(45), Prompt: 5, Output: 2}}
}

// TestAReplicaFails: request 0 has tokens of 30, 40 and 50 ms when replica 0 fails
// at 57 ms, in a step from 50 to 65 ms which computes the prompt of request 2. That
// has made no token; it is on replica 1 3 ms later, which computes it by 75 ms.
func TestAReplicaFails(t *testing.T) {
	d := engine.Drill{Failures: []engine.Failure{{Replica: 0, At: 57 * ms, Down: 100 * ms}}, Retry: engine.RetryUnstarted, MaxRetries: 1, RetryDelay: 3 * ms}
	k := run(t, drilled(t, d, three()...))
	for id, want := range []fate{
		{Outcome: observe.ReplicaFailed, Reason: engine.ReasonStarted, First: 30, Last: 50, End: 57, Output: 3, Computed: 22},
		{Replica: 1, First: 30, Last: 50, End: 50, Output: 3, Computed: 22},
		{Replica: 1, Sent: 45, Detour: 15, Queued: 60, First: 75, Last: 85, End: 85, Output: 2, Computed: 6,
			AttemptsFrom: []int64{45}, AttemptsTo: []int64{57}, AttemptsOutput: []int64{0}},
	} {
		if diff := cmp.Diff(want, fateOf(k.byID(t, int64(id)))); diff != "" {
			t.Errorf("request %d (-want +got):\n%s", id, diff)
		}
	}
	i := slices.IndexFunc(k.runs, func(r observe.StepRun) bool { return r.Cut })
	if i < 0 || k.runs[i].Serial != 3 || k.runs[i].Start != at(50) || k.runs[i].First != 7*ms || k.runs[i].Decodes != 1 {
		t.Errorf("the step that was cut short is not 7 ms from 50 ms on: %+v", k.runs)
	}

	d.Retry = engine.RetryNone
	if r := run(t, drilled(t, d, three()...)).byID(t, 2); r.Outcome != observe.ReplicaFailed || r.Reason != engine.ReasonLost || r.End != at(57) {
		t.Errorf("without retries: %+v", r)
	}
}

// TestARollingRestartDrains: replica 0 gets nothing from 35 ms on and is killed at
// 55 ms, since request 0 has not left. Replica 1 has it until 85 ms, when its grace
// is over too, and replica 0, which is back, serves it to its end: 30 ms for the
// prompt, 9 tokens of 10 ms.
func TestARollingRestartDrains(t *testing.T) {
	d := engine.Drill{Rolling: &engine.RollingRestart{Start: 35 * ms, Grace: 20 * ms, Down: 10 * ms}, Retry: engine.RetryAll, MaxRetries: 2}
	k := run(t, drilled(t, d, three()...))
	for id, want := range []fate{
		{Detour: 85, Queued: 85, First: 120, Last: 210, End: 210, Output: 10, Computed: 29,
			AttemptsFrom: []int64{0, 55}, AttemptsTo: []int64{55, 85}, AttemptsOutput: []int64{3, 0}},
		{Replica: 1, First: 30, Last: 50, End: 50, Output: 3, Computed: 22},
		{Sent: 45, Detour: 40, Queued: 85, First: 120, Last: 130, End: 130, Output: 2, Computed: 6,
			AttemptsFrom: []int64{45}, AttemptsTo: []int64{85}, AttemptsOutput: []int64{1}},
	} {
		if diff := cmp.Diff(want, fateOf(k.byID(t, int64(id)))); diff != "" {
			t.Errorf("request %d (-want +got):\n%s", id, diff)
		}
	}
	// With time enough, replica 0 goes down when request 0 has its last token, at 120 ms.
	d.Rolling.Grace, d.Retry = 200*ms, engine.RetryNone
	late := append(three(), workload.Request{Arrival: at(121), Prompt: 5, Output: 1}, workload.Request{Arrival: at(131), Prompt: 5, Output: 1})
	k = run(t, drilled(t, d, late...))
	if r := k.byID(t, 0); r.Outcome != observe.Completed || r.End != at(120) || len(r.Attempts) != 0 {
		t.Errorf("with time enough, request 0: %+v", r)
	}
	if a, b := k.byID(t, 3), k.byID(t, 4); a.Replica != 1 || b.Replica != 0 {
		t.Errorf("at 121 ms replica %d takes requests, want 1; at 131 ms %d, want 0", a.Replica, b.Replica)
	}
}

// TestNoReplicaIsUp: the only two replicas are down from 10 to 40 ms.
func TestNoReplicaIsUp(t *testing.T) {
	d := engine.Drill{Failures: []engine.Failure{{At: 10 * ms, Down: 30 * ms}, {Replica: 1, At: 10 * ms, Down: 30 * ms}}, Wait: 15 * ms}
	rs := []workload.Request{{Arrival: at(12), Prompt: 20, Output: 1}, {Arrival: at(30), Prompt: 20, Output: 1}}
	k := run(t, drilled(t, d, rs...))
	for id, want := range []fate{
		{Outcome: observe.Rejected, Reason: engine.ReasonNoReplica, Sent: 12, Detour: 15, Queued: -1, First: -1, Last: -1, End: 27},
		{Sent: 30, Detour: 10, Queued: 40, First: 70, Last: 70, End: 70, Output: 1, Computed: 20},
	} {
		if diff := cmp.Diff(want, fateOf(k.byID(t, int64(id)))); diff != "" {
			t.Errorf("request %d (-want +got):\n%s", id, diff)
		}
	}
	d.Wait = 0
	if r := run(t, drilled(t, d, rs...)).byID(t, 0); r.Outcome != observe.Rejected || r.End != at(12) {
		t.Errorf("who may not wait is not rejected at once: %+v", r)
	}
}

func TestDrillCheck(t *testing.T) {
	good := engine.Drill{Failures: []engine.Failure{{At: ms, Down: ms}, {At: 3 * ms}}, Retry: engine.RetryAll, MaxRetries: 1}
	if err := good.Check(1); err != nil {
		t.Errorf("a good drill: %v", err)
	}
	for want, bad := range map[string]engine.Drill{
		"failure[0].replica: found 2; the replicas are from 0 to 1":                                                                      {Failures: []engine.Failure{{Replica: 2}}},
		"failure[0].at: found -1ms; it must be from 0 to 30 days":                                                                        {Failures: []engine.Failure{{At: -ms}}},
		"failure[1].at: found 2ms; replica 0 is down then: it failed at 1ms (failure[0]) and is back at 2ms":                             {Failures: []engine.Failure{{At: ms, Down: ms}, {At: 2 * ms}}},
		"failure[0].at: found 2ms; replica 0 is down then: it failed at 1ms (failure[1]) and never comes back":                           {Failures: []engine.Failure{{At: 2 * ms}, {At: ms}}},
		"rolling_restart.down: found 0; a restart takes time":                                                                            {Rolling: &engine.RollingRestart{}},
		"retry_delay: found -1ms; it must be from 0 to 30 days\nmax_retries: found 0; it must be 1 or more, or retry none":               {Retry: engine.RetryAll, RetryDelay: -ms},
		"wait_for_replica: found 3000000s; it must be from 0 to 30 days\nretry: found 7; the rules are [\"none\" \"unstarted\" \"all\"]": {Wait: 3e6 * sim.Second, Retry: 7, MaxRetries: 1},
	} {
		c := drilled(t, bad)
		if _, err := failing(t, context.Background(), c); strings.TrimSpace(err.Error()) != want {
			t.Errorf("found\n%v\nwant\n%s", err, want)
		}
	}
}
