package engine_test

import (
	"context"
	"fmt"

	"servesim/sim"
	"servesim/sim/engine"
	"servesim/sim/gpu"
	"servesim/sim/observe"
	"servesim/sim/scheduler"
	"servesim/sim/workload"
)

// plainCost is a step time that can be worked out by hand: 10 ms, and 1 ms for
// each prompt token.
type plainCost struct{}

func (plainCost) Step(w gpu.Work) sim.Duration {
	return 10*sim.Millisecond + sim.Duration(w.PrefillTokens)*sim.Millisecond
}

func (plainCost) Decode(_, _ int64) gpu.Progression {
	return gpu.Progression{First: 10 * sim.Millisecond, Steps: 1 << 40}
}

// printer is a Sink that prints what became of each request.
type printer struct{}

func (printer) Step(s *observe.StepRun) error {
	fmt.Printf("%v: %d × %v, %d decode, prompts %v\n", s.Start, s.Steps, s.First, s.Decodes, s.Chunks)
	return nil
}

func (printer) Request(r *observe.Request) error {
	fmt.Printf("request %d: queue %v, prefill %v, TTFT %v, decode %v, worst gap %v, E2E %v\n", r.ID,
		r.Scheduled.Sub(r.Sent), r.First.Sub(r.Scheduled), r.First.Sub(r.Arrival),
		r.Last.Sub(r.First), r.MaxGap, r.Last.Sub(r.Arrival))
	return nil
}

// runThree runs three requests and prints their records.
func runThree(async bool) {
	ms := func(n int64) sim.Time { return sim.Time(n) * sim.Time(sim.Millisecond) }
	preset, err := scheduler.FindPreset("vllm@0.20")
	if err != nil {
		fmt.Println(err)
		return
	}
	c := preset.Config
	c.AsyncScheduling = async
	c.MaxNumBatchedTokens, c.MaxNumSeqs, c.MaxModelLen, c.NumGPUBlocks = 64, 8, 1000, 100
	err = engine.Run(context.Background(), engine.Config{
		Scheduler: c, Cost: plainCost{}, Sink: printer{},
		Source: &list{requests: []workload.Request{
			{ID: 0, Arrival: 0, Prompt: 20, Output: 3},
			{ID: 1, Arrival: ms(5), Prompt: 10, Output: 2},
			{ID: 2, Arrival: ms(200), Prompt: 5, Output: 4},
		}},
	})
	fmt.Println(err)
}

// Request 0 computes its prompt of 20 tokens in the step from 0 to 30 ms, which
// makes its first token. Request 1 came at 5 ms; its prompt of 10 tokens shares
// the step from 30 to 50 ms with the second token of request 0. In the step
// from 50 to 60 ms both get their last. Request 2 finds an idle engine at 200 ms.
func ExampleRun() {
	runThree(false)
	// Output:
	// 0s: 1 × 30ms, 0 decode, prompts [{0 0 20 false false}]
	// 30ms: 1 × 20ms, 1 decode, prompts [{1 0 10 false false}]
	// 50ms: 1 × 10ms, 2 decode, prompts []
	// request 0: queue 0s, prefill 30ms, TTFT 30ms, decode 30ms, worst gap 20ms, E2E 60ms
	// request 1: queue 25ms, prefill 20ms, TTFT 45ms, decode 10ms, worst gap 10ms, E2E 55ms
	// 200ms: 1 × 15ms, 0 decode, prompts [{2 0 5 false false}]
	// 215ms: 3 × 10ms, 1 decode, prompts []
	// request 2: queue 0s, prefill 15ms, TTFT 15ms, decode 30ms, worst gap 10ms, E2E 45ms
	// <nil>
}

// With asynchronous scheduling the step from 30 ms was planned at 0, before
// request 1 came at 5 ms: it starts a step later, at 40 ms.
func ExampleRun_asyncScheduling() {
	runThree(true)
	// Output:
	// 0s: 1 × 30ms, 0 decode, prompts [{0 0 20 false false}]
	// 30ms: 1 × 10ms, 1 decode, prompts []
	// 40ms: 1 × 20ms, 1 decode, prompts [{1 0 10 false false}]
	// request 0: queue 0s, prefill 30ms, TTFT 30ms, decode 30ms, worst gap 20ms, E2E 60ms
	// 60ms: 1 × 10ms, 1 decode, prompts []
	// request 1: queue 35ms, prefill 20ms, TTFT 55ms, decode 10ms, worst gap 10ms, E2E 65ms
	// 200ms: 1 × 15ms, 0 decode, prompts [{2 0 5 false false}]
	// 215ms: 3 × 10ms, 1 decode, prompts []
	// request 2: queue 0s, prefill 15ms, TTFT 15ms, decode 30ms, worst gap 10ms, E2E 45ms
	// <nil>
}
