package gpu

import "math"

// ledgerItems returns the names of the items of a ledger, in its order.
func ledgerItems() []string {
	return []string{"weights", "activations", "context", "collectives", "graphs"}
}

// ledger fills the ledger of s; the error is a layout that does not divide the
// model.
func (s Setup) ledger(o MemoryOptions) (*Ledger, error) {
	lay, err := newLayout(s.Model, int64(s.TP))
	if err != nil {
		return nil, err
	}
	mem := s.Profile.Memory
	collectives := 0.0
	if lay.tp > 1 {
		collectives = mem.CollectiveBytes
	}
	bytes := []float64{
		weightBytes(s.Model, lay, s.Weights),
		activationBytes(s.Model, lay, o),
		mem.ContextBytes,
		collectives,
		mem.GraphBytes,
	}
	l := &Ledger{
		UsableBytes:   int64(mem.UsableBytes),
		ShareBytes:    int64(math.Floor(mem.UsableBytes * o.GPUMemoryUtilization)),
		BytesPerToken: 2 * s.Model.Layers * lay.kvHeads * s.Model.HeadDim * s.KV.kvBytes(),
		BlockSize:     o.BlockSize,
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
	return l, nil
}

// weightBytes returns the bytes of weights on each GPU: projections and MLP or
// experts in the given format, embedding and output projection in bf16, one
// matrix if they are tied. Norms and biases, less than 0.1 %, are left out.
func weightBytes(m *Model, l layout, f Format) float64 {
	attention := float64(m.Hidden) * float64(l.qkv+l.attnOut)
	mlp := 3 * float64(m.Hidden) * float64(l.width) * float64(max(1, m.Experts))
	perLayer := float64(attention*f.outsideExperts().BytesPerWeight()) + float64(mlp*f.BytesPerWeight())
	matrices := 2.0
	if m.TiedEmbeddings {
		matrices = 1
	}
	return float64(float64(m.Layers)*perLayer) + float64(matrices*vocabBytes(m, l))
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
		elements = float64(2*h) + float64(float64(m.ExpertsPerToken)*(float64(3*f)+h))
	}
	return max(
		2*elements*float64(o.MaxNumBatchedTokens),
		(2+4+4)*float64(m.Vocab)*float64(o.MaxNumSeqs),
		vocabBytes(m, l))
}
