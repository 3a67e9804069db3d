package workload

import (
	"math/big"
	"strconv"

	"servesim/sim"
)

// constant is a process of evenly spaced instants: the one after k gaps is the
// picosecond nearest to k/rate, halves up, for every k. It counts in whole
// numbers, as Bresenham's line does, so that no rounding adds up.
type constant struct {
	gap     sim.Time // 1/rate is gap + rest/parts picoseconds
	rest    int64    // less than parts
	parts   int64
	over    int64 // by how many parts k/rate + 1/2 ps exceeds at
	at      sim.Time
	started bool
}

// newConstant returns the process of a rate from minRate to maxRate in requests
// per second. The rate is taken to be the shortest decimal that reads as it, what a
// file says and a printed scenario shows: 0.1/s is one request in 10 s exactly.
func newConstant(rate float64) *constant {
	gap, _ := new(big.Rat).SetString(strconv.FormatFloat(rate, 'g', -1, 64)) // which it reads
	gap.Quo(new(big.Rat).SetInt64(int64(sim.Second)), gap)
	// The denominator divides the digits of the decimal, of which there are at
	// most 17; twice that counts half picoseconds.
	ps, rest := new(big.Int).QuoRem(gap.Num(), gap.Denom(), new(big.Int))
	return &constant{
		gap: sim.Time(ps.Int64()), rest: 2 * rest.Int64(), parts: 2 * gap.Denom().Int64(), over: gap.Denom().Int64(),
	}
}

func (c *constant) next() (sim.Time, error) {
	if !c.started {
		c.started = true
		return 0, nil
	}
	if c.at > sim.MaxTime-c.gap-1 {
		return 0, errTooLate
	}
	c.at += c.gap
	if c.over += c.rest; c.over >= c.parts {
		c.over -= c.parts
		c.at++
	}
	return c.at, nil
}
