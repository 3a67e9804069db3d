package gpu

import (
	"maps"
	"testing"
)

// TestDenseKernels holds that dense_kernels takes matrix products and attention from
// its table and leaves all-reduces and experts: every operator of a step is that of
// the one table or of the other.
func TestDenseKernels(t *testing.T) {
	s := mustSetup(t, "b200", "Mixtral-8x7B", 2, FP8, FP8, "vllm")
	with := func(kernels, dense string) map[string]Operator {
		p := *s.Profile
		p.Engine = maps.Clone(p.Engine)
		e := p.Engine["vllm"]
		e.Kernels, e.DenseKernels = kernels, dense
		p.Engine["vllm"] = e
		s := s
		s.Profile = &p
		cost, err := NewCost(s)
		if err != nil {
			t.Fatal(err)
		}
		w := Work{DecodeSeqs: 8, DecodeKV: 8000, Samples: 9}
		w.AddChunk(0, 300, true)
		out := map[string]Operator{}
		for _, o := range cost.Breakdown(w) {
			out[o.Name] = o
		}
		return out
	}
	own, dense, both := with("vllm", ""), with("trtllm", ""), with("vllm", "trtllm")
	for name, o := range both {
		want := dense[name]
		if name == "all_reduce" || name == "experts" {
			want = own[name]
		}
		if o != want {
			t.Errorf("%s is %+v, want %+v", name, o, want)
		}
	}
	for _, name := range []string{"qkv_proj", "prefill_attention", "decode_attention", "experts"} {
		if own[name] == dense[name] {
			t.Errorf("%s of the two tables doesn't differ", name)
		}
	}
}
