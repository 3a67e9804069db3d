package workload

import (
	"math/rand/v2"

	"servesim/sim"
)

// onOff is a process of bursts: a drawn number of requests with gaps of one
// law, then a gap of another.
type onOff struct {
	size     Length
	gap, off Delay
	factor   float64 // of all gaps
	src      rand.PCG
	at       sim.Time
	left     int32 // requests of this burst that are still to come
	started  bool
}

func (o *onOff) next() (sim.Time, error) {
	var gap float64
	if o.left > 0 {
		gap = float64(o.gap.drawPs(&o.src) * o.factor)
	} else {
		if o.started {
			gap = float64(o.off.drawPs(&o.src) * o.factor)
		}
		o.left = o.size.Draw(&o.src, 0)
	}
	o.started = true
	o.left--
	at, ok := later(o.at, gap)
	if !ok {
		return 0, errTooLate
	}
	o.at = at
	return at, nil
}

// rate returns the mean rate over time in requests per second: the mean size
// of a burst over the mean time from the start of one to that of the next.
func (o *onOff) rate() float64 {
	n := o.size.mean()
	return n / (o.off.meanPs() + float64((n-1)*o.gap.meanPs())) * psPerSecond
}

// onOff checks the keys of an on/off process; rate is 0 or the mean rate that
// it is scaled to.
func (c *specCheck) onOff(key string, s *ArrivalSpec, rate float64) func(rand.PCG) arrivals {
	before := len(c.faults)
	o := onOff{factor: 1}
	o.size = c.length(sub(key, "burst_size"), s.BurstSize)
	o.gap = c.delay(sub(key, "gap"), s.Gap)
	o.off = c.delay(sub(key, "off"), s.Off)
	if s.BurstSize.dependsOnPrompt() {
		c.add(sub(key, "burst_size"), "depends on a prompt, which a burst does not have; choose another dist than by_prompt")
	}
	if len(c.faults) > before {
		return nil
	}
	own := o.rate()
	if !(own <= maxRate) {
		c.add(sub(key, "off"), "gives %g requests per second in the mean; at most %g is allowed: lengthen off or gap", own, maxRate)
		return nil
	}
	if rate > 0 {
		o.factor = own / rate
	}
	return func(src rand.PCG) arrivals {
		q := o
		q.src = src
		return &q
	}
}
