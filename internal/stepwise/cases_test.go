package stepwise

import (
	"testing"

	"servesim/sim"
	"servesim/sim/engine"
	"servesim/sim/scheduler"
	"servesim/sim/workload"
)

// ms is a millisecond since the run began.
const ms = sim.Time(sim.Millisecond)

// cases are runs that drawn ones rarely hit.
func cases(t *testing.T) map[string]func() engine.Config {
	t.Helper()
	preset, err := scheduler.FindPreset("vllm@0.11")
	if err != nil {
		t.Fatal(err)
	}
	old, err := scheduler.FindPreset("vllm@0.8-v0")
	if err != nil {
		t.Fatal(err)
	}
	priority := func(budget, threshold, blockSize int32, blocks int64, requests ...workload.Request) func() engine.Config {
		c := preset.Config
		c.MaxNumSeqs, c.MaxModelLen, c.SchedulingPolicy = 8, 64, scheduler.Priority
		c.MaxNumBatchedTokens, c.LongPrefillTokenThreshold, c.BlockSize, c.NumGPUBlocks = budget, threshold, blockSize, blocks
		return func() engine.Config {
			return engine.Config{Scheduler: c, Cost: pieces{base: sim.Millisecond}, Source: &list{requests: requests}}
		}
	}
	return map[string]func() engine.Config{
		"the chunk that would complete a prompt is a ghost": priority(16, 4, 4, 5,
			workload.Request{Prompt: 12, Output: 2, Priority: 2},
			workload.Request{ID: 1, Arrival: ms, Prompt: 4, Output: 3}),
		"one sequence is passed over twice": priority(64, 0, 1, 14,
			workload.Request{Prompt: 1, Output: 8},
			workload.Request{ID: 1, Prompt: 1, Output: 8, Priority: 2},
			workload.Request{ID: 2, Arrival: ms, Prompt: 1, Output: 8, Priority: 3},
			workload.Request{ID: 3, Arrival: 2 * ms, Prompt: 1, Output: 8},
			workload.Request{ID: 4, Arrival: 2 * ms, Prompt: 1, Output: 8, Priority: 1}),
		// Replica 0 makes a token every 10 ps. Request 1 leaves replica 1 at 20 ps, its
		// user calls with a prompt that is too long, which replica 1 drops as it plans at
		// 20 ps, and calls again: replica 0 has planned by then.
		"a replica's choice sends a request to one that has chosen": func() engine.Config {
			c := old.Config
			c.MaxNumSeqs, c.MaxModelLen, c.MaxNumBatchedTokens, c.NumGPUBlocks = 8, 64, 16, 100
			requests := []workload.Request{{Prompt: 1, Output: 50}, {ID: 1, Prompt: 1, Output: 2}, {ID: 2, Prompt: 1, Output: 50},
				{ID: 3, Prompt: 20, Output: 2}, {ID: 4, Prompt: 1, Output: 2}}
			router, _ := engine.FindRouter("round-robin")
			return engine.Config{Scheduler: c, Replicas: 2, Router: router.New(1), Cost: pieces{base: 10},
				Source: &loop{list: list{requests: requests}, users: 3}}
		},
		"gaps fall for longer than the engine keeps them": falling(preset.Config),
	}
}

// falling is 3,000 requests that end one after the other, each step shorter
// than the one before, beside one that lives through all of them and one that
// comes late.
func falling(c scheduler.Config) func() engine.Config {
	const n = 3000
	c.MaxNumSeqs, c.MaxModelLen, c.MaxNumBatchedTokens, c.NumGPUBlocks = n+2, 2*n, n+2, 1<<20
	requests := make([]workload.Request, n+1)
	for i := range requests {
		requests[i] = workload.Request{ID: int64(i), Prompt: 1, Output: int32(2 + i)}
	}
	requests[n].Output = n + 500
	late := workload.Request{ID: n + 1, Arrival: sim.Time(sim.Second), Prompt: 1, Output: n / 2}
	requests = append(requests, late)
	return func() engine.Config {
		return engine.Config{Scheduler: c, Cost: pieces{base: sim.Microsecond, perSeq: sim.Microsecond}, Source: &list{requests: requests}}
	}
}

func TestEnginesAgreeOnCases(t *testing.T) {
	for name, newConfig := range cases(t) {
		t.Run(name, func(t *testing.T) {
			if name == "gaps fall for longer than the engine keeps them" {
				agree(t, newConfig)
				return
			}
			if _, diff := compare(newConfig); diff != "" {
				t.Error(diff)
			}
		})
	}
}
