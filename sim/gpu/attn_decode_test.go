package gpu

import (
	"math"
	"testing"
)

// Law, for everything that ships: the time of context tokens is within 1e-4 of the
// unrounded one where it has no hops, and otherwise within half a hop of 65,536 ps
// and what a whole number of tokens between hops, 65,536 or more and at most half
// a token off, errs by: 1/131,072. It is tried up to the first hops, and right
// before and at far ones, where the rounding is worst.
func TestSlopeLaw(t *testing.T) {
	const relative, halfHop, wholeTokens = 1e-4, 65_536 / 2, 1.0 / 131_072
	check := func(s Setup, what string, c slope, exact float64) {
		counts := []int64{0, 1, 2, 1000, 1 << 13, 1 << 17, 1 << 20, 1 << 24, 1 << 28, 1 << 30}
		if c.hopTokens > 0 {
			for _, hops := range []int64{1, 2, 3, 6, 100, 1000} {
				hop := hops*c.hopTokens - c.hopTokens/2
				counts = append(counts, hop-1, hop)
			}
		}
		for _, n := range counts {
			want := exact * float64(n)
			bound := relative * want
			if c.hopTokens > 0 {
				bound = halfHop + wholeTokens*want
			}
			if off := math.Abs(float64(c.at(n)) - want); off > bound {
				t.Errorf("%s %s tp%d %s kv %s, %s: %d tokens are off by %.1f of %.1f ps, want at most %.1f",
					s.Profile.Name, s.Model.Name, s.TP, s.Engine, s.KV, what, n, off, want, bound)
			}
		}
	}
	forEachShipped(t, func(s Setup, c *StepTime) {
		exact := s.perToken(t) * 1e12
		check(s, "full", c.full, exact*c.fullLayers)
		if c.window > 0 {
			check(s, "windowed", c.windowed, exact*c.windowLayers)
		}
	})
}
