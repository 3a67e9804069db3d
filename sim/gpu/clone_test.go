package gpu

import (
	"sync"
	"testing"
)

// TestClonesAnswerAtOnce has clones fill their tables at the same time, and in
// different orders; the race detector watches.
func TestClonesAnswerAtOnce(t *testing.T) {
	profile, err := LoadProfile("h100")
	if err != nil {
		t.Fatal(err)
	}
	model, err := LoadModel("Llama-3.1-8B")
	if err != nil {
		t.Fatal(err)
	}
	cost, err := NewCost(Setup{Profile: profile, Model: model, TP: 1, Weights: BF16, KV: BF16, Engine: "vllm"})
	if err != nil {
		t.Fatal(err)
	}
	cost.Decode(7, 700) // so that there is something to share
	var all sync.WaitGroup
	var got [4][200]Progression
	for i := range got {
		c := cost.Clone()
		all.Go(func() {
			for n := range got[i] {
				seqs := int64(n + 1)
				if i%2 == 1 {
					seqs = int64(len(got[i]) - n)
				}
				got[i][seqs-1] = c.Decode(seqs, 100*seqs)
			}
		})
	}
	all.Wait()
	for i := range got {
		for n, p := range got[i] {
			if want := cost.Decode(int64(n+1), int64(100*(n+1))); p != want {
				t.Fatalf("clone %d, %d sequences: %+v, want %+v", i, n+1, p, want)
			}
		}
	}
}
