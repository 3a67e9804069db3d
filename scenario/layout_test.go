package scenario

import (
	"servesim/sim/gpu"
	"testing"
)

// TestLayoutOfAScenario holds that groups of a scenario reach its steps and memory.
func TestLayoutOfAScenario(t *testing.T) {
	plain := planOf(t, small, "model.name=DeepSeek-R1", "gpu=b200", "tensor_parallel_size=8", "dtype=fp8")
	split := planOf(t, small, "model.name=DeepSeek-R1", "gpu=b200", "tensor_parallel_size=8", "dtype=fp8", "data_parallel_attention_size=8", "expert_parallel_size=8")
	if a, b := plain.Config.NumGPUBlocks, split.Config.NumGPUBlocks; b < 6*a {
		t.Errorf("%d blocks, on 8 groups %d", a, b)
	}
	w := gpu.Work{DecodeSeqs: 256, DecodeKV: 256 * 8000, Samples: 256}
	if a, b := plain.Cost.Step(w), split.Cost.Step(w); b >= a {
		t.Errorf("a step of many sequences takes %v, on 8 groups %v", a, b)
	}
	if n := len(split.Cost.Caveats()); n != 4 { // latents, experts, attention, the fit's extra time
		t.Errorf("%d caveats: %q", n, split.Cost.Caveats())
	}
}
