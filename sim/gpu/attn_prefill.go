package gpu

import "math"

// AttnPrefill is the coefficients of the attention of prompt tokens in one layer:
//
//	c = 4·d·heads·pairs/(flop/s·efficiency)
//	t = fixed + c + √(tail·c)
//	  + 4·d·heads·tokens/(bytes/s) + (4+2·KV bytes)·d·KV heads·tokens/(KV bytes/s)
//
// pairs is the number of query-key pairs. The root is the part of the GPU that
// idles while the last tiles finish, so that its share shrinks as the work grows:
// the rate is near half of flop/s where c equals tail. The last two terms are the
// reading of queries and writing of results, and the writing of the cache with the
// reading of new keys and values; sums of these terms fit better than maxima.
type AttnPrefill struct {
	FixedS      float64    `toml:"fixed_s" want:"span"`
	FlopPerS    float64    `toml:"flop_per_s" want:"rate"`
	TailS       float64    `toml:"tail_s" want:"span"`
	BytesPerS   float64    `toml:"bytes_per_s" want:"rate"`
	KVBytesPerS float64    `toml:"kv_bytes_per_s" want:"rate"`
	Fit         Provenance `toml:"fit" want:"optional"`
}

// Seconds returns the time of the attention of tokens prompt tokens with pairs
// query-key pairs in one layer, in seconds.
func (c AttnPrefill) Seconds(s AttnShape, tokens, pairs int64) float64 {
	return c.of(s.work(), 1).seconds(tokens, pairs)
}

// attnPrefill is prefill attention of one model and layout.
type attnPrefill struct {
	fixed    float64 // s
	perPair  float64 // s
	tail     float64 // s
	perToken float64 // s
}

// of returns prefill attention that computes and moves w a layer, its FLOP rate
// scaled by efficiency.
func (c AttnPrefill) of(w attnWork, efficiency float64) attnPrefill {
	return attnPrefill{
		fixed:    c.FixedS,
		perPair:  w.pairFlops / (c.FlopPerS * efficiency),
		tail:     c.TailS,
		perToken: w.queryBytes/c.BytesPerS + w.kvBytes/c.KVBytesPerS,
	}
}

// seconds is 0 without tokens, and never shrinks as tokens or pairs grow.
func (a attnPrefill) seconds(tokens, pairs int64) float64 {
	if tokens == 0 {
		return 0
	}
	c := float64(a.perPair * float64(pairs))
	return a.fixed + c + math.Sqrt(float64(a.tail*c)) + float64(a.perToken*float64(tokens))
}

// windowPairs returns the query-key pairs of tokens prompt tokens that would be
// pairs if queries didn't attend to the last window tokens only.
func windowPairs(tokens, pairs, window int64) int64 { return min(pairs, tokens*window) }
