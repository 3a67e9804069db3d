package sim

import (
	"hash/fnv"
	"math/rand/v2"
)

// Seed is the one number from which every random draw of a run follows.
type Seed uint64

// Stream returns the random source for the part of the model called name.
// Streams of different names are independent, so giving one part of the model
// more draws never changes another's, and two policies that run with one seed
// see the same arrivals.
func (s Seed) Stream(name string) *rand.PCG {
	h := fnv.New64a()
	h.Write([]byte(name)) // never fails, as hash.Hash documents
	return rand.NewPCG(mix(uint64(s)), mix(h.Sum64()^uint64(s)))
}

// Reset sets src to the i-th member of the family of streams called name, the
// same source whatever was drawn from the others: one member a request or a
// user makes its draws independent of the order in which they are made.
// Family comes from Seed.Family.
func (f Family) Reset(src *rand.PCG, i uint64) {
	src.Seed(f.seed, mix(f.name^mix(i+1)))
}

// Family is a set of streams, one for each number.
type Family struct{ seed, name uint64 }

// Family returns the family of streams called name.
func (s Seed) Family(name string) Family {
	h := fnv.New64a()
	h.Write([]byte(name))
	return Family{seed: mix(uint64(s)), name: mix(h.Sum64() ^ uint64(s))}
}

// mix is the finaliser of SplitMix64 (Steele, Lea and Flood, OOPSLA 2014): it
// turns numbers that differ in one bit into numbers that differ in half of them.
func mix(z uint64) uint64 {
	z += 0x9e3779b97f4a7c15
	z = (z ^ z>>30) * 0xbf58476d1ce4e5b9
	z = (z ^ z>>27) * 0x94d049bb133111eb
	return z ^ z>>31
}
