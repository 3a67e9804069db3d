package gpu

import "math"

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
