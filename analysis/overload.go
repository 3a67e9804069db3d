package analysis

import (
	"math"

	"servesim/sim"
	"servesim/sim/observe"
)

// waitBins is the number of bins of waits.
const waitBins = 1024

// waits keeps how long requests waited by when they arrived, in bins of time whose
// width doubles whenever the arrivals outgrow them. How long the run goes on
// after the last arrival makes no bin wider.
type waits struct {
	shift uint // a bin is 1<<shift ps wide; 0 before the first request
	bins  [waitBins]waitBin
	n     int64
	last  sim.Time // the latest arrival
}

// waitBin is the requests that arrived in one bin and the sum of their waits in ps.
type waitBin struct {
	n    int64
	wait sum
}

// request takes the wait of r, from the instant it joined the queue to that at
// which it was first computed or given up. A request that still waits when the
// run ends says only that its wait is longer, and isn't taken.
func (w *waits) request(r *observe.Request) {
	end := r.Scheduled
	if end < 0 {
		end = r.End
	}
	if r.Sent < 0 || end < r.Sent || r.Scheduled < 0 && r.Outcome == observe.Unfinished {
		return
	}
	if w.shift == 0 {
		w.shift = 30 // about a millisecond
	}
	for r.Arrival>>w.shift >= waitBins {
		w.double()
	}
	b := &w.bins[r.Arrival>>w.shift]
	b.n++
	b.wait.add(uint64(end.Sub(r.Sent)))
	w.n++
	w.last = max(w.last, r.Arrival)
}

// double makes each bin twice as wide.
func (w *waits) double() {
	for i := range waitBins / 2 {
		a, b := w.bins[2*i], w.bins[2*i+1]
		a.n += b.n
		a.wait.addSum(b.wait, 1)
		w.bins[i] = a
	}
	clear(w.bins[waitBins/2:])
	w.shift++
}

// tenths returns the mean waits in ps of ten groups of requests by arrival, each a
// tenth of them but for whole bins. ok is false if a bin is a tenth by itself.
func (w *waits) tenths() (mean [10]float64, ok bool) {
	var group [10]waitBin
	before := int64(0)
	for i := range w.bins {
		if b := &w.bins[i]; b.n > 0 {
			g := &group[min(10*before/w.n, 9)]
			g.n += b.n
			g.wait.addSum(b.wait, 1)
			before += b.n
		}
	}
	for i := range group {
		if group[i].n == 0 {
			return mean, false
		}
		mean[i] = group[i].wait.float() / float64(group[i].n)
	}
	return mean, true
}

// overloadCount is the number of requests below which nothing is said of overload.
const overloadCount = 100

// overloadShare is the least share of the time by which waits grow in an
// overload, however many requests there are.
const overloadShare = 0.01

// growth tells whether the queue grew as long as requests arrived: whether the
// last tenth of them waited longer, in the mean, than each tenth of the first
// half, by a share of the time from the first half's end to the last arrival.
//
// Where requests bring ρ > 1 times the work that the engine can do, who arrives
// at t waits about (ρ-1)·t, so that this share is about ρ-1. Below capacity waits
// don't grow with t, but chance moves the work of n requests by about 1/√n of it
// where its coefficient of variation is 1; the share must be at least two of
// these and overloadShare. late and early are the waits compared, in ps.
func (w *waits) growth(start sim.Time) (late, early float64, ok bool) {
	if w.n < overloadCount {
		return 0, 0, false
	}
	tenth, ok := w.tenths()
	if !ok {
		return 0, 0, false
	}
	late = tenth[9]
	for _, t := range tenth[:5] {
		early = max(early, t)
	}
	least := max(overloadShare, 2/math.Sqrt(float64(w.n)))
	return late, early, late-early >= least*float64(w.last.Sub(start))/2
}
