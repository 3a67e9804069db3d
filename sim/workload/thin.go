package workload

import (
	"errors"
	"fmt"
	"math"
	"math/rand/v2"

	"servesim/sim"
)

// Thin keeps each request of src with the probability fraction, 0 < fraction ≤
// 1, and its arrival as it is. Whether a request is kept follows from the
// seed and its number alone, so that what a smaller fraction keeps, a larger
// one keeps too. The error says that fraction is out of range or wraps
// ErrNoReactive.
func Thin(src Source, fraction float64, seed sim.Seed) (Source, error) {
	if !(fraction > 0 && fraction <= 1) {
		return nil, fmt.Errorf("thin: found the fraction %v, want more than 0 and at most 1", fraction)
	}
	if err := openLoop("thin", src); err != nil {
		return nil, err
	}
	return &chosen{stage: stage{src: src}, name: "thin", coin: newCoin(fraction, seed.Family("workload/thin"))}, nil
}

// Part is one of the two that Split makes.
type Part uint8

// The parts.
const (
	// First is the part that gets the fraction.
	First Part = iota
	// Rest is the other one.
	Rest
)

// Split yields one part of src: First gets each request with the probability
// fraction, 0 < fraction < 1, and Rest what First does not get. A session goes
// whole to one part. Arrivals are as they were. The error says that fraction is
// out of range or wraps ErrNoReactive.
func Split(src Source, fraction float64, seed sim.Seed, part Part) (Source, error) {
	if !(fraction > 0 && fraction < 1) {
		return nil, fmt.Errorf("split: found the fraction %v, want more than 0 and less than 1", fraction)
	}
	if part > Rest {
		return nil, errors.New("split: the part must be First or Rest")
	}
	if err := openLoop("split", src); err != nil {
		return nil, err
	}
	return &chosen{stage: stage{src: src}, name: "split", whole: true, invert: part == Rest,
		coin: newCoin(fraction, seed.Family("workload/split"))}, nil
}

// chosen yields the requests for which a coin says so.
type chosen struct {
	stage
	coin          coin
	name          string
	whole, invert bool
	dropped       int64
}

// Next implements Source.
func (p *chosen) Next() (Request, error) {
	for {
		r, err := p.read()
		if err != nil {
			return r, err
		}
		key := uint64(r.ID)
		if p.whole && r.Session != 0 {
			key = 1<<63 | uint64(r.Session)
		}
		if p.coin.toss(key) != p.invert {
			return p.yield(r)
		}
		p.dropped++
	}
}

// Counts implements Counted.
func (p *chosen) Counts() []Count {
	return append(CountsOf(p.src), Count{p.name + ": requests kept", p.n}, Count{p.name + ": requests left out", p.dropped})
}

// coin is a family of draws that say yes with one probability.
type coin struct {
	family sim.Family
	src    *rand.PCG
	below  float64
}

// newCoin returns a coin that says yes with probability p.
func newCoin(p float64, family sim.Family) coin {
	return coin{family, rand.NewPCG(0, 0), math.Ldexp(p, 53)}
}

// toss tells what the coin with number i shows.
func (c *coin) toss(i uint64) bool {
	c.family.Reset(c.src, i)
	return float64(c.src.Uint64()>>11) < c.below
}
