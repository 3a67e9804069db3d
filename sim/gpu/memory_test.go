package gpu

import (
	"math"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"
)

// vllmOptions is the options of the logged runs: vLLM 0.15 on H100.
func vllmOptions(tokens int64) MemoryOptions {
	return MemoryOptions{GPUMemoryUtilization: 0.9, BlockSize: 16, MaxNumBatchedTokens: tokens, MaxNumSeqs: 128}
}

// dense returns a model shape of layers, hidden, heads, KV heads, MLP width and
// vocabulary with a head dimension of 128.
func dense(name string, n [6]int64) *Model {
	return &Model{Schema: 1, Name: name, Layers: n[0], Hidden: n[1], Heads: n[2], KVHeads: n[3],
		HeadDim: 128, Intermediate: n[4], Vocab: n[5], MaxContextTokens: 4096}
}

// The tokens of KV cache that vLLM 0.15 printed at its start on H100. Sources:
// inference-sim/inference-sim, commit f90a1e3a6787,
// testdata/roofline_goldendataset.json, whose six runs set the two constants of
// the profile and the form of the ledger; and, held out,
// inference-sim/sim-to-real-accuracy-validation, commit dcec3fd4711c, the design
// document of 2026-03-04, of which only Mixtral was known when the expert term
// was written. A constant of 1.2 GB instead of activations, context and
// collectives errs by -1.4 % on Llama-2-7B and -0.9 to -1.2 % on the held-out
// runs. The bound is 0.3 % of the KV cache: what the two constants vary by over
// the runs, 0.1 GB of about 40.
func TestLedgerAgainstStartUpLogs(t *testing.T) {
	p, err := LoadProfile("h100")
	if err != nil {
		t.Fatal(err)
	}
	mixtral := dense("Mixtral-8x7B", [6]int64{32, 4096, 32, 8, 14336, 32000})
	mixtral.Experts, mixtral.ExpertsPerToken, mixtral.ExpertWidth = 8, 2, 14336
	llama2 := dense("Llama-2-70B", [6]int64{80, 8192, 64, 8, 28672, 32000})
	nemo := dense("Mistral-Nemo", [6]int64{40, 5120, 32, 8, 14336, 131072})
	for _, log := range []struct {
		model   *Model
		tp      int
		batched int64 // max_num_batched_tokens
		tokens  int64
	}{
		{dense("Llama-2-7B", [6]int64{32, 4096, 32, 32, 11008, 32000}), 1, 2048, 7463 * 16},
		{dense("Qwen2.5-7B", [6]int64{28, 3584, 28, 4, 18944, 152064}), 1, 2048, 65368 * 16},
		{nemo, 1, 2048, 19251 * 16},
		{nemo, 2, 1024, 48009 * 16},
		{dense("Yi-34B", [6]int64{60, 7168, 56, 8, 20480, 64000}), 2, 2048, 20793 * 16},
		{dense("Llama-3.1-70B", [6]int64{80, 8192, 64, 8, 28672, 128256}), 4, 8192, 30425 * 16},
		// Held out.
		{dense("CodeLlama-34B", [6]int64{48, 8192, 64, 8, 22016, 32000}), 2, 2048, 425_648},
		{mixtral, 2, 2048, 440_176},
		{llama2, 4, 2048, 501_712},
	} {
		l, err := NewLedger(Setup{Profile: p, Model: log.model, TP: log.tp, Weights: BF16, KV: BF16}, vllmOptions(log.batched))
		if err != nil {
			t.Fatal(err)
		}
		got := float64(l.Blocks() * 16)
		percent := (got/float64(log.tokens) - 1) * 100
		t.Logf("%-14s tp%d: %8.0f tokens, log %8d, %+.2f %%", log.model.Name, log.tp, got, log.tokens, percent)
		if math.Abs(percent) > 0.3 {
			t.Errorf("%s tp%d: %.0f tokens of KV, the log says %d: %+.2f %%", log.model.Name, log.tp, got, log.tokens, percent)
		}
	}
}

// Llama-3.1-8B on one H100, by hand. Weights: 32 layers of 4096·(6144+4096) +
// 3·4096·14336 = 218,103,808 and 2·128256·4096, 8,029,995,008 in all, 2 bytes
// each. Activations: the sampling of 256 sequences, 38.6·128256·256. A token of KV: 2·32·8·128·2.
func TestLedgerByHand(t *testing.T) {
	o := MemoryOptions{GPUMemoryUtilization: 0.9, BlockSize: 16, MaxNumBatchedTokens: 8192, MaxNumSeqs: 256}
	l, err := NewLedger(mustSetup(t, "h100", "Llama-3.1-8B", 1, BF16, BF16, "vllm"), o)
	if err != nil {
		t.Fatal(err)
	}
	want := `total             84900000000 bytes     84.90 GB
share             76410000000 bytes     76.41 GB
- weights         16059990016 bytes     16.06 GB
- activations      1267374490 bytes      1.27 GB
- context           100000000 bytes      0.10 GB
- collectives               0 bytes      0.00 GB
- graphs                    0 bytes      0.00 GB
kv cache          58982635494 bytes     58.98 GB
28125 blocks of 16 tokens of 131072 bytes
`
	if d := cmp.Diff(want, l.String()); d != "" {
		t.Error(d)
	}
}

func TestLedgerOverrides(t *testing.T) {
	s := mustSetup(t, "h100", "Llama-3.1-8B", 1, BF16, BF16, "vllm")
	o := vllmOptions(8192)
	o.Overrides = map[string]int64{"weights": 16_410_000_000, "activations": 0, "context": 0, "collectives": 0, "graphs": 60_000_000_000 - 131072*16*5}
	l, err := NewLedger(s, o)
	if err != nil {
		t.Fatal(err)
	}
	if l.Blocks() != 5 || !l.Items[0].Overridden {
		t.Errorf("%d blocks, want 5:\n%v", l.Blocks(), l)
	}
	o.NumGPUBlocksOverride = 1234
	if l, err = NewLedger(s, o); err != nil || l.Blocks() != 1234 {
		t.Errorf("%v blocks, %v; want 1234", l, err)
	}
}

// Laws: the items and the KV cache are the share, the blocks fill the KV cache
// but for less than one, and more memory or GPUs never give fewer blocks.
func TestLedgerLaws(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		m, err := LoadModel(rapid.SampledFrom(ModelNames()).Draw(t, "model"))
		if err != nil {
			t.Fatal(err)
		}
		p, err := LoadProfile(rapid.SampledFrom(ProfileNames()).Draw(t, "profile"))
		if err != nil {
			t.Fatal(err)
		}
		s := Setup{Profile: p, Model: m, TP: int(rapid.SampledFrom([]int64{1, 2, 4}).Draw(t, "tp")),
			Weights: rapid.SampledFrom([]Format{BF16, FP8, FP4}).Draw(t, "weights"),
			KV:      rapid.SampledFrom([]Format{BF16, FP8}).Draw(t, "kv")}
		o := MemoryOptions{GPUMemoryUtilization: rapid.Float64Range(0.1, 0.97).Draw(t, "utilization"),
			BlockSize:           rapid.Int64Range(1, 256).Draw(t, "block size"),
			MaxNumBatchedTokens: rapid.Int64Range(1, 1<<17).Draw(t, "tokens"),
			MaxNumSeqs:          rapid.Int64Range(1, 1024).Draw(t, "seqs")}
		l, err := NewLedger(s, o)
		if err != nil {
			return
		}
		sum := l.KVBytes
		for _, i := range l.Items {
			sum += i.Bytes
		}
		if sum != l.ShareBytes {
			t.Fatalf("items and KV are %d bytes, the share is %d", sum, l.ShareBytes)
		}
		if rest := l.KVBytes - l.Blocks()*l.BlockSize*l.BytesPerToken; rest < 0 || rest >= l.BlockSize*l.BytesPerToken {
			t.Fatalf("%d blocks leave %d bytes", l.Blocks(), rest)
		}
		o.GPUMemoryUtilization += 0.02
		more, err := NewLedger(s, o)
		if err != nil || more.Blocks() < l.Blocks() {
			t.Fatalf("more memory: %v, %v; before %v", more, err, l)
		}
	})
}

func TestLedgerFaults(t *testing.T) {
	big := mustSetup(t, "h100", "Llama-3.1-405B", 1, BF16, BF16, "vllm")
	small := mustSetup(t, "h100", "Llama-3.1-8B", 1, BF16, BF16, "vllm")
	tight := mustSetup(t, "h100", "Llama-3.1-70B", 1, FP8, FP8, "vllm")
	for _, c := range []struct {
		name string
		s    Setup
		o    func(*MemoryOptions)
		want []string
	}{
		{"405B", big, func(*MemoryOptions) {}, []string{
			"Llama-3.1-405B in bf16 with bf16 KV does not fit on one h100",
			"leave -739.59 GB for KV", "even tensor_parallel_size 8 leaves -26.47 GB for KV on each GPU; use a smaller number format"}},
		{"70B", tight, func(o *MemoryOptions) { o.MaxModelLen = 131072 }, []string{"Llama-3.1-70B in fp8 with fp8 KV does not fit on one h100",
			"and 131072 tokens take 21.47 GB",
			"use the smallest layout that fits, tensor_parallel_size 2", "set max_model_len to 9488 or less, or"}},
		{"little memory", small, func(o *MemoryOptions) { o.GPUMemoryUtilization = 0.05 }, []string{"; set gpu_memory_utilization to 0.21 or more, or use the smallest layout"}},
		{"very long", small, func(o *MemoryOptions) { o.MaxModelLen = 10_000_000 }, []string{"; set max_model_len to "}},
		{"utilization", big, func(o *MemoryOptions) { o.GPUMemoryUtilization = math.NaN() }, []string{"gpu_memory_utilization is NaN; want a share above 0 and at most 1"}},
		{"two at once", big, func(o *MemoryOptions) { o.BlockSize, o.MaxNumSeqs = 0, -1 }, []string{"block_size is 0; want 1", "max_num_seqs is -1; want 1"}},
		{"override name", big, func(o *MemoryOptions) { o.Overrides = map[string]int64{"weight": 1} }, []string{`no item "weight"; did you mean "weights"?`}},
		{"override value", big, func(o *MemoryOptions) { o.Overrides = map[string]int64{"weights": -1} }, []string{"memory of weights is overridden with -1 bytes"}},
		{"override too few", big, func(o *MemoryOptions) { o.NumGPUBlocksOverride, o.MaxModelLen = 10, 161 }, []string{"num_gpu_blocks_override is 10, but max_model_len of 161 tokens takes 11 blocks"}},
	} {
		o := vllmOptions(8192)
		c.o(&o)
		_, err := NewLedger(c.s, o)
		if err == nil {
			t.Errorf("%s: no error", c.name)
			continue
		}
		for _, want := range c.want {
			if !strings.Contains(err.Error(), want) {
				t.Errorf("%s: error is\n%v\nwithout\n%s", c.name, err, want)
			}
		}
	}
}
