package engine_test

import (
	"context"
	"os"
	"testing"

	"servesim/sim/engine"
	"servesim/sim/observe"
	"servesim/sim/scheduler"
)

// queueing is a Sink that adds up how long requests queued, early and late in
// a run of n requests.
type queueing struct {
	n           int64
	early, late float64 // seconds, over the second and the last quarter of the IDs
	steps       int64
}

func (q *queueing) Step(s *observe.StepRun) error {
	q.steps += s.Steps
	return nil
}

func (q *queueing) Request(r *observe.Request) error {
	switch 4 * r.ID / q.n {
	case 1:
		q.early += r.Scheduled.Sub(r.Sent).Seconds()
	case 3:
		q.late += r.Scheduled.Sub(r.Sent).Seconds()
	}
	return nil
}

// growing tells whether the queue of n chat requests at ratePerS keeps growing:
// the last quarter of the requests wait, in the mean, a second and half as long
// again as the second quarter.
func growing(t *testing.T, c engine.Config, n int64, ratePerS float64) bool {
	t.Helper()
	q := &queueing{n: n}
	c.Source, c.Sink = chat(t, n, ratePerS), q
	if err := engine.Run(context.Background(), c); err != nil {
		t.Fatal(err)
	}
	quarter := float64(n) / 4
	return q.late/quarter > 1+1.5*q.early/quarter
}

// capacityPerS returns the capacity of h100Config under an engine version, in
// chat requests per second: the rate from which on the queue of 500,000 of them
// grows. SERVESIM_LARGE=1 go test -run TestCapacity -v finds it again.
func capacityPerS(preset string) float64 {
	switch preset {
	case "vllm@0.11":
		return 18.6
	case "vllm@0.8-v0":
		return 18.5
	case "sarathi-serve@2026-01":
		return 17.5
	case "sarathi-serve-orca@2026-01": // blocks for max_model_len are few requests' worth
		return 1.18
	case "sarathi-serve-static@2026-01":
		return 0.86
	case "sarathi-serve-vllm@2026-01":
		return 16.7
	case "sarathi-serve-simple@2026-01":
		return 14.8
	case "trtllm@main":
		return 20.1
	case "trtllm-maxutil@main":
		return 19.7
	case "trtllm-static@main":
		return 1.95
	case "sglang@0.5.6", "sglang@2026-02":
		return 18.9
	}
	return 19.1
}

// TestCapacity holds the rates that the benchmarks are run at: 5 % below
// capacity the queue of 100,000 requests does not grow, 5 % above it does.
func TestCapacity(t *testing.T) {
	for _, p := range scheduler.Presets() {
		c, rate := h100Config(t, p.Name), capacityPerS(p.Name)
		if growing(t, c, 100_000, 0.95*rate) {
			t.Errorf("%s: the queue grows at %v requests/s", p.Name, 0.95*rate)
		}
		if !growing(t, c, 100_000, 1.05*rate) {
			t.Errorf("%s: the queue does not grow at %v requests/s", p.Name, 1.05*rate)
		}
		if os.Getenv("SERVESIM_LARGE") == "" {
			continue
		}
		lo, hi := 0.1, 100.0
		for hi-lo > 0.01 {
			if mid := (lo + hi) / 2; growing(t, c, 500_000, mid) {
				hi = mid
			} else {
				lo = mid
			}
		}
		t.Logf("%s: %.2f requests/s", p.Name, lo)
	}
}
