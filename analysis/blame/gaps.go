package blame

import (
	"servesim/sim"
	"servesim/sim/observe"
)

// gapBucket adds up the gaps between tokens that are about as long.
type gapBucket struct {
	count      int64
	sum, named wide
	classes    *[lengths]gapClass // by the lengths of prompts; nil if none had a share
}

// gapClass is what prompts of a range of lengths took of the gaps of a bucket.
type gapClass struct {
	named   wide
	prompts int64 // that had a share in no longer gaps
}

// class returns that of prompts of a range of lengths.
func (b *gapBucket) class(in int) *gapClass {
	if b.classes == nil {
		b.classes = new([lengths]gapClass)
	}
	return &b.classes[in]
}

// gapScale is all gaps between tokens.
type gapScale struct {
	buckets []gapBucket
	count   int64
	tell    func(*Seen) // of Options
	seen    Seen        // scratch
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

// step counts the gaps that end in r, which is the latest of t, and marks the
// prompts that had a share in them.
func (g *gapScale) step(t *timeline, r *observe.StepRun, b *book) {
	e := &t.entries[len(t.entries)-1]
	resumed := false
	for i := range r.Chunks {
		resumed = resumed || r.Chunks[i].Resumed
	}
	seen := &g.seen
	for i := range r.Gaps {
		p := &r.Gaps[i]
		*seen = Seen{Step: r, Gaps: p, Culprit: -1}
		switch {
		case p.Steps != 1, r.Steps == 2 && p.First == r.First+r.Inc: // the second of two steps
			g.run(p.First, p.Inc, p.Steps, int64(p.Seqs))
		case p.First == r.First:
			d := excess(r)
			g.add(p.First, d, int64(p.Seqs))
			t.mark(b, e, d, p)
			g.see(t, e, d)
		case resumed && p.First != t.regular:
			g.add(p.First, 0, int64(p.Seqs)) // perhaps of a prompt that is computed again
			seen.Again = true
		default:
			end := r.Start.Add(r.First)
			begin := end - sim.Time(p.First)
			i := t.at(begin, len(t.entries))
			from, to := t.until(i, begin), e.after(1)
			g.add(p.First, to.slowed+to.stalled-from.slowed-from.stalled, int64(p.Seqs))
			for i = max(i, t.head); i < len(t.entries); i++ {
				if k := &t.entries[i]; k.start >= begin {
					t.mark(b, k, k.excess(), p)
					g.see(t, k, k.excess())
				}
			}
		}
		if g.tell != nil {
			g.tell(seen)
		}
	}
}

// mark marks the prompts of e with what they took, d in all, of each gap of p.
func (t *timeline) mark(b *book, e *entry, d sim.Duration, p *observe.Gaps) {
	if d == 0 {
		return
	}
	at, before := int32(place(p.First)), int64(0)
	chunks := t.chunksOf(e)
	for i := range chunks {
		c := &chunks[i]
		upTo := before + int64(c.tokens)
		b.mark(c, at, plus(0, int64(p.Seqs), portion(d, upTo, e.tokens)-portion(d, before, e.tokens)))
		before = upTo
	}
}

// excess returns how much longer e lasts for its prompts; it is one step if it has any.
func (e *entry) excess() sim.Duration {
	switch {
	case e.chunks == 0:
		return 0
	case e.decodes == 0:
		return e.first
	}
	return e.first - e.base
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
	// Lengths is the prompts that had a share in the tail, by length, the longest
	// last.
	Lengths []TailLength
}

// TailLength is the prompts of a range of lengths that had a share in the tail.
type TailLength struct {
	// From and Below bound the lengths in tokens: From ≤ length < Below.
	From, Below int64
	// Prompts is their number, and Share what they took of all that prompts did.
	Prompts int64
	Share   float64
}

// Most returns the longest prompts that together took at least half of what all
// took of the tail: those of from tokens or more, their number and their share.
func (g *Gaps) Most() (from, prompts int64, share float64) {
	for i := len(g.Lengths) - 1; i >= 0 && share < 0.5; i-- {
		l := &g.Lengths[i]
		from, prompts, share = l.From, prompts+l.Prompts, share+l.Share
	}
	return from, prompts, share
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
	r.Lengths = lengthsOf(g.buckets[tail:])
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

// lengthsOf returns the prompts that had a share in the gaps of the buckets.
func lengthsOf(buckets []gapBucket) (list []TailLength) {
	var prompts [lengths]int64
	var times [lengths]wide
	var all wide
	for i := range buckets {
		if buckets[i].classes == nil {
			continue
		}
		for in, c := range buckets[i].classes {
			prompts[in] += c.prompts
			times[in].plus(c.named)
			all.plus(c.named)
		}
	}
	for in, n := range prompts {
		if n > 0 {
			from, below := bounds(in)
			list = append(list, TailLength{from, below, n, share(times[in], all)})
		}
	}
	return list
}

// rank99 returns the rank, from 0, of the 99th percentile of n values.
func rank99(n int64) int64 { return n - 1 - n/100 }
