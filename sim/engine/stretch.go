package engine

import (
	"math"

	"servesim/sim"
	"servesim/sim/gpu"
)

// maxStretch bounds the steps added in one closed form.
const maxStretch = 1 << 20

// countable returns a number of steps of p, at least 1 and limit if possible,
// whose sum does not overflow.
func countable(p gpu.Progression, limit int64) int64 {
	for limit > 1 {
		n := float64(limit)
		if float64(n*float64(p.First))+float64(n*n*float64(p.Inc))/2 < 1<<62 {
			break
		}
		limit /= 2
	}
	return limit
}

// total returns the duration of the first k steps of p.
func total(p gpu.Progression, k int64) sim.Duration {
	n := sim.Duration(k)
	return n*p.First + p.Inc*(n*(n-1)/2)
}

// stepsUntil returns the least k, from 1 to limit, for which the first k steps
// of p last at least d; limit if none does.
func stepsUntil(p gpu.Progression, d sim.Duration, limit int64) int64 {
	if total(p, limit) < d {
		return limit
	}
	k := estimate(p, d)
	k = max(1, min(k, limit))
	for k > 1 && total(p, k-1) >= d {
		k--
	}
	for total(p, k) < d {
		k++
	}
	return k
}

// stepsWithin returns the most k, from 0 to limit, for which the first k steps
// of p last at most d.
func stepsWithin(p gpu.Progression, d sim.Duration, limit int64) int64 {
	if total(p, limit) <= d {
		return limit
	}
	return stepsUntil(p, d+1, limit) - 1
}

// estimate returns about how many steps of p last d, by the root of
// Inc/2·k² + (First-Inc/2)·k = d. It is within a step or two of it.
func estimate(p gpu.Progression, d sim.Duration) int64 {
	b := float64(p.First) - float64(p.Inc)/2
	if p.Inc == 0 {
		return int64(d / p.First)
	}
	disc := float64(b*b) + 2*float64(p.Inc)*float64(d)
	return int64(2 * float64(d) / (b + math.Sqrt(disc)))
}
