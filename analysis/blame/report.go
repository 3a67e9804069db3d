package blame

import (
	"servesim/sim"
	"servesim/sim/observe"
)

const completed = observe.Completed

// Bands is the requests in order of one metric. Neighbours within 0.4 % of each
// other are not told apart, so a band may have a few more than it says.
type Bands struct {
	Metric Metric
	// All is all completed requests that have the metric, Middle those from the
	// 40th to the 60th percentile, Tail those from the 99th on.
	All, Middle, Tail Band
}

// Report is what a run's latencies were spent on.
type Report struct {
	// Requests is the number of requests of all outcomes.
	Requests int64
	// Bands are by metric, in the order of the metrics.
	Bands []Bands
	// Gaps is the gaps between tokens.
	Gaps Gaps
	// Top are the requests whose prompts cost others the most time between tokens,
	// the most costly first. Lengths are all prompts by length; Decode and Wait
	// are the means, by request of the run, of what they cost others.
	Top          []Culprit
	Lengths      []Length
	Decode, Wait sim.Duration
}

// report returns the sums.
func (b *Blame) report() *Report {
	r := &Report{Requests: b.requests, Gaps: b.gaps.report(), Top: b.book.top, Lengths: b.book.byLength()}
	for m := range b.bands {
		s := &b.bands[m]
		n := s.count
		r.Bands = append(r.Bands, Bands{
			Metric: Metric(m), All: s.band(0, n-1), Middle: s.band(n*2/5, (n-1)-n*2/5), Tail: s.band(rank99(n), n-1),
		})
	}
	decode, wait := b.book.costs()
	r.Decode, r.Wait = decode.over(b.requests), wait.over(b.requests)
	return r
}
