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
	w := s.work()
	return c.of(w).seconds(seqs) + float64(c.perToken(w, 1)*float64(context))
}

// attnDecode is the part of decode attention that does not depend on context.
type attnDecode struct {
	fixed  float64 // s
	perSeq float64 // s
}

func (c AttnDecode) of(w attnWork) attnDecode {
	return attnDecode{fixed: c.FixedS, perSeq: c.PerSeqKVHeadS * w.kvHeads}
}

// seconds is 0 without sequences.
func (a attnDecode) seconds(seqs int64) float64 {
	if seqs == 0 {
		return 0
	}
	return a.fixed + float64(a.perSeq*float64(seqs))
}

// perToken returns the seconds that one layer takes for one token of context.
func (c AttnDecode) perToken(w attnWork, efficiency float64) float64 {
	return w.contextBytes / (c.BytesPerS * efficiency)
}
