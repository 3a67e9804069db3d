package analysis

import "servesim/sim"

// ShareChange is by how much the share of good requests differs between two runs
// of the same requests.
type ShareChange struct {
	// Base and Run are the shares in both, of the requests with records in both.
	Base, Run float64
	// Interval is that of Run-Base, from -1 to 1.
	Interval  ShareInterval
	Direction Direction
	// Settles is as in Change.
	Settles int64
}

// goodput returns the change of the share of good requests, told by whether each
// was good in both runs, in the order of the requests; nil if there are none.
func goodput(base, run []bool) *ShareChange {
	if len(base) == 0 {
		return nil
	}
	// A share falls as a latency does where good requests count as negative.
	counts := func(good []bool) (values []int64, total int64) {
		values = make([]int64, len(good))
		for i, g := range good {
			if g {
				values[i], total = -whole, total-whole
			}
		}
		return values, total / int64(len(good))
	}
	before, a := counts(base)
	after, b := counts(run)
	c := Change{Base: sim.Duration(a), Run: sim.Duration(b), Interval: pairedMean(before, after)}
	c.judge(int64(len(base)))
	s := shareChangeOf(c)
	return &s
}

// shareChangeOf returns the change of a share of which good requests are counted
// as c does, -whole for all.
func shareChangeOf(c Change) ShareChange {
	return ShareChange{
		Base: float64(-c.Base) / whole, Run: float64(-c.Run) / whole, Direction: c.Direction, Settles: c.Settles,
		Interval: ShareInterval{c.Interval.Evidence, float64(-c.Interval.Hi) / whole, float64(-c.Interval.Lo) / whole},
	}
}
