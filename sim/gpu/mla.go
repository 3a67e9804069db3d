package gpu

import "math"

// Multi-head latent attention (MLA), DeepSeek-V2, arXiv 2405.04434, sections
// 2.1.2 and 2.1.3, equations 9 to 19. A token has a latent of kv_lora_rank
// elements and a rotated key of qk_rope_head_dim, and nothing else is cached. All
// heads share both, so every GPU of a tensor-parallel group holds them whole:
//
//	KV bytes of a token and layer = (kv_lora_rank + qk_rope_head_dim)·KV bytes
//
// Projections, of h hidden elements and H heads on a GPU:
//
//	q_a   q_lora_rank x h                               on every GPU
//	q_b   H·(qk_nope + qk_rope) x q_lora_rank           k is h without q_a
//	kv_a  (kv_lora_rank + qk_rope) x h                  on every GPU
//	kv_b  H·(qk_nope + v) x kv_lora_rank
//	o     h x H·v
//
// Prefill expands the latents: kv_b gives each head a key and a value, and a
// query-key pair costs 2·(qk_nope + qk_rope) FLOP for its score and 2·v for its
// value. Decode absorbs kv_b into query and output instead: the two halves of
// kv_b multiply the query and the result of a token, the same FLOP and weights as
// expanding one token, and a pair costs 2·(kv_lora_rank + qk_rope) and
// 2·kv_lora_rank. So kv_b is a GEMM over all tokens of a step in both forms.
//
// Left out: expanding the cached latents anew when a prompt is computed in
// chunks, which is a kv_b over the tokens before the chunk.

// latentLayout fills in the attention of l. The values of query, key and value
// that element-wise kernels normalise and rotate are those of the latents and of
// the query.
func latentLayout(m *Model, l layout) layout {
	l.kvHeads = 1
	l.qkv = m.QRank + m.KVRank + m.RopeDim + l.heads*m.HeadDim
	l.attnOut = l.heads * m.VDim
	return l
}

// latentShapes returns the projections of one layer.
func latentShapes(m *Model, l layout) []shape {
	var s []shape
	query := shape{"q_proj", l.heads * m.HeadDim, m.Hidden}
	if m.QRank > 0 {
		s = append(s, shape{"q_a_proj", m.QRank, m.Hidden})
		query = shape{"q_b_proj", query.n, m.QRank}
	}
	return append(s, query,
		shape{"kv_a_proj", m.KVRank + m.RopeDim, m.Hidden},
		shape{"kv_b_proj", l.heads * (m.NopeDim + m.VDim), m.KVRank},
		shape{"o_proj", m.Hidden, l.attnOut})
}

// cachedPerToken returns the bytes of KV of one token in one layer on each GPU.
func (m *Model) cachedPerToken(l layout, kv Format) int64 {
	if m.KVRank > 0 {
		return (m.KVRank + m.RopeDim) * kv.kvBytes()
	}
	return 2 * l.kvHeads * m.HeadDim * kv.kvBytes()
}

// latentWork returns what the attention of one layer computes and moves: prefill in
// the expanded form, in which a token reads query, key and value and writes its
// result in bf16, and writes its latent; decode in the absorbed form, over one
// latent that all heads share.
func latentWork(m *Model, l layout, kv Format) attnWork {
	cached := m.cachedPerToken(l, kv)
	perHead := (m.HeadDim + m.VDim) * l.heads
	return attnWork{
		pairFlops:    float64(2 * perHead),
		queryBytes:   float64(2 * perHead),
		kvBytes:      float64(2*perHead + cached),
		contextFlops: float64(2 * (2*m.KVRank + m.RopeDim) * l.heads),
		contextBytes: float64(cached),
		kvHeads:      float64(l.kvHeads),
	}
}

// latentPerToken returns the seconds that one layer takes for one token of
// context in the absorbed form: the root of the sum of squares of computing, at
// the rate of prefill attention, and reading, at that of decode attention. With
// many heads to one latent neither is small against the other. No kernel of it
// was fitted.
func (c AttnDecode) latentPerToken(w attnWork, rates coefficients) float64 {
	compute := w.contextFlops / (rates.prefill.FlopPerS * rates.engine.FlopEfficiency)
	read := c.perToken(w, rates.kvEfficiency)
	return math.Sqrt(float64(compute*compute) + float64(read*read))
}
