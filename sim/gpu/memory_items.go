package gpu

import "math"

// ledgerItems returns the names of the items of a ledger, in its order.
func ledgerItems() []string {
	return []string{"weights", "activations", "context", "collectives", "graphs"}
}

// ledger fills the ledger of s; the error is a layout that does not divide the
// model.
func (s Setup) ledger(o MemoryOptions) (*Ledger, error) {
	stage, lay, err := s.layout()
	if err != nil {
		return nil, err
	}
	mem := s.Profile.Memory
	collectives := 0.0
	if lay.tp > 1 || s.PP > 1 {
		collectives = mem.CollectiveBytes
	}
	weights := weightBytes(stage, lay, s.Weights)
	if s.PP > 1 && !stage.TiedEmbeddings { // a stage has one vocabulary matrix at most
		weights -= float64(vocabBytes(stage, lay))
	}
	bytes := []float64{
		weights,
		activationBytes(stage, lay, o),
		mem.ContextBytes,
		collectives,
		mem.GraphBytes,
	}
	l := &Ledger{
		UsableBytes:   int64(mem.UsableBytes),
		ShareBytes:    int64(math.Floor(mem.UsableBytes * o.GPUMemoryUtilization)),
		BytesPerToken: stage.Layers * stage.cachedPerToken(lay, s.KV),
		BlockSize:     o.BlockSize,
		Groups:        lay.groups,
		override:      o.NumGPUBlocksOverride,
	}
	l.KVBytes = l.ShareBytes
	for i, name := range ledgerItems() {
		if o.StaticShare && (name == "activations" || name == "graphs") {
			continue
		}
		item := LedgerItem{Name: name, Bytes: int64(math.Ceil(bytes[i]))}
		if given, ok := o.Overrides[name]; ok {
			item.Bytes, item.Overridden = given, true
		}
		l.Items = append(l.Items, item)
		l.KVBytes -= item.Bytes
	}
	if f := o.FreeGPUMemoryFraction; f > 0 {
		items := -l.KVBytes
		l.KVBytes = int64(math.Floor(max(0, mem.UsableBytes-float64(items)) * f))
		l.ShareBytes = items + l.KVBytes
	}
	l.Hybrid = newHybridPool(stage, l, stage.cachedPerToken(lay, s.KV))
	return l, nil
}

// weightBytes returns the bytes of weights on each GPU: projections and MLP or
// experts in the given format, embedding and output projection in bf16, one
// matrix if they are tied. Norms, biases and the routers of experts, less than
// 0.1 %, are left out.
func weightBytes(m *Model, l layout, f Format) float64 {
	attention, mlp, shared := 0.0, 3*float64(m.Hidden)*float64(l.width), 3*float64(m.Hidden)*float64(l.shared)
	for _, x := range l.attentionShapes(m) {
		attention += float64(float64(x.n) * float64(x.k))
	}
	if m.Experts > 0 {
		mlp *= float64(m.Experts / l.ep)
	}
	if f == MXFP4 {
		mlp *= float64(roundUp(m.Hidden, mxfp4Multiple)) / float64(m.Hidden)
	}
	outside := f.outsideExperts().BytesPerWeight()
	withMLP := float64(float64(m.Layers-m.DenseLayers) * (float64(mlp*f.BytesPerWeight()) + float64(shared*outside)))
	dense := float64(float64(m.DenseLayers) * 3 * float64(m.Hidden) * float64(l.dense) * outside)
	matrices := 2.0
	if m.TiedEmbeddings {
		matrices = 1
	}
	return float64(float64(m.Layers)*float64(attention*outside)) + withMLP + dense + float64(matrices*vocabBytes(m, l))
}

// mxfp4Multiple is what the elements that a token has in mxfp4 experts are rounded
// up to in memory. vLLM 0.11's Triton kernels on H100 turn the 2880 of gpt-oss
// into 3072: its logs say 64.38 GiB of weights for the 120b and 13.47 for the 20b
// (source as of samplerBytes). Step times know nothing of it.
const mxfp4Multiple = 256

func roundUp(n, multiple int64) int64 { return (n + multiple - 1) / multiple * multiple }

// vocabBytes returns the bytes of one vocabulary matrix on each GPU.
func vocabBytes(m *Model, l layout) float64 {
	return 2 * float64(l.vocab) * float64(m.Hidden)
}

// samplerBytes is what vLLM's sampler takes at its peak of each logit: the logits
// in bf16 and fp32, sorted values and indices, probabilities, sums and masks. It
// is the mean of two start-up logs of vLLM 0.11 on one H100 with 1024 sequences,
// Qwen3-0.6B (38.4) and Llama-3.1-8B (38.9): llm-d/llm-d-benchmark, commit
// 259334868c50, config_explorer/empirical-vllm-memory-results.md. The other logs
// there give 38.5 to 39.6, and one of vLLM 0.6 with 256 sequences 38.9.
const samplerBytes = 38.6

// activationBytes returns the peak of everything else that an engine allocates
// while it profiles its largest step: the largest of
//
//   - a layer's bf16 tensors that live at once: residual, normed input and gate
//     and up, or residual, gate and up and their product; for experts, each of
//     the tokens' choices has its own, and an output;
//   - the sampling of every sequence, whose logits every GPU has in full;
//   - one more vocabulary matrix: nine start-up logs of vLLM 0.15 on H100, seven
//     models on one to four GPUs, agree on that to 0.3 % of the KV cache, where a
//     constant errs by up to 1.4 %. They do not say why, and the number of tokens
//     of the largest step makes no difference in them.
func activationBytes(m *Model, l layout, o MemoryOptions) float64 {
	h, f := float64(m.Hidden), float64(l.width)
	elements := max(2*(h+f), h+float64(3*f))
	if m.Experts > 0 {
		f /= float64(l.ep)
		elements = float64(2*h) + float64(float64(m.ExpertsPerToken)*(float64(3*f)+h)) + float64(3*float64(l.shared))
	}
	return max(
		2*elements*float64(o.MaxNumBatchedTokens),
		samplerBytes*float64(m.Vocab)*float64(min(o.MaxNumSeqs, o.MaxNumBatchedTokens)),
		vocabBytes(m, l))
}
