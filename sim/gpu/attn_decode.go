package gpu

import "math"

// AttnDecode is the coefficients of the attention of decode tokens in one layer:
//
//	t = fixed + perSeqKVHead·seqs·KV heads
//	  + 2·d·KV heads·KV bytes·context tokens/(bytes/s·efficiency)
//
// Measured straight lines over the context length at fixed batch have R² of
// 0.9996 and more, and their slope does not depend on the batch.
type AttnDecode struct {
	FixedS        float64 `toml:"fixed_s" want:"span"`
	PerSeqKVHeadS float64 `toml:"per_seq_kv_head_s" want:"span"`
	BytesPerS     float64 `toml:"bytes_per_s" want:"rate"`
}

// attnDecode is the part of decode attention that does not depend on context.
type attnDecode struct {
	fixed  float64 // s
	perSeq float64 // s
}

func (c AttnDecode) of(l layout) attnDecode {
	return attnDecode{fixed: c.FixedS, perSeq: c.PerSeqKVHeadS * float64(l.kvHeads)}
}

// seconds is 0 without sequences.
func (a attnDecode) seconds(seqs int64) float64 {
	if seqs == 0 {
		return 0
	}
	return a.fixed + float64(a.perSeq*float64(seqs))
}

// perToken returns the seconds that one layer takes for one token of context.
func (c AttnDecode) perToken(l layout, headDim int64, kv Format, efficiency float64) float64 {
	return 2 * float64(headDim*l.kvHeads*kv.kvBytes()) / (c.BytesPerS * efficiency)
}

// slope is the time of context tokens, in whole picoseconds: ps for each, and
// hop more for every hopTokens of them, the first after half of that. Alone, ps
// would be the rounded cost of a token; where rounding it would err by more than
// slopeError the rest is paid in hops, so that between two hops the time is
// exactly affine in tokens, and it is never more than half a hop off.
type slope struct {
	ps        int64
	hopTokens int64 // 0: no hops
}

// hop is about 66 ns: invisible in a step, and long enough that the hops of a
// batch of 256 are at least 256 steps apart.
const hop = 1 << 16 // ps

// slopeError is the largest relative error of ps that is left standing.
const slopeError = 1e-4

// newSlope returns the slope of the given seconds a token.
func newSlope(seconds float64) slope {
	exact := float64(seconds * 1e12)
	whole := math.RoundToEven(exact)
	if math.Abs(whole-exact) <= slopeError*exact {
		return slope{ps: int64(whole)}
	}
	whole = math.Floor(exact)
	return slope{ps: int64(whole), hopTokens: int64(math.RoundToEven(hop / (exact - whole)))}
}

// at returns the picoseconds of tokens. It never shrinks as tokens grows.
func (s slope) at(tokens int64) int64 {
	t := s.ps * tokens
	if s.hopTokens > 0 {
		t += (tokens + s.hopTokens/2) / s.hopTokens * hop
	}
	return t
}

// until returns for how many values tokens, tokens+by, tokens+2·by, ... at
// grows by ps·by each time, at least 1.
func (s slope) until(tokens, by int64) int64 {
	if s.hopTokens == 0 {
		return maxSteps
	}
	left := s.hopTokens - 1 - (tokens+s.hopTokens/2)%s.hopTokens // before the next hop
	return left/by + 1
}
