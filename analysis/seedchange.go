package analysis

import (
	"math"

	"servesim/sim"
)

// ChangeBySeed returns the change of a statistic between two scenarios that
// were simulated under the same seeds: base and run are its values in both, by
// seed, of equal number. Base and Run of the change are their means. The interval
// is Student's of the mean of the differences by seed, so that the luck that a
// seed has in both scenarios cancels. It is of the statistic of a run, as an operator
// sees it; CompareReplications is of the statistic of all runs together.
func ChangeBySeed(base, run []sim.Duration) Change {
	n := len(base)
	before, after, differences := make([]float64, n), make([]float64, n), make([]float64, n)
	for i := range base {
		before[i], after[i] = float64(base[i]), float64(run[i])
		differences[i] = float64(run[i] - base[i])
	}
	c := Change{Paired: true, Interval: Interval{Evidence: Evidence{Method: Replications, Needs: FewestReplications}}}
	if n > 0 {
		c.Base, c.Run = sim.Duration(math.Round(RateOf(before).Mean)), sim.Duration(math.Round(RateOf(after).Mean))
		r := RateOf(differences)
		c.Interval.Evidence = r.Evidence
		c.Interval.Lo, c.Interval.Hi = sim.Duration(math.Floor(r.Lo)), sim.Duration(math.Ceil(r.Hi))
	}
	c.judge(int64(n))
	return c
}

// ShareChangeBySeed is ChangeBySeed of a share of good requests.
func ShareChangeBySeed(base, run []float64) ShareChange {
	// A share falls as a latency does where good requests count as negative.
	parts := func(shares []float64) []sim.Duration {
		list := make([]sim.Duration, len(shares))
		for i, s := range shares {
			list[i] = sim.Duration(math.Round(float64(-s * whole)))
		}
		return list
	}
	c := ChangeBySeed(parts(base), parts(run))
	return shareChangeOf(c)
}
