package engine

import (
	"math/bits"
	"math/rand/v2"

	"servesim/sim"
)

// Load is a replica that takes requests, as a router sees it.
type Load struct {
	// Replica is its number, from 0.
	Replica int32
	// Outstanding is the number of requests that were sent to it and have not
	// left it yet.
	Outstanding int32
}

// A Router chooses the replica of each request that reaches a pool. It serves
// one run.
type Router interface {
	// Route returns which of loads, by its index, the request called id goes to.
	// There is at least one, they stand in order of Replica, and they are not
	// to be kept or changed. What it returns follows from the calls of Route so
	// far and, of a router that draws, from its seed.
	Route(id int64, loads []Load) int
}

// RouterInfo describes a router for help texts.
type RouterInfo struct {
	Name, Summary string
	// New returns one for a run with the given seed.
	New func(seed sim.Seed) Router
}

// DefaultRouter is the name of the router that a pool has if nothing else is said.
const DefaultRouter = "least-outstanding"

// Routers is the whole list: a new router is a type and one line here.
func Routers() []RouterInfo {
	return []RouterInfo{
		{DefaultRouter, "to the replica with the fewest requests outstanding, in turn where several have as few",
			func(sim.Seed) Router { return &leastOutstanding{} }},
		{"round-robin", "to each replica in turn", func(sim.Seed) Router { return &roundRobin{} }},
		{"random", "to any replica, each as likely", func(s sim.Seed) Router { return &random{draws: s.Family("router")} }},
		{"power-of-two", "to that of two replicas, drawn at random, with fewer requests outstanding (the first drawn if both have as many)",
			func(s sim.Seed) Router { return &powerOfTwo{random{draws: s.Family("router")}} }},
	}
}

// FindRouter returns the router called name.
func FindRouter(name string) (r RouterInfo, ok bool) {
	for _, r := range Routers() {
		if r.Name == name {
			return r, true
		}
	}
	return RouterInfo{}, false
}

// turns goes round the replicas. It keeps the number of the one that is next, so
// that those that come and go don't change whose turn it is.
type turns struct{ next int32 }

// first returns the index of the replica whose turn it is.
func (t *turns) first(loads []Load) int {
	for i := range loads {
		if loads[i].Replica >= t.next {
			return i
		}
	}
	return 0
}

// took tells that replica l was chosen.
func (t *turns) took(l *Load) { t.next = l.Replica + 1 }

// roundRobin sends requests to each replica in turn.
type roundRobin struct{ turns turns }

// Route implements Router.
func (r *roundRobin) Route(_ int64, loads []Load) int {
	i := r.turns.first(loads)
	r.turns.took(&loads[i])
	return i
}

// leastOutstanding sends requests where the fewest are.
type leastOutstanding struct{ turns turns }

// Route implements Router.
func (r *leastOutstanding) Route(_ int64, loads []Load) int {
	best := r.turns.first(loads)
	for n, i := 1, best; n < len(loads); n++ {
		if i++; i == len(loads) {
			i = 0
		}
		if loads[i].Outstanding < loads[best].Outstanding {
			best = i
		}
	}
	r.turns.took(&loads[best])
	return best
}

// random sends each request to any replica. What it draws for a request follows
// from its ID alone, so that other requests that come or go change nothing.
type random struct {
	draws sim.Family
	src   rand.PCG
}

// Route implements Router.
func (r *random) Route(id int64, loads []Load) int {
	r.draws.Reset(&r.src, uint64(id))
	return r.below(len(loads))
}

// below draws a number from 0 to n-1. Of 2^64 numbers each gets as many as any
// other, or one more.
func (r *random) below(n int) int {
	hi, _ := bits.Mul64(r.src.Uint64(), uint64(n))
	return int(hi)
}

// powerOfTwo sends each request to the less loaded of two (Mitzenmacher, IEEE
// Transactions on Parallel and Distributed Systems 12, 2001).
type powerOfTwo struct{ random }

// Route implements Router.
func (r *powerOfTwo) Route(id int64, loads []Load) int {
	a := r.random.Route(id, loads)
	if len(loads) == 1 {
		return a
	}
	b := r.below(len(loads) - 1)
	if b >= a {
		b++
	}
	if loads[b].Outstanding < loads[a].Outstanding {
		return b
	}
	return a
}
