package blame

import (
	"servesim/sim"
	"servesim/sim/observe"
)

// gapBucket adds up the gaps between tokens that are about as long.
type gapBucket struct {
	count      int64
	sum, named wide
}

// gapScale is all gaps between tokens.
type gapScale struct {
	buckets []gapBucket
	count   int64
}

// add counts n gaps of d, in each of which prompts took named.
func (g *gapScale) add(d, named sim.Duration, n int64) {
	b := g.bucket(d)
	b.count += n
	b.sum.add(d, n)
	b.named.add(named, n)
	g.count += n
}

func (g *gapScale) bucket(d sim.Duration) *gapBucket {
	i := place(d)
	if i >= len(g.buckets) {
		g.buckets = append(g.buckets, make([]gapBucket, i+1-len(g.buckets))...)
	}
	return &g.buckets[i]
}

// run counts n gaps of first, first+inc and so on, seqs times each, in which
// prompts took nothing.
func (g *gapScale) run(first, inc sim.Duration, n, seqs int64) {
	if inc < 0 {
		first, inc = first+inc*sim.Duration(n-1), -inc
	}
	for n > 0 {
		k := n
		if inc > 0 {
			k = min(n, int64((above(place(first))-first+inc-1)/inc))
		}
		b := g.bucket(first)
		b.count += k * seqs
		b.sum.add(sim.Duration(k)*first+inc*sim.Duration(k*(k-1)/2), seqs)
		g.count += k * seqs
		first += inc * sim.Duration(k)
		n -= k
	}
}

// step counts the gaps that end in r, which is the latest of t.
func (g *gapScale) step(t *timeline, r *observe.StepRun) {
	e := &t.entries[len(t.entries)-1]
	resumed := false
	for i := range r.Chunks {
		resumed = resumed || r.Chunks[i].Resumed
	}
	for i := range r.Gaps {
		p := &r.Gaps[i]
		switch {
		case p.Steps != 1:
			g.run(p.First, p.Inc, p.Steps, int64(p.Seqs))
		case p.First == r.First:
			g.add(p.First, excess(r), int64(p.Seqs))
		case resumed && p.First != t.regular:
			g.add(p.First, 0, int64(p.Seqs)) // perhaps of a prompt that is computed again
		default:
			end := r.Start.Add(r.First)
			begin := end - sim.Time(p.First)
			a, b := t.until(t.at(begin), begin), e.after(1)
			g.add(p.First, b.slowed+b.stalled-a.slowed-a.stalled, int64(p.Seqs))
		}
	}
}

// excess returns how much longer the first step of r lasts for its prompts.
func excess(r *observe.StepRun) sim.Duration {
	if r.Decodes == 0 {
		return 0 // the gap is of a prompt that is computed again
	}
	return r.First - r.Base
}

// Gaps is the gaps between tokens of all requests, pooled: ITL.
type Gaps struct {
	// Count is the number of gaps.
	Count int64
	// Median and P99 are percentiles, as the means of gaps within 0.4 % of them.
	Median, P99 sim.Duration
	// Tail is the number of gaps of about P99 or more. Excess is by how much they
	// exceed the median, in the mean, and Named what of that prompts took: those
	// of other requests, in the steps since the token before.
	Tail          int64
	Excess, Named sim.Duration
}

// report returns what has been counted.
func (g *gapScale) report() (r Gaps) {
	r.Count = g.count
	if g.count == 0 {
		return r
	}
	before, tail := int64(0), 0
	for i := range g.buckets {
		b := &g.buckets[i]
		if b.count == 0 {
			continue
		}
		mean := b.sum.over(b.count)
		if before <= (g.count-1)/2 {
			r.Median = mean
		}
		if before <= rank99(g.count) {
			r.P99, tail = mean, i
		}
		before += b.count
	}
	var excess, named wide
	for i := range g.buckets[tail:] {
		b := &g.buckets[tail+i]
		if b.count == 0 {
			continue
		}
		over := b.sum.over(b.count) - r.Median
		excess.add(max(0, over), b.count)
		named.add(max(0, min(over, b.named.over(b.count))), b.count)
		r.Tail += b.count
	}
	r.Excess, r.Named = excess.over(r.Tail), named.over(r.Tail)
	return r
}

// rank99 returns the rank, from 0, of the 99th percentile of n values.
func rank99(n int64) int64 { return n - 1 - n/100 }
