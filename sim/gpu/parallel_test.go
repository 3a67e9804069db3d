package gpu

import (
	"encoding/csv"
	"errors"
	"math"
	"os"
	"slices"
	"strconv"
	"strings"
	"testing"

	"pgregory.net/rapid"
)

// aSplit draws a layout of groups for s.
func aSplit(t *rapid.T, s Setup) Setup {
	s.EP = rapid.SampledFrom([]int{0, 1, 2, 4, 8}).Draw(t, "ep")
	s.DPAttention = rapid.SampledFrom([]int{0, 1, 2, 4, 8}).Draw(t, "dp attention")
	s.PP = rapid.SampledFrom([]int{0, 1, 2, 3, 8}).Draw(t, "pp")
	return s
}

// groupLayouts returns layouts: TP, EP, DPAttention and PP.
func groupLayouts() [][4]int {
	return [][4]int{{8, 8, 1, 1}, {8, 2, 1, 1}, {4, 1, 4, 1}, {8, 4, 8, 1}, {8, 1, 2, 1}, {2, 2, 1, 3}, {1, 1, 1, 4}, {8, 8, 4, 2}}
}

// Every shipped model and profile keeps the contract of Cost in layouts of groups
// and stages too.
func TestEveryLayoutKeepsTheContract(t *testing.T) {
	n := map[string]int{}
	for _, profile := range ProfileNames() {
		for _, model := range ModelNames() {
			for _, split := range groupLayouts() {
				s := mustSetup(t, profile, model, split[0], FP8, BF16, "vllm")
				s.EP, s.DPAttention, s.PP = split[1], split[2], split[3]
				s.Async = split[0] == 4
				c, err := NewCost(s)
				if err != nil {
					continue
				}
				n[model]++
				costLaws(t, c, mustCost(t, s))
				if t.Failed() {
					t.Fatalf("%s %s %v", profile, model, split)
				}
			}
		}
	}
	for _, model := range ModelNames() {
		if n[model] < 9 {
			t.Errorf("only %d layouts of %s work", n[model], model)
		}
	}
}

// One group and one stage are what a setup without them is, to the picosecond.
func TestOneGroupIsNone(t *testing.T) {
	works := []Work{{}, {DecodeSeqs: 7, DecodeKV: 9999, Samples: 7}, {PrefillTokens: 777, PrefillSeqs: 2, PrefillPairs: 99_999, DecodeSeqs: 5, DecodeKV: 5000, Samples: 6}}
	for _, model := range ModelNames() {
		s := mustSetup(t, "b200", model, 8, FP8, BF16, "vllm")
		plain, err := NewCost(s)
		if err != nil {
			continue // a TP that does not divide
		}
		s.EP, s.DPAttention, s.PP = 1, 1, 1
		one := mustCost(t, s)
		for _, w := range works {
			if a, b := plain.Step(w), one.Step(w); a != b {
				t.Errorf("%s: %+v takes %v, in one group %v", model, w, a, b)
			}
		}
	}
}

// Laws of stages: together they hold the model, and the one that has most to do
// takes at least its share of the layers' time.
func TestStages(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		m, err := LoadModel(rapid.SampledFrom(ModelNames()).Draw(t, "model"))
		if err != nil {
			t.Fatal(err)
		}
		pp := rapid.IntRange(1, 16).Draw(t, "pp")
		part, err := m.stage(pp)
		if err != nil {
			t.Fatal(err)
		}
		n := int64(pp)
		if part.Layers*n < m.Layers || (part.Layers-1)*n >= m.Layers {
			t.Fatalf("%d of %d layers in each of %d stages", part.Layers, m.Layers, pp)
		}
		if (part.Layers-part.WindowLayers)*n < m.Layers-m.WindowLayers || part.WindowLayers < 0 || part.DenseLayers < 0 {
			t.Fatalf("a stage of %d has %d window and %d dense layers of %d: %+v", pp, part.WindowLayers, part.DenseLayers, part.Layers, m)
		}
		whole, stage := m.WeightBytes(FP8), part.WeightBytes(FP8)
		if stage*n < whole {
			t.Fatalf("%d stages of %d bytes hold less than %d", pp, stage, whole)
		}
	})
}

// Expert parallelism by hand: of Qwen3-30B-A3B's 128 experts of 768, a GPU of TP 8
// and EP 4 has 32 of half the width. Its weights are the same as without.
func TestExpertParallelByHand(t *testing.T) {
	s := mustSetup(t, "h100", "Qwen3-30B-A3B", 4, FP8, BF16, "vllm")
	_, plain, err := s.layout()
	if err != nil {
		t.Fatal(err)
	}
	s.EP = 2
	_, split, err := s.layout()
	if err != nil {
		t.Fatal(err)
	}
	if plain.width != 192 || split.width != 384 {
		t.Errorf("widths %d and %d, want 192 and 384", plain.width, split.width)
	}
	if a, b := weightBytes(s.Model, plain, FP8), weightBytes(s.Model, split, FP8); a != b {
		t.Errorf("%.0f bytes, divided by experts %.0f", a, b)
	}
	// One token takes 8 of 128 experts, so 4 of a group's 64 are to be expected.
	shape := split.experts(s.Model, FP8)
	x := s.Profile.Kernels["vllm"].MoE["fp8"].of(shape)
	x.active = activeExperts(shape)
	half := x.split(2)
	if got := half.active[1]; math.Abs(got-4) > 1e-9 || half.compute != x.compute/2 || half.input != x.input/2 {
		t.Errorf("active %v, want 4; compute %v of %v, input %v of %v", got, half.compute, x.compute, half.input, x.input)
	}
	if x.active[1] == half.active[1] {
		t.Error("split changed what it was made of")
	}
}

// Data-parallel attention: every group holds the KV of its own sequences, whole
// where heads cannot be divided, so DeepSeek holds as many times more as there are
// groups, but for the attention weights that every GPU then has.
func TestDataParallelAttention(t *testing.T) {
	s := mustSetup(t, "b200", "DeepSeek-V3", 8, FP8, FP8, "vllm")
	o := MemoryOptions{GPUMemoryUtilization: 0.9, BlockSize: 64, MaxNumBatchedTokens: 8192, MaxNumSeqs: 256}
	tp, err := NewLedger(s, o)
	if err != nil {
		t.Fatal(err)
	}
	s.DPAttention = 8
	dp, err := NewLedger(s, o)
	if err != nil {
		t.Fatal(err)
	}
	if tp.BytesPerToken != 61*576 || dp.BytesPerToken != 61*576 || dp.Groups != 8 {
		t.Errorf("%d and %d bytes a token, %d groups; want 35136 and 8", tp.BytesPerToken, dp.BytesPerToken, dp.Groups)
	}
	if dp.Blocks() <= 6*tp.Blocks() || dp.Blocks() >= 8*tp.Blocks() || dp.Blocks()%8 != 0 {
		t.Errorf("%d blocks, without groups %d", dp.Blocks(), tp.Blocks())
	}
	// A sequence that fits only if all groups share their memory does not fit.
	o.MaxModelLen = dp.Blocks()*64/8 + 64
	if _, err := NewLedger(s, o); err == nil || !strings.Contains(err.Error(), "does not fit") {
		t.Errorf("a sequence of %d tokens: %v", o.MaxModelLen, err)
	}
	// With 8 groups the attention of 800 sequences is that of 100 on each GPU.
	c, one := mustCost(t, s), mustCost(t, Setup{Profile: s.Profile, Model: s.Model, TP: 1, Weights: FP8, KV: FP8, Engine: "vllm"})
	if a, b := c.full.at(1<<26), one.full.at(1<<26); math.Abs(float64(8*a)/float64(b)-1) > 1e-3 {
		t.Errorf("a context of 2^26 tokens takes %d ps on 8 groups and %d on one GPU", a, b)
	}
}

// Each fault of a layout is one, and names its field.
func TestLayoutFaults(t *testing.T) {
	for _, c := range []struct {
		model  string
		change func(*Setup)
		field  string
		want   string
	}{
		{"Llama-3.1-8B", func(s *Setup) { s.EP = 2 }, "EP", "expert_parallel_size is 2, but Llama-3.1-8B has no experts"},
		{"Mixtral-8x7B", func(s *Setup) { s.EP = 16 }, "EP", "expert_parallel_size is 16, more than the 8 experts of Mixtral-8x7B"},
		{"Mixtral-8x7B", func(s *Setup) { s.EP = 3 }, "EP", "expert_parallel_size 3 does not divide the 8 experts of Mixtral-8x7B"},
		{"Mixtral-8x7B", func(s *Setup) { s.EP, s.TP = 4, 2 }, "EP", "expert_parallel_size is 4; it must divide tensor_parallel_size, 2"},
		{"Mixtral-8x7B", func(s *Setup) { s.EP = -1 }, "EP", "expert_parallel_size is -1; want 0 or more"},
		{"Qwen3-8B", func(s *Setup) { s.DPAttention = 3 }, "DPAttention", "data_parallel_attention_size is 3; it must divide tensor_parallel_size, 8"},
		{"Qwen3-8B", func(s *Setup) { s.DPAttention = -8 }, "DPAttention", "data_parallel_attention_size is -8; want 0 or more"},
		{"Qwen3-8B", func(s *Setup) { s.PP = 37 }, "PP", "pipeline_parallel_size is 37, more than the 36 layers of Qwen3-8B"},
		{"Qwen3-8B", func(s *Setup) { s.PP = -1 }, "PP", "pipeline_parallel_size is -1; want 0 to 64"},
		{"Qwen3-8B", func(s *Setup) { s.TP = 5 }, "TP", "tensor_parallel_size is 5; want one of 1, 2, 4, 8"},
		{"DeepSeek-V3", func(s *Setup) { s.Weights = INT8 }, "Weights", `profile h100 has no weight format "int8"; it has bf16, fp8`},
	} {
		s := mustSetup(t, "h100", c.model, 8, FP8, BF16, "vllm")
		c.change(&s)
		_, err := NewCost(s)
		var f *SetupFault
		if !errors.As(err, &f) || f.Field != c.field || !strings.Contains(err.Error(), c.want) {
			t.Errorf("got %v, of field %v\nwant %s", err, f, c.want)
		}
	}
}

// Kernels of TensorRT-LLM with their experts in groups, on which nothing was
// fitted, are met about as well as those without: the median error over rows of
// balanced choices is at most 3 points more.
func TestSplitAgainstKernels(t *testing.T) {
	f, err := os.Open("../../../shared/measured/kernel_moe.csv")
	if err != nil {
		t.Skipf("the measured kernels are not here: %v", err)
	}
	defer f.Close()
	rows, err := csv.NewReader(f).ReadAll()
	if err != nil {
		t.Fatal(err)
	}
	for _, profile := range []string{"h100", "b200"} {
		p, err := LoadProfile(profile)
		if err != nil {
			t.Fatal(err)
		}
		for _, format := range []Format{BF16, FP8} {
			errs := [2][]float64{}
			for _, row := range rows[1:] {
				if strings.ToLower(row[0]) != profile || row[1] != "trtllm" || row[3] != string(format) || row[4] != "balanced" {
					continue
				}
				grouped := 0
				if row[11] != "1" {
					grouped = 1
				}
				errs[grouped] = append(errs[grouped], math.Abs(splitError(t, p, format, row)))
			}
			var median [2]float64
			for i, e := range errs {
				if len(e) < 100 {
					t.Fatalf("only %d rows of %s %s", len(e), profile, format)
				}
				slices.Sort(e)
				median[i] = 100 * e[len(e)/2]
			}
			t.Logf("%s %s: %.1f %% in groups, %.1f %% without", profile, format, median[1], median[0])
			if median[1] > median[0]+3 {
				t.Errorf("%s %s: median error %.1f %% in groups, %.1f %% without", profile, format, median[1], median[0])
			}
		}
	}
}

// splitError returns the relative error of a row of kernel_moe.csv.
func splitError(t *testing.T, p *Profile, format Format, row []string) float64 {
	t.Helper()
	var n [7]int64 // tokens, hidden, inter, topk, experts, tp, ep
	for i := range n {
		v, err := strconv.ParseInt(row[5+i], 10, 64)
		if err != nil {
			t.Fatal(err)
		}
		n[i] = v
	}
	us, err := strconv.ParseFloat(row[12], 64)
	if err != nil {
		t.Fatal(err)
	}
	s := MoEShape{Hidden: n[1], Width: n[2] / n[5], Experts: n[4], PerToken: n[3], WeightBytes: format.BytesPerWeight()}
	x := p.Kernels["trtllm"].MoE[string(format)].of(s)
	x.active = activeExperts(s)
	return x.split(n[6]).seconds(n[0])*1e6/us - 1
}
