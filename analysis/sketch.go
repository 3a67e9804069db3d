package analysis

import (
	"math/bits"

	"servesim/sim"
)

// A sketch counts values in log-linear buckets that are few enough to stay in a
// processor's caches: each power of two is split into 512, so that the middle of a
// bucket is within 2^-10, or 0.1 %, of its values. Its counts are exact and don't
// depend on the order of the values. The zero value has none.
type sketch struct {
	count  int64
	sum    sum
	lo, hi int64
	counts [64 - sketchBits + 1]*[1 << sketchBits]int64
}

// sketchBits is the binary logarithm of the number of buckets of a power of two.
const sketchBits = 9

// add takes one span.
func (k *sketch) add(v int64) {
	if k.count == 0 {
		k.lo, k.hi = v, v
	}
	k.count++
	k.sum.add(uint64(v))
	k.lo, k.hi = min(k.lo, v), max(k.hi, v)
	octave, at := 0, int(v)
	if v >= 1<<sketchBits {
		octave = bits.Len64(uint64(v)) - sketchBits
		at = int(v>>(octave-1)) & (1<<sketchBits - 1)
	}
	c := k.counts[octave]
	if c == nil {
		c = new([1 << sketchBits]int64)
		k.counts[octave] = c
	}
	c[at]++
}

// merge adds the values of l.
func (k *sketch) merge(l *sketch) {
	if l.count == 0 {
		return
	}
	if k.count == 0 {
		k.lo, k.hi = l.lo, l.hi
	}
	k.count += l.count
	k.sum.addSum(l.sum, 1)
	k.lo, k.hi = min(k.lo, l.lo), max(k.hi, l.hi)
	for octave, c := range l.counts {
		if c == nil {
			continue
		}
		if k.counts[octave] == nil {
			k.counts[octave] = new([1 << sketchBits]int64)
		}
		for i, n := range c {
			k.counts[octave][i] += n
		}
	}
}

// at returns the middle of the bucket of the value at each of the ascending ranks,
// and how far the value may be from it.
func (k *sketch) at(ranks []int64) (mid, off []int64) {
	before, i := int64(0), 0
	for octave, c := range k.counts {
		if c == nil {
			continue
		}
		for at, n := range c {
			before += n
			for ; i < len(ranks) && ranks[i] < before; i++ {
				low, width := int64(at), int64(1)
				if octave > 0 {
					low, width = (1<<sketchBits+low)<<(octave-1), 1<<(octave-1)
				}
				mid, off = append(mid, low+(width-1)/2), append(off, width/2)
			}
		}
	}
	return mid, off
}

// sketched returns a sketch of each of groups of values.
func sketched(groups [][]int64) []sketch {
	list := make([]sketch, len(groups))
	for i, values := range groups {
		for _, v := range values {
			list[i].add(v)
		}
	}
	return list
}

// distribution describes the spans, with the percentiles ps in ascending order. The
// mean and the extremes are exact; there are no intervals.
func (k *sketch) distribution(ps []Percentile) Distribution {
	d := Distribution{OK: k.count > 0, Count: k.count}
	if !d.OK {
		return d
	}
	d.Mean, d.Min, d.Max = sim.Duration(k.sum.over(k.count)), sim.Duration(k.lo), sim.Duration(k.hi)
	d.quantiles(Linear, ps, 0, k.at)
	return d
}
