package gpu

import (
	"testing"

	"servesim/sim"

	"pgregory.net/rapid"
)

// eagerCost returns the cost of Llama-3.1-8B, 32 layers, on one H100, whose
// kernels take 1 ms a layer to launch one by one.
func eagerCost(t testing.TB, eager bool) (with, without *StepTime) {
	s := mustSetup(t, "h100", "Llama-3.1-8B", 1, BF16, BF16, "vllm")
	p := *s.Profile
	e := p.Engine["vllm"]
	e.EagerLayerS, e.EagerPrefill = 1e-3, false
	p.Engine = map[string]Engine{"vllm": e}
	s.Profile = &p
	plain, err := NewCost(s)
	if err != nil {
		t.Fatal(err)
	}
	s.EagerPrefill = &eager
	launched, err := NewCost(s)
	if err != nil {
		t.Fatal(err)
	}
	return launched, plain
}

// TestLaunchByHand: 32 layers take 32 ms to launch, so a short prompt takes that and
// the host's time, a prompt of which the GPU part is longer takes as long as
// otherwise, and decodes alone are not concerned.
func TestLaunchByHand(t *testing.T) {
	eager, plain := eagerCost(t, true)
	prompt := func(tokens int64) Work {
		var w Work
		w.AddChunk(0, tokens, true)
		return w
	}
	short, long, decode := prompt(16), prompt(16384), Work{DecodeSeqs: 8, DecodeKV: 8000, Samples: 8}
	if got, want := eager.Step(short), 32*sim.Millisecond+eager.host.of(short); got != want {
		t.Errorf("a short prompt takes %v, want %v", got, want)
	}
	for _, w := range []Work{long, decode} {
		if got, want := eager.Step(w), plain.Step(w); got != want {
			t.Errorf("%+v takes %v, without the launches %v", w, got, want)
		}
	}
	off, plain := eagerCost(t, false)
	if got, want := off.Step(short), plain.Step(short); got != want {
		t.Errorf("with graphs for prompts a short one takes %v, want %v", got, want)
	}
}

// Laws: launching makes no step faster, a step grows with its prompt, and the
// operators sum to the GPU time whether the launches or the kernels take longer.
func TestLaunchLaws(t *testing.T) {
	eager, plain := eagerCost(t, true)
	rapid.Check(t, func(t *rapid.T) {
		w := Work{DecodeSeqs: rapid.Int64Range(0, 64).Draw(t, "decodes")}
		w.DecodeKV, w.Samples = 500*w.DecodeSeqs, w.DecodeSeqs
		more := w
		tokens := rapid.Int64Range(1, 20000).Draw(t, "tokens")
		w.AddChunk(0, tokens, true)
		more.AddChunk(0, tokens+rapid.Int64Range(0, 5000).Draw(t, "more"), true)
		if eager.Step(w) < plain.Step(w) || eager.Step(more) < eager.Step(w) {
			t.Fatalf("%v eager, %v with graphs, %v of more", eager.Step(w), plain.Step(w), eager.Step(more))
		}
		var sum sim.Duration
		for _, o := range eager.Breakdown(w) {
			sum += o.Time
		}
		gpu := eager.Step(w) - eager.host.of(w)
		if d := sum - gpu; d < -hop || d > hop {
			t.Fatalf("operators sum to %v, the GPU time is %v", sum, gpu)
		}
	})
}

// Without any graph a decode step takes as long as launching its kernels, until its
// context makes the GPU slower; in closed form as step by step.
func TestEnforceEagerByHand(t *testing.T) {
	for _, async := range []bool{false, true} {
		s := mustSetup(t, "h100", "Llama-3.1-8B", 1, BF16, BF16, "generic")
		p := *s.Profile
		e := p.Engine["generic"]
		e.EagerLayerS = 1e-3
		p.Engine = map[string]Engine{"generic": e}
		s.Profile, s.EnforceEager, s.Async = &p, true, async
		c, err := NewCost(s)
		if err != nil {
			t.Fatal(err)
		}
		small := Work{DecodeSeqs: 8, DecodeKV: 8000, Samples: 8}
		want := 32 * sim.Millisecond
		if !async {
			want += c.host.of(small)
		}
		if got := c.Step(small); got != want {
			t.Errorf("async %v: a small step takes %v, want %v", async, got, want)
		}
		for _, kv := range []int64{8000, 300_000, 600_000, 640_000, 660_000, 2_000_000} {
			decodeLaws(t, c, 8, kv)
		}
	}
}
