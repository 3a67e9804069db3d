package gpu

import (
	"testing"

	"servesim/sim"
)

// costLaws holds c, and the same model built anew, to the contract of Cost:
// steps take time and never less when any field of their work grows; Decode
// says, step for step, what Step says; the same question has the same answer.
func costLaws(t *testing.T, c, fresh Cost) {
	t.Helper()
	works := []Work{
		{},
		{PrefillTokens: 1, PrefillSeqs: 1, PrefillPairs: 1, Samples: 1},
		{PrefillTokens: 2048, PrefillSeqs: 3, PrefillPairs: 900_000, Samples: 2},
		{DecodeSeqs: 1, DecodeKV: 1, Samples: 1},
		{DecodeSeqs: 200, DecodeKV: 300_000, Samples: 200},
		{PrefillTokens: 1792, PrefillSeqs: 1, PrefillPairs: 1 << 24, DecodeSeqs: 256, DecodeKV: 1 << 22, Samples: 257},
	}
	for _, w := range works {
		took := c.Step(w)
		if took <= 0 {
			t.Errorf("%+v takes %v", w, took)
		}
		more := w
		for _, field := range []*int64{&more.PrefillTokens, &more.PrefillSeqs, &more.PrefillPairs, &more.DecodeSeqs, &more.DecodeKV, &more.Samples} {
			for _, by := range []int64{1, 1000} {
				*field += by
				if longer := c.Step(more); longer < took {
					t.Errorf("%+v takes %v, but %+v takes %v", w, took, more, longer)
				}
				*field -= by
			}
		}
	}
	for _, batch := range [][2]int64{{1, 1}, {1, 4096}, {7, 7 * 130}, {256, 256 * 4000}} {
		decodeLaws(t, c, batch[0], batch[1])
	}
	for _, w := range works { // which c has answered, among other questions
		if a, b := c.Step(w), fresh.Step(w); a != b {
			t.Errorf("%+v takes %v, and asked first %v", w, a, b)
		}
	}
	if a, b := c.Decode(3, 900), fresh.Decode(3, 900); a != b {
		t.Errorf("Decode(3, 900) = %+v, and asked first %+v", a, b)
	}
}

// decodeLaws follows a batch over three of its stretches.
func decodeLaws(t *testing.T, c Cost, seqs, kv int64) {
	t.Helper()
	for range 3 {
		p := c.Decode(seqs, kv)
		if p.Steps < 1 || p.Inc < 0 {
			t.Errorf("Decode(%d, %d) = %+v", seqs, kv, p)
			return
		}
		far := min(p.Steps, 1<<16)
		for _, i := range []int64{0, 1, far / 2, far - 1} {
			got := p.First + p.Inc*sim.Duration(i)
			if want := c.Step(Work{DecodeSeqs: seqs, DecodeKV: kv + i*seqs, Samples: seqs}); i < far && got != want {
				t.Errorf("step %d of Decode(%d, %d) = %+v takes %v, Step says %v", i, seqs, kv, p, got, want)
			}
		}
		kv += far * seqs
	}
}

// TestEveryShippedCostKeepsTheContract tries every engine and layout of every
// profile and model, in every format, with and without overlap of the host.
func TestEveryShippedCostKeepsTheContract(t *testing.T) {
	n := 0
	for _, profile := range ProfileNames() {
		for _, model := range ModelNames() {
			base := mustSetup(t, profile, model, 1, BF16, BF16, "")
			for _, engine := range sortedKeys(base.Profile.Engine) {
				for i := range 4 * 4 * 2 * 2 {
					s := base
					s.Engine, s.TP, s.Async = engine, 1<<(i%4), i/32 == 1
					s.Weights, s.KV = []Format{BF16, FP8, FP4, MXFP4}[i/4%4], []Format{BF16, FP8}[i/16%2]
					c, err := NewCost(s)
					if err != nil {
						continue
					}
					n++
					costLaws(t, c, mustCost(t, s))
					if t.Failed() {
						t.Fatalf("with %s, %s, TP %d, %s weights, %s KV, engine %s, async %v", profile, model, s.TP, s.Weights, s.KV, engine, s.Async)
					}
				}
			}
		}
	}
	t.Logf("%d setups", n)
	if n < 2000 {
		t.Errorf("only %d setups of what ships work", n)
	}
}
