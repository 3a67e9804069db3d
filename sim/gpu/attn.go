package gpu

// AttnShape is the part of a model's attention that one GPU computes: its query
// heads, its KV heads, their dimension, and the format of the KV cache.
type AttnShape struct {
	Heads, KVHeads, HeadDim int64
	KV                      Format
}

// attnWork is what the attention of one layer computes and moves on one GPU.
type attnWork struct {
	pairFlops    float64 // of a query-key pair of prefill
	queryBytes   float64 // of a prompt token: query read, result written
	kvBytes      float64 // of a prompt token: new key and value read, cache written
	contextFlops float64 // of a token of context of decode
	contextBytes float64 // of a token of context of decode: cache read
	kvHeads      float64 // that a decode token is split over
}

// work returns what attention of s computes and moves. Outside of the cache,
// elements have two bytes.
func (s AttnShape) work() attnWork {
	d, heads, kvHeads, cached := s.HeadDim, s.Heads, s.KVHeads, s.KV.kvBytes()
	return attnWork{
		pairFlops:    float64(4 * d * heads),
		queryBytes:   float64(4 * d * heads),
		kvBytes:      float64((4 + 2*cached) * d * kvHeads),
		contextFlops: float64(4 * d * heads),
		contextBytes: float64(2 * d * kvHeads * cached),
		kvHeads:      float64(kvHeads),
	}
}

// attn returns what the attention of m computes and moves on one GPU of l.
func (l layout) attn(m *Model, kv Format) attnWork {
	if m.KVRank > 0 {
		return latentWork(m, l, kv)
	}
	return AttnShape{Heads: l.heads, KVHeads: l.kvHeads, HeadDim: m.HeadDim, KV: kv}.work()
}

// prefill returns the FLOPs and bytes of tokens prompt tokens with pairs pairs.
func (a attnWork) prefill(tokens, pairs int64) (flops, bytes float64) {
	return float64(a.pairFlops * float64(pairs)), float64((a.queryBytes + a.kvBytes) * float64(tokens))
}
