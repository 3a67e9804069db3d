package gpu

import (
	"strings"
	"testing"

	"pgregory.net/rapid"
)

// item returns the bytes of an item of the ledger of m in bf16 on one H100.
func item(t *testing.T, m *Model, o MemoryOptions, name string) int64 {
	t.Helper()
	l, err := NewLedger(withModel(mustSetup(t, "h100", "Llama-3.1-8B", 1, BF16, BF16, "vllm"), m), o)
	if err != nil {
		t.Fatal(err)
	}
	for _, i := range l.Items {
		if i.Name == name {
			return i.Bytes
		}
	}
	t.Fatalf("no item %s in\n%v", name, l)
	return 0
}

// Weights by hand. Two layers of hidden size 1024, 8 heads and 2 KV heads of 128:
// 1024·(8 + 2·2)·128 for query, key and value, 8·128·1024 out, 3·1024·4096 MLP,
// which are 1,572,864 + 1,048,576 + 12,582,912 = 15,204,352 and 30,408,704 for
// both. A vocabulary of 32,000 has a matrix of 32,768,000, once if tied. bf16: 2
// bytes each.
func TestWeightsByHand(t *testing.T) {
	m := dense("Hand", [6]int64{2, 1024, 8, 2, 4096, 32000})
	if got, want := item(t, m, vllmOptions(2048), "weights"), int64(2*(30_408_704+2*32_768_000)); got != want {
		t.Errorf("weights take %d bytes, want %d", got, want)
	}
	m.TiedEmbeddings = true
	if got, want := item(t, m, vllmOptions(2048), "weights"), int64(2*(30_408_704+32_768_000)); got != want {
		t.Errorf("weights with tied embeddings take %d bytes, want %d", got, want)
	}
}

// Activations of 100,000 tokens by hand, many enough for a layer's tensors to be
// the largest of all. In bf16, 2 bytes for each of a token's
//
//	1024 residual + 1024 input + 2·512 gate and up   = 3,072, MLP narrower than hidden
//	1024 residual + 2·4096 gate and up + 4096 product = 13,312, MLP wider
//	2·1024 + 2 experts·(3·768 + 1024)                 = 8,704, experts
func TestActivationsByHand(t *testing.T) {
	experts := dense("Experts", [6]int64{2, 1024, 8, 2, 4096, 32000})
	experts.Experts, experts.ExpertsPerToken, experts.ExpertWidth = 8, 2, 768
	for _, c := range []struct {
		model    *Model
		elements int64 // of a token
	}{
		{dense("Narrow", [6]int64{2, 1024, 8, 2, 512, 32000}), 3072},
		{dense("Wide", [6]int64{2, 1024, 8, 2, 4096, 32000}), 13_312},
		{experts, 8704},
	} {
		if got, want := item(t, c.model, vllmOptions(100_000), "activations"), 2*c.elements*100_000; got != want {
			t.Errorf("%s: activations take %d bytes, want %d", c.model.Name, got, want)
		}
	}
}

// Law: an override of as many blocks as max_model_len takes fits, one less doesn't.
func TestOverrideThatJustFits(t *testing.T) {
	s := mustSetup(t, "h100", "Llama-3.1-8B", 1, BF16, BF16, "vllm")
	rapid.Check(t, func(t *rapid.T) {
		o := vllmOptions(2048)
		o.BlockSize = rapid.Int64Range(1, 256).Draw(t, "block size")
		need := rapid.Int64Range(2, 10_000).Draw(t, "blocks")
		o.MaxModelLen = need*o.BlockSize - rapid.Int64Range(0, o.BlockSize-1).Draw(t, "room")
		o.NumGPUBlocksOverride = need
		if l, err := NewLedger(s, o); err != nil || l.Blocks() != need {
			t.Fatalf("%d blocks of %d for %d tokens: %v", need, o.BlockSize, o.MaxModelLen, err)
		}
		o.NumGPUBlocksOverride--
		if _, err := NewLedger(s, o); err == nil || !strings.Contains(err.Error(), "does not fit") {
			t.Fatalf("%d blocks of %d for %d tokens: %v", need-1, o.BlockSize, o.MaxModelLen, err)
		}
	})
}
