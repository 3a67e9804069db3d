package gpu

// AttnPrefill is the coefficients of the attention of prompt tokens in one layer:
//
//	t = fixed + 4·d·heads·pairs/(flop/s·efficiency)
//	  + tokens·d·(4·heads + (4+2·KV bytes)·KV heads)/(bytes/s)
//
// pairs is the number of query-key pairs. The sum of the two fits better than
// their maximum.
type AttnPrefill struct {
	FixedS    float64 `toml:"fixed_s" want:"span"`
	FlopPerS  float64 `toml:"flop_per_s" want:"rate"`
	BytesPerS float64 `toml:"bytes_per_s" want:"rate"`
}

// attnPrefill is prefill attention of one model and layout.
type attnPrefill struct {
	fixed    float64 // s
	perPair  float64 // s
	perToken float64 // s
}

func (c AttnPrefill) of(l layout, headDim int64, kv Format, efficiency float64) attnPrefill {
	d := float64(headDim)
	bytes := 4*l.heads + (4+2*kv.kvBytes())*l.kvHeads
	return attnPrefill{
		fixed:    c.FixedS,
		perPair:  4 * d * float64(l.heads) / (c.FlopPerS * efficiency),
		perToken: d * float64(bytes) / c.BytesPerS,
	}
}

// seconds is 0 without tokens. window is the number of last tokens that a query
// attends to, or 0 for all.
func (a attnPrefill) seconds(tokens, pairs int64, window int64) float64 {
	if tokens == 0 {
		return 0
	}
	if window > 0 {
		pairs = min(pairs, tokens*window)
	}
	return a.fixed + float64(a.perPair*float64(pairs)) + float64(a.perToken*float64(tokens))
}
