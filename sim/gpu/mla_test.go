package gpu

import (
	"math"
	"testing"

	"github.com/google/go-cmp/cmp"
)

// DeepSeek-V3 with TP 8 by hand: 16 heads a GPU. Latents and the projections to
// them are whole on every GPU.
func TestLatentShapesByHand(t *testing.T) {
	m, err := LoadModel("DeepSeek-V3")
	if err != nil {
		t.Fatal(err)
	}
	l, err := newLayout(m, 8)
	if err != nil {
		t.Fatal(err)
	}
	want := []shape{
		{"q_a_proj", 1536, 7168},             // q_a
		{"q_b_proj", 16 * (128 + 64), 1536},  // q_b
		{"kv_a_proj", 512 + 64, 7168},        // kv_a
		{"kv_b_proj", 16 * (128 + 128), 512}, // kv_b
		{"o_proj", 7168, 16 * 128},           // o
	}
	if d := cmp.Diff(want, l.attentionShapes(m), cmp.AllowUnexported(shape{})); d != "" {
		t.Error(d)
	}
	direct := *m
	direct.QRank = 0
	want = append([]shape{{"q_proj", 16 * 192, 7168}}, want[2:]...)
	if d := cmp.Diff(want, l.attentionShapes(&direct), cmp.AllowUnexported(shape{})); d != "" {
		t.Error(d)
	}
	// The paper's figure for V3's cache: 61·(512 + 64) elements, 70,272 bytes.
	if got := m.KVBytesPerToken(BF16); got != 70_272 {
		t.Errorf("%d bytes of KV a token, want 70272", got)
	}
}

// FLOP of a query-key pair on all 128 heads, by hand: expanded 2·128·(192 + 128) =
// 81,920; absorbed 2·128·(512 + 64 + 512) = 278,528.
func TestLatentFlopByHand(t *testing.T) {
	s := mustSetup(t, "h100", "DeepSeek-V3", 1, FP8, BF16, "generic")
	l, err := newLayout(s.Model, 1)
	if err != nil {
		t.Fatal(err)
	}
	c, err := s.Profile.coefficients(s)
	if err != nil {
		t.Fatal(err)
	}
	w := l.attn(s.Model, BF16)
	prefill := c.prefill.of(w, 1)
	if got := prefill.perPair * c.prefill.FlopPerS; math.Abs(got-81_920) > 1e-6 {
		t.Errorf("%v FLOP a pair of prefill, want 81920", got)
	}
	compute := 278_528 / c.prefill.FlopPerS
	read := 576 * 2 / c.decode.BytesPerS
	want := math.Hypot(compute, read)
	if got := c.decode.latentPerToken(w, c); math.Abs(got/want-1) > 1e-12 {
		t.Errorf("a token of context takes %v s, want %v", got, want)
	}
}

// Laws: reading fewer bytes of a latent is never slower, nor are more GPUs, and
// what reading and computing take alone is never undercut.
func TestLatentLaws(t *testing.T) {
	for _, profile := range ProfileNames() {
		last := math.Inf(1)
		for _, tp := range tensorParallel() {
			s := mustSetup(t, profile, "DeepSeek-R1", int(tp), FP8, BF16, "generic")
			l, err := newLayout(s.Model, tp)
			if err != nil {
				t.Fatal(err)
			}
			c, err := s.Profile.coefficients(s)
			if err != nil {
				t.Fatal(err)
			}
			got := s.contextSeconds(l, c)
			read := 576 * 2 / s.Profile.Datasheet.HBMBytesPerS
			compute := 278_528 / float64(tp) / s.Profile.Datasheet.BF16FlopPerS
			if got >= last || got < read || got < compute {
				t.Errorf("%s TP %d: %v s, with fewer GPUs %v, reading %v, computing %v", profile, tp, got, last, read, compute)
			}
			last = got
		}
	}
}

// Shared experts and dense layers by hand: the weights of DeepSeek-V3, and what a
// token takes of them: 671 and 37 billion (arXiv 2412.19437, abstract).
func TestDeepSeekParameters(t *testing.T) {
	m, err := LoadModel("DeepSeek-V3")
	if err != nil {
		t.Fatal(err)
	}
	total, active := m.Parameters()
	attention := int64(1536*7168 + 128*192*1536 + 576*7168 + 128*256*512 + 7168*128*128)
	expert := int64(3 * 7168 * 2048)
	want := 61*attention + 2*129280*7168 + 3*3*7168*18432 + 58*257*expert
	if total != want || active != total-58*248*expert {
		t.Errorf("%d and %d parameters, want %d and %d", total, active, want, want-58*248*expert)
	}
	if math.Abs(float64(total)/671e9-1) > 0.005 || math.Abs(float64(active)/37e9-1) > 0.015 {
		t.Errorf("%.1f and %.1f billion parameters", float64(total)/1e9, float64(active)/1e9)
	}
}

// The hybrid KV cache manager by hand. gpt-oss-120b has 18 layers of each kind:
// groups of 18, a block of 16 tokens of one group takes 18·16·2048 bytes. A
// sequence of 1000 tokens holds 63 blocks of the full group, and of the other
// those that the last 128 tokens reach, at most ceil(127/16) + 1 = 9.
func TestHybridPoolByHand(t *testing.T) {
	s := mustSetup(t, "h200", "gpt-oss-120b", 1, MXFP4, BF16, "vllm")
	l, err := NewLedger(s, vllmOptions(8192))
	if err != nil {
		t.Fatal(err)
	}
	h := l.Hybrid
	if h == nil || h.GroupLayers != 18 || h.FullGroups != 1 || h.WindowGroups != 1 || h.Blocks != l.KVBytes/(18*16*2048) {
		t.Fatalf("%+v of %d bytes", h, l.KVBytes)
	}
	if got := h.BlocksOf(1000); got != 63+9 {
		t.Errorf("a sequence holds %d blocks, want 72", got)
	}
	if got := l.Sequences(1000); got != h.Blocks/72 {
		t.Errorf("%d sequences fit", got)
	}
	if got, want := h.Tokens(), h.Blocks/2*16; got != want {
		t.Errorf("%d tokens, want %d", got, want)
	}
	// One request of 1000 tokens and a step of 8192: both groups hold it whole.
	if got, want := h.Concurrency(1000, 8192), float64(h.Blocks)/126; got != want {
		t.Errorf("concurrency %v, want %v", got, want)
	}
	if dense, err := NewLedger(mustSetup(t, "h200", "Qwen3-8B", 1, BF16, BF16, "vllm"), vllmOptions(8192)); err != nil || dense.Hybrid != nil {
		t.Errorf("a model without windows: %+v, %v", dense.Hybrid, err)
	}
}

// Gemma-like layers: 29 windows and 5 full make groups of 5, six of windows.
func TestHybridGroups(t *testing.T) {
	for _, c := range []struct{ layers, windows, size, full, window int64 }{
		{36, 18, 18, 1, 1}, {34, 29, 5, 1, 6}, {32, 32, 32, 0, 1}, {9, 5, 4, 1, 2}, {11, 6, 6, 1, 1}, {10, 6, 4, 1, 2},
	} {
		m := &Model{Layers: c.layers, WindowLayers: c.windows, Window: 64}
		h := newHybridPool(m, &Ledger{KVBytes: 1 << 30, BlockSize: 16}, 1024)
		if h.GroupLayers != c.size || h.FullGroups != c.full || h.WindowGroups != c.window {
			t.Errorf("%+v: %+v", c, h)
		}
	}
}
