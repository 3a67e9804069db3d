package gpu

// AttnDecode is the coefficients of the attention of decode tokens in one layer:
//
//	t = fixed + perSeqKVHead·seqs·KV heads
//	  + 2·d·KV heads·KV bytes·context tokens/(bytes/s·efficiency)
//
// Measured straight lines over the context length at fixed batch have R² of
// 0.9996 and more, and their slope does not depend on the batch.
type AttnDecode struct {
	FixedS        float64    `toml:"fixed_s" want:"span"`
	PerSeqKVHeadS float64    `toml:"per_seq_kv_head_s" want:"span"`
	BytesPerS     float64    `toml:"bytes_per_s" want:"rate"`
	Fit           Provenance `toml:"fit" want:"optional"`
}

// Seconds returns the time of the attention of seqs sequences, whose contexts are
// context tokens together, in one layer, in seconds.
func (c AttnDecode) Seconds(s AttnShape, seqs, context int64) float64 {
	return c.of(s).seconds(seqs) + float64(c.perToken(s, 1)*float64(context))
}

// attnDecode is the part of decode attention that does not depend on context.
type attnDecode struct {
	fixed  float64 // s
	perSeq float64 // s
}

func (c AttnDecode) of(s AttnShape) attnDecode {
	return attnDecode{fixed: c.FixedS, perSeq: c.PerSeqKVHeadS * float64(s.KVHeads)}
}

// seconds is 0 without sequences.
func (a attnDecode) seconds(seqs int64) float64 {
	if seqs == 0 {
		return 0
	}
	return a.fixed + float64(a.perSeq*float64(seqs))
}

// perToken returns the seconds that one layer takes for one token of context.
func (c AttnDecode) perToken(s AttnShape, efficiency float64) float64 {
	return 2 * float64(s.HeadDim*s.KVHeads*s.KV.kvBytes()) / (c.BytesPerS * efficiency)
}

// decodeWork is what the attention of decode tokens over context tokens computes
// and reads: keys and values.
func (s AttnShape) decodeWork(context int64) (flops, bytes float64) {
	perToken := 2 * s.HeadDim * s.KVHeads * s.KV.kvBytes()
	return 4 * float64(s.HeadDim*s.Heads) * float64(context), float64(perToken) * float64(context)
}
