package gpu

import (
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
	forEachShipped(t, func(s Setup, c *StepTime) {
		for _, w := range grid {
			var limits, took sim.Duration
			for _, o := range c.Breakdown(w) {
				if o.Name != "engine" && o.Time < o.Limit { // engine may take away
					t.Fatalf("%s, %s tp%d, weights %s, KV %s, engine %s: %s of %+v takes %v, less than %v by the datasheet",
						s.Profile.Name, s.Model.Name, s.TP, s.Weights, s.KV, s.Engine, o.Name, w, o.Time, o.Limit)
				}
				limits, took = limits+o.Limit, took+o.Time
			}
			if took < limits {
				t.Fatalf("%s, %s tp%d, weights %s, KV %s, engine %s: %+v takes %v, less than %v by the datasheet",
					s.Profile.Name, s.Model.Name, s.TP, s.Weights, s.KV, s.Engine, w, took, limits)
			}
		}
	})
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
		w := aWork(t)
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
	})
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
