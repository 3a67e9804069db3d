package gpu

import (
	"fmt"
	"math"
	"testing"

	"pgregory.net/rapid"

	"servesim/sim"
)

// gridOfWork returns steps from one token to far beyond what was measured.
func gridOfWork() []Work {
	var out []Work
	for _, tokens := range []int64{1, 16, 128, 2048, 8192, 131072} {
		for _, start := range []int64{0, 4096, 100_000} {
			var w Work
			w.AddChunk(start, tokens, true)
			out = append(out, w)
		}
	}
	for _, seqs := range []int64{1, 8, 64, 256, 1024} {
		for _, each := range []int64{1, 128, 4096, 131072} {
			w := Work{DecodeSeqs: seqs, DecodeKV: seqs * each, Samples: seqs}
			out = append(out, w)
			w.AddChunk(0, 2048, true)
			out = append(out, w)
		}
	}
	return out
}

// Law: no operator of what ships is faster than the datasheet's rates allow, and
// neither is a step, from which an engine's layer_s may take away.
func TestNothingBeatsTheDatasheet(t *testing.T) {
	grid := gridOfWork()
	forEachShipped(t, func(s Setup, c *StepTime) { beatsNoDatasheet(t, s, c, grid) })
}

// The same in layouts of groups and stages, for every model that ships, and there
// the operators are the step, too.
func TestNothingBeatsTheDatasheetInGroups(t *testing.T) {
	grid, zero := gridOfWork(), sim.Duration(0)
	latent := 0
	for _, profile := range ProfileNames() {
		for _, model := range ModelNames() {
			base := mustSetup(t, profile, model, 1, BF16, BF16, "")
			base.Host = Host{Base: &zero, PerSeq: &zero, PerPromptToken: &zero, MixedStep: &zero}
			for _, engine := range sortedKeys(base.Profile.Engine) {
				for _, split := range groupLayouts() {
					for _, f := range [][2]Format{{BF16, BF16}, {FP8, BF16}, {FP8, FP8}, {MXFP4, BF16}, {FP4, FP8}} {
						s := base
						s.Engine, s.Weights, s.KV = engine, f[0], f[1]
						s.TP, s.EP, s.DPAttention, s.PP = split[0], split[1], split[2], split[3]
						c, err := NewCost(s)
						if err != nil {
							continue
						}
						if s.Model.KVRank > 0 {
							latent++
						}
						beatsNoDatasheet(t, s, c, grid)
						for _, w := range grid {
							sumsToStep(t, c, w)
						}
					}
				}
			}
		}
	}
	if latent < 200 {
		t.Errorf("only %d setups with latent attention work", latent)
	}
}

// beatsNoDatasheet fails if an operator or a step is faster than its limit.
func beatsNoDatasheet(t *testing.T, s Setup, c *StepTime, grid []Work) {
	t.Helper()
	of := func() string {
		return fmt.Sprintf("%s, %s tp%d ep%d dp%d pp%d, weights %s, KV %s, engine %s",
			s.Profile.Name, s.Model.Name, s.TP, s.EP, s.DPAttention, s.PP, s.Weights, s.KV, s.Engine)
	}
	for _, w := range grid {
		var limits, took sim.Duration
		for _, o := range c.Breakdown(w) {
			if o.Name != "engine" && o.Time < o.Limit { // engine may take away
				t.Fatalf("%s: %s of %+v takes %v, less than %v by the datasheet", of(), o.Name, w, o.Time, o.Limit)
			}
			limits, took = limits+o.Limit, took+o.Time
		}
		if took < limits {
			t.Fatalf("%s: %+v takes %v, less than %v by the datasheet", of(), w, took, limits)
		}
	}
}

// Law: the operators are the GPU time of the step, to a picosecond of rounding for
// each.
func TestBreakdownIsTheStep(t *testing.T) {
	zero := sim.Duration(0)
	rapid.Check(t, func(t *rapid.T) {
		s := aCost(t).setup
		s.Async, s.Host = false, Host{Base: &zero, PerSeq: &zero, PerPromptToken: &zero, MixedStep: &zero}
		c, err := NewCost(s)
		if err != nil {
			t.Fatal(err)
		}
		sumsToStep(t, c, aWork(t))
	})
}

// sumsToStep fails if the operators of w are not the step, which has no host time.
func sumsToStep(t rapid.TB, c *StepTime, w Work) {
	t.Helper()
	var sum sim.Duration
	operators := c.Breakdown(w)
	for _, o := range operators {
		sum += o.Time
	}
	// Seconds have 53 bits: beyond an hour the sums differ by more than picoseconds.
	bound := sim.Duration(len(operators)) + sim.Duration(float64(sum)*0x1p-50)
	if d := c.Step(w) - sum; d < -bound || d > bound {
		t.Fatalf("%+v takes %v, its operators %v", w, c.Step(w), sum)
	}
}

// By hand: a round GPU of 1e15 FLOP/s and 4 TB/s. The down projection of an 8B
// model, 4096 x 14336 bf16 weights in 32 layers, reads 3.758 GB, 0.940 ms at least,
// and one token computes 3.758 GFLOP, 4 us. 4096 tokens compute 15.39 TFLOP, 15.4 ms.
func TestBreakdownByHand(t *testing.T) {
	c := mustCost(t, roundSetup(t, "Llama-3.1-8B", 1, BF16, BF16, "plain"))
	down := func(w Work) Operator {
		for _, o := range c.Breakdown(w) {
			if o.Name == "down_proj" {
				return o
			}
		}
		t.Fatal("no down_proj")
		return Operator{}
	}
	near := func(a, b float64) bool { return math.Abs(a/b-1) < 1e-3 }
	one := down(Work{DecodeSeqs: 1, DecodeKV: 1, Samples: 1})
	if one.Bound != MemoryBound || !near(one.Bytes, 3.758e9) || !near(one.FLOPs, 3.758e9) || !near(one.Limit.Milliseconds(), 0.9395) {
		t.Errorf("of one token: %+v", one)
	}
	// 32·(3 us + 14·0.3 us + 33.6 us) = 1.304 ms: 72 % of the roofline.
	if !near(one.Time.Milliseconds(), 1.3042) || math.Abs(one.Share()-0.72) > 0.005 {
		t.Errorf("one token takes %v, a share of %.3f", one.Time, one.Share())
	}
	many := down(Work{PrefillTokens: 4096, PrefillSeqs: 1, PrefillPairs: 4096 * 4097 / 2, Samples: 1})
	if many.Bound != ComputeBound || !near(many.FLOPs, 15.393e12) || !near(many.Limit.Milliseconds(), 15.393) {
		t.Errorf("of 4096 tokens: %+v", many)
	}
}

// By hand: DeepSeek-V3 in fp8 on 8 GPUs, attention in 4 groups of 2, experts in 8.
// A GPU has 64 heads of the 61 layers. A step of 400 sequences at a context of 1000:
// it decodes 100 of them, 10^5 tokens of 61·576·2 bytes of latent, 7.03 GB, and
// 61·2·(512+64+512)·64 FLOP, 849.5 GFLOP. It has 32 of 256 experts in 58 layers, and
// computes an eighth of 400·8 pairs, 58·400·6·7168·2048 FLOP, 2.043 TFLOP. It receives
// 2·7168 bytes of 400 tokens from all and of 100 from its group: 61·500·14336 bytes.
func TestBreakdownOfGroupsByHand(t *testing.T) {
	s := mustSetup(t, "h200", "DeepSeek-V3", 8, FP8, BF16, "vllm")
	s.EP, s.DPAttention = 8, 4
	want := map[string][2]float64{ // FLOPs, bytes
		"decode_attention": {1e5 * 61 * 2 * 1088 * 64, 1e5 * 61 * 576 * 2},
		"experts":          {58 * 400 * 6 * 7168 * 2048, 58 * 32 * 3 * 7168 * 2048},
		"all_reduce":       {0, 61 * 500 * 14336},
		"q_a_proj":         {61 * 2 * 100 * 1536 * 7168, 61 * 1536 * 7168},
		"shared_down_proj": {58 * 2 * 400 * 7168 * 256, 58 * 7168 * 256},
		"down_proj":        {3 * 2 * 400 * 7168 * 2304, 3 * 7168 * 2304},
	}
	for _, o := range mustCost(t, s).Breakdown(Work{DecodeSeqs: 400, DecodeKV: 400_000, Samples: 400}) {
		w, ok := want[o.Name]
		if !ok {
			continue
		}
		delete(want, o.Name)
		// Nearly every expert is active: 1 - (1 - 8/256)^400 is 1 - 3e-6.
		if math.Abs(o.FLOPs-w[0]) > 1e-9*w[0] || math.Abs(o.Bytes/w[1]-1) > 4e-6 {
			t.Errorf("%s: %.6g FLOP and %.6g bytes, want %.6g and %.6g", o.Name, o.FLOPs, o.Bytes, w[0], w[1])
		}
	}
	if len(want) > 0 {
		t.Errorf("not among the operators: %v", want)
	}
}
