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
		weights -= vocabBytes(stage, lay)
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
		item := LedgerItem{Name: name, Bytes: int64(math.Ceil(bytes[i]))}
		if given, ok := o.Overrides[name]; ok {
			item.Bytes, item.Overridden = given, true
		}
		l.Items = append(l.Items, item)
		l.KVBytes -= item.Bytes
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
	outside := f.outsideExperts().bytesPerWeight()
	withMLP := float64(float64(m.Layers-m.DenseLayers) * (float64(mlp*f.bytesPerWeight()) + float64(shared*outside)))
	dense := float64(float64(m.DenseLayers) * 3 * float64(m.Hidden) * float64(l.dense) * outside)
	matrices := 2.0
	if m.TiedEmbeddings {
		matrices = 1
	}
	return float64(float64(m.Layers)*float64(attention*outside)) + withMLP + dense + float64(matrices*vocabBytes(m, l))
}

// vocabBytes returns the bytes of one vocabulary matrix on each GPU.
func vocabBytes(m *Model, l layout) float64 {
	return 2 * float64(l.vocab) * float64(m.Hidden)
}

// activationBytes returns the peak of everything else that an engine allocates
// while it profiles its largest step: the largest of
//
//   - a layer's bf16 tensors that live at once: residual, normed input and gate
//     and up, or residual, gate and up and their product; for experts, each of
//     the tokens' choices has its own, and an output;
//   - the logits of every sequence in bf16, in fp32, and their probabilities;
//   - one more vocabulary matrix: nine start-up logs of vLLM 0.15 on H100, seven
//     models on one to four GPUs, agree on that to 0.3 % of the KV cache, where a
//     constant errs by up to 1.4 %. They do not say why, and the number of tokens
//     of the largest step makes no difference in them.
func activationBytes(m *Model, l layout, o MemoryOptions) float64 {
	h, f := float64(m.Hidden), float64(l.width)
	elements := max(2*(h+f), h+float64(3*f))
	if m.Experts > 0 {
		f /= float64(l.ep)
		elements = float64(2*h) + float64(float64(m.ExpertsPerToken)*(float64(3*f)+h)) + 3*float64(l.shared)
	}
	return max(
		2*elements*float64(o.MaxNumBatchedTokens),
		(2+4+4)*float64(m.Vocab)*float64(o.MaxNumSeqs),
		vocabBytes(m, l))
}
