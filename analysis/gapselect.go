package analysis

import "math/bits"

// pickGaps writes to out the gaps at the given ranks, counted from 0 and in
// ascending order, of the sorted sequence of all gaps of chunks, which lie from
// lo to hi. As pick does with values, it counts gaps into buckets of equal width
// and goes on with the parts of runs inside the buckets that hold a wanted rank.
// A run counts into a bucket in one go, however many of its gaps lie there.
func pickGaps(chunks [][]gapRun, lo, hi uint64, ranks, out []int64) {
	if lo == hi {
		for i := range out {
			out[i] = int64(lo)
		}
		return
	}
	shift := max(0, bits.Len64(hi-lo)-fanBits)
	var counts [1 << fanBits]int64
	for _, c := range chunks {
		for i := range c {
			countRun(&c[i], lo, shift, counts[:])
		}
	}
	groups := groupRanks(counts[:], ranks)
	cuts := make([]cut, len(groups))
	for i, g := range groups {
		low := lo + uint64(g.bucket)<<shift
		cuts[i] = cut{low: low, high: low + (1<<shift - 1)}
	}
	takeAll(cuts, chunks, lo, shift)
	for i, g := range groups {
		part := &cuts[i]
		pickGaps([][]gapRun{part.runs}, part.min, part.max, g.ranks, out[g.at:g.at+len(g.ranks)])
	}
}

// takeAll takes the parts of all runs inside cuts, each of which is a bucket of width
// 1<<shift from lo up, in ascending order.
func takeAll(cuts []cut, chunks [][]gapRun, lo uint64, shift int) {
	var before [1<<fanBits + 1]uint16 // the number of cuts below a bucket
	for i := range cuts {
		before[(cuts[i].low-lo)>>shift+1] = 1
	}
	for b := range before[1:] {
		before[b+1] += before[b]
	}
	for _, c := range chunks {
		for i := range c {
			r := &c[i]
			for k := before[(uint64(r.first)-lo)>>shift]; k < before[(uint64(r.last())-lo)>>shift+1]; k++ {
				cuts[k].take(r)
			}
		}
	}
}

// countRun counts the gaps of r into buckets of width 1<<shift from lo up.
func countRun(r *gapRun, lo uint64, shift int, counts []int64) {
	u, end := uint64(r.first)-lo, uint64(r.last())-lo
	b, last := u>>shift, end>>shift
	n := int64(r.steps)
	if b == last {
		counts[b] += n * int64(r.seqs)
		return
	}
	inc, width := uint64(r.inc), uint64(1)<<shift
	for b < last {
		k := int64(1)
		if inc < width {
			k = int64(((b+1)<<shift - u + inc - 1) / inc)
		}
		counts[b] += k * int64(r.seqs)
		u += uint64(k) * inc
		n -= k
		b = u >> shift
	}
	counts[last] += n * int64(r.seqs)
}

// cut collects the parts of runs whose gaps lie from low to high.
type cut struct {
	low, high uint64
	runs      []gapRun
	min, max  uint64 // extremes of the gaps in runs
}

// take adds the part of r inside the cut.
func (c *cut) take(r *gapRun) {
	first, last := uint64(r.first), uint64(r.last())
	if first > c.high || last < c.low {
		return
	}
	p := *r
	if first < c.low {
		skip := (c.low - first + uint64(r.inc) - 1) / uint64(r.inc)
		first += skip * uint64(r.inc)
		if first > c.high {
			return
		}
		p.first = int64(first)
		p.steps -= int32(skip)
	}
	if last > c.high {
		p.steps = int32((c.high-first)/uint64(r.inc)) + 1
		last = uint64(p.last())
	}
	if len(c.runs) == 0 {
		c.min, c.max = first, last
	}
	c.min, c.max = min(c.min, first), max(c.max, last)
	c.runs = append(c.runs, p)
}
