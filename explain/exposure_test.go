package explain

import (
	"context"
	"errors"
	"fmt"
	"math"
	"testing"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"

	"servesim/analysis/blame"
	"servesim/scenario"
	"servesim/sim"
	"servesim/sim/observe"
)

// at is ms milliseconds since the run began, and span as long.
func at(ms int64) sim.Time       { return sim.Time(ms) * sim.Time(sim.Millisecond) }
func span(ms int64) sim.Duration { return sim.Duration(ms) * sim.Millisecond }

// TestExposureByHand is a request of which five gaps end: two of 10 ms without
// prompts, one of 30 ms beside 300 tokens, which take 20 of it, one of 30 ms with a
// step of 200 tokens in it, which decodes nothing and lasts 20; and a request that
// came in with the 300 tokens, which has the last of these gaps too.
func TestExposureByHand(t *testing.T) {
	e := NewExposure()
	err := errors.Join(
		e.Step(&observe.StepRun{Start: at(10), Steps: 1, First: span(30), Chunks: []observe.Chunk{{ID: 1, Tokens: 100}}}),
		e.Step(&observe.StepRun{Serial: 1, Start: at(40), Steps: 2, First: span(10), Base: span(10), Decodes: 1, Gaps: []observe.Gaps{{Seqs: 1, Steps: 2, First: span(10)}}}),
		e.Step(&observe.StepRun{Serial: 3, Start: at(60), Steps: 1, First: span(30), Base: span(10), Decodes: 1,
			Chunks: []observe.Chunk{{ID: 2, Tokens: 300}}, Gaps: []observe.Gaps{{Seqs: 1, Steps: 1, First: span(30)}}}),
		e.Step(&observe.StepRun{Serial: 4, Start: at(90), Steps: 1, First: span(20), Chunks: []observe.Chunk{{ID: 3, Tokens: 200}}}),
		e.Step(&observe.StepRun{Serial: 5, Start: at(110), Steps: 1, First: span(10), Base: span(10), Decodes: 2, Gaps: []observe.Gaps{{Seqs: 2, Steps: 1, First: span(30)}}}),
		e.Request(&observe.Request{ID: 1, Prompt: 100, Output: 5, First: at(40), Last: at(120)}),
		e.Request(&observe.Request{ID: 2, Prompt: 300, Output: 2, First: at(90), Last: at(120)}),
		e.Request(&observe.Request{ID: 3, Prompt: 200, Output: 1, First: at(110), Last: at(110)}),
	)
	if err != nil {
		t.Fatal(err)
	}
	want := Beside{Gaps: 5, Prompted: 3, Over: 1, Answers: 2, OverAnswers: 1, Steps: 2, Tokens: 500, Lost: 0.06}
	for budget, cut := range map[int32][2]int64{250: {1, 1}, 150: {3, 2}, 301: {1, 1}, 302: {0, 0}} {
		want.Over, want.OverAnswers = cut[0], cut[1]
		got := e.Beside(budget)
		if math.Abs(got.Lost-want.Lost) > 1e-12 {
			t.Errorf("lost %v s, want %v", got.Lost, want.Lost)
		}
		got.Lost = want.Lost
		if d := cmp.Diff(want, got); d != "" {
			t.Errorf("budget %d: %s", budget, d)
		}
	}
	if n := e.Longer(span(30)); n != 3 {
		t.Errorf("%d gaps of 30 ms or more are beside prompts, want 3", n)
	}
	if n := e.Longer(span(30) + 1); n != 0 {
		t.Errorf("%d longer ones, want none", n)
	}
}

// TestExposureIsWhatBlameCharges holds, for drawn scenarios, that what prompts cost
// gaps is what blame charges to prompts between tokens, which it finds request by
// request.
func TestExposureIsWhatBlameCharges(t *testing.T) {
	rapid.Check(t, func(r *rapid.T) {
		src := source(t, "requests=120", fmt.Sprintf("seed=%d", rapid.IntRange(1, 1000).Draw(r, "seed")))
		policy := rapid.SampledFrom([]string{"vllm@0.20", "vllm@0.8-v0", "vllm@0.11"}).Draw(r, "policy")
		src = with(src, setting("engine.policy", `"`+policy+`"`))
		if rapid.Bool().Draw(r, "chunked") {
			src = with(src, setting("engine.enable_chunked_prefill", "true"), setting("engine.max_num_batched_tokens", "2048"))
		} else {
			src = with(src, setting("engine.enable_chunked_prefill", "false"))
		}
		p, err := scenario.Load(src)
		if err != nil {
			t.Fatal(err)
		}
		e := NewExposure()
		var charged sim.Duration
		b := blame.New(blame.Options{Each: func(l *blame.Life) error {
			charged += l.AfterFirst[blame.DecodeSlowed] + l.AfterFirst[blame.Stalled]
			return nil
		}})
		if _, err := p.Simulate(context.Background(), scenario.Options{Sinks: []observe.Sink{e, b}}); err != nil {
			t.Fatal(err)
		}
		if _, err := b.Report(); err != nil {
			t.Fatal(err)
		}
		got := e.Beside(2048)
		if want := charged.Seconds(); math.Abs(got.Lost-want) > 1e-9*want || want == 0 {
			r.Fatalf("gaps lost %v s to prompts, requests %v", got.Lost, want)
		}
		if all := e.Beside(0); all.Over != all.Prompted || all.Prompted != got.Prompted || got.Over > got.Prompted || got.Prompted > got.Gaps {
			r.Fatalf("%+v and with no budget %+v", got, all)
		}
		if none := e.Beside(math.MaxInt32); none.Over != 0 || none.OverAnswers != 0 {
			r.Fatalf("no prompt is that long: %+v", none)
		}
	})
}
