package blame_test

import (
	"context"
	"io"
	"testing"

	"github.com/google/go-cmp/cmp"

	"servesim/analysis/blame"
	"servesim/sim"
	"servesim/sim/engine"
	"servesim/sim/gpu"
	"servesim/sim/scheduler"
	"servesim/sim/workload"
)

// us is a microsecond; each step takes 1,200 of them, whatever it computes.
const (
	us   = sim.Microsecond
	step = 1200 * us
)

// even is a cost model under which all steps last as long.
type even struct{}

func (even) Step(gpu.Work) sim.Duration        { return step }
func (even) Decode(_, _ int64) gpu.Progression { return gpu.Progression{First: step, Steps: 1 << 20} }

// given is a Source of given requests.
type given []workload.Request

func (g *given) Next() (r workload.Request, err error) {
	if len(*g) == 0 {
		return r, io.EOF
	}
	r, *g = (*g)[0], (*g)[1:]
	return r, nil
}

// arrival is a request by its arrival in microseconds, its prompt and its output.
func arrival(id, at int64, prompt, output int32) workload.Request {
	return workload.Request{ID: id, Arrival: sim.Time(sim.Duration(at) * us), Prompt: prompt, Output: output}
}

// TestCausesByHand charges the one of a few requests that has the greatest ID, for
// every reason to wait.
func TestCausesByHand(t *testing.T) {
	type change = func(*scheduler.Config)
	sync := func(more change) change {
		return func(c *scheduler.Config) {
			c.AsyncScheduling = false
			more(c)
		}
	}
	for name, c := range map[string]struct {
		preset   string
		change   change
		requests given
		want     blame.Parts
	}{
		// 0 has its prompt to 1,200 and decodes to 3,600. The step under way when 1
		// comes is 0's prompt; then 0 has the only slot.
		"slot": {"vllm@0.20", sync(func(c *scheduler.Config) { c.MaxNumSeqs = 1 }), given{arrival(0, 0, 4, 3), arrival(1, 600, 4, 1)},
			blame.Parts{blame.Behind: 600 * us, blame.Slots: 2400 * us, blame.Prefill: step}},
		// The same, but 1 comes while 0 decodes, and every step is planned ahead.
		"planned ahead": {"vllm@0.20", func(*scheduler.Config) {}, given{arrival(0, 0, 4, 9), arrival(1, 1800, 4, 1)},
			blame.Parts{blame.InFlight: 600 * us, blame.Ahead: step, blame.Prefill: step}},
		// 0 grows into the second of two blocks of 4 and ends at 4,800.
		"blocks": {"vllm@0.20", sync(func(c *scheduler.Config) { c.NumGPUBlocks = 3 }), given{arrival(0, 0, 4, 4), arrival(1, 1200, 4, 1)},
			blame.Parts{blame.Blocks: 3600 * us, blame.Prefill: step}},
		// 0's prompt takes the whole budget of three steps.
		"behind a prompt": {"vllm@0.20", sync(func(c *scheduler.Config) { c.MaxNumBatchedTokens = 4 }), given{arrival(0, 0, 12, 1), arrival(1, 0, 4, 1)},
			blame.Parts{blame.Behind: 3600 * us, blame.Prefill: step}},
		// Two decodes are the whole budget until 4,800: their prompts went one by one.
		"budget": {"vllm@0.20", sync(func(c *scheduler.Config) { c.MaxNumBatchedTokens = 2 }), given{arrival(0, 0, 1, 4), arrival(1, 0, 1, 4), arrival(2, 1200, 1, 1)},
			blame.Parts{blame.Budget: 3600 * us, blame.Prefill: step}},
		// Three blocks of 2: when both decode, 1 finds none, and comes back when 0
		// ends at 4,800 to compute its 2 prompt tokens again and its first output.
		"preempted": {"vllm@0.11", func(c *scheduler.Config) { c.BlockSize, c.NumGPUBlocks = 2, 4 }, given{arrival(0, 0, 2, 4), arrival(1, 0, 2, 2)},
			blame.Parts{blame.Prefill: 600*us + 400*us, blame.PrefillSlowed: 600 * us, blame.Preempted: 3600 * us, blame.Redo: 800 * us}},
		// Whole prompts first: 1's is a step in which 0 stands still.
		"stalled": {"vllm@0.8-v0", func(*scheduler.Config) {}, given{arrival(9, 0, 4, 3), arrival(1, 1200, 4, 1)},
			blame.Parts{blame.Prefill: step, blame.Stalled: step, blame.Decode: 2 * step}},
	} {
		t.Run(name, func(t *testing.T) {
			p, err := scheduler.FindPreset(c.preset)
			if err != nil {
				t.Fatal(err)
			}
			s := p.Config
			s.MaxNumSeqs, s.MaxModelLen, s.MaxNumBatchedTokens, s.BlockSize, s.NumGPUBlocks = 8, 64, 64, 4, 100
			c.change(&s)
			var got blame.Parts
			last := int64(0)
			b := blame.New(blame.Options{Each: func(l *blame.Life) error {
				if l.Request.ID >= last {
					last, got = l.Request.ID, l.Parts()
				}
				return nil
			}})
			if err := engine.Run(context.Background(), engine.Config{Scheduler: s, Cost: even{}, Source: &c.requests, Sink: b, Detail: true}); err != nil {
				t.Fatal(err)
			}
			for cause := range got {
				if got[cause] != c.want[cause] {
					t.Errorf("%v: %v, want %v", blame.Cause(cause), got[cause], c.want[cause])
				}
			}
			if d := cmp.Diff(c.want.Sum(), got.Sum()); d != "" {
				t.Error(d)
			}
		})
	}
}
