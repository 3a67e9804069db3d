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
	input := m.Hidden
	if m.QRank > 0 {
		s, input = append(s, shape{m.QRank, m.Hidden}), m.QRank
	}
	return append(s,
		shape{l.heads * m.HeadDim, input},
		shape{m.KVRank + m.RopeDim, m.Hidden},
		shape{l.heads * (m.NopeDim + m.VDim), m.KVRank},
		shape{m.Hidden, l.attnOut})
}

// cachedPerToken returns the bytes of KV of one token in one layer on each GPU.
func (m *Model) cachedPerToken(l layout, kv Format) int64 {
	if m.KVRank > 0 {
		return (m.KVRank + m.RopeDim) * kv.kvBytes()
	}
	return 2 * l.kvHeads * m.HeadDim * kv.kvBytes()
}

// ofLatent returns prefill attention in the expanded form, at the rates of heads
// of 128 elements. For a token it reads query, key and value and writes the
// output in bf16, and writes the latent.
func (c AttnPrefill) ofLatent(m *Model, l layout, kv Format, efficiency float64) attnPrefill {
	perHead := float64(m.HeadDim + m.VDim)
	heads := float64(l.heads)
	return attnPrefill{
		fixed:    c.FixedS,
		perPair:  2 * perHead * heads / (c.FlopPerS * efficiency),
		perToken: (float64(4*perHead*heads) + float64(m.cachedPerToken(l, kv))) / c.BytesPerS,
	}
}

// latentPerToken returns the seconds that one layer takes for one token of
// context in the absorbed form: the root of the sum of squares of computing, at
// the rate p of prefill attention, and reading, at that of decode attention. With
// many heads to one latent neither is small against the other. No kernel of it
// was fitted.
func (c AttnDecode) latentPerToken(m *Model, l layout, kv Format, rates coefficients) float64 {
	pair := 2 * float64(2*m.KVRank+m.RopeDim) * float64(l.heads)
	compute := pair / (rates.prefill.FlopPerS * rates.engine.FlopEfficiency)
	read := float64(m.cachedPerToken(l, kv)) / (c.BytesPerS * rates.kvEfficiency)
	return math.Sqrt(float64(compute*compute) + float64(read*read))
}
