package analysis

import "math/bits"

// The log-linear histogram splits each power of two into 1<<subBits buckets of
// equal width, so that a bucket is at most 2^-12 of its values wide.
const (
	subBits = 12
	subs    = 1 << subBits
	octaves = 64 - subBits + 1
)

// histogram counts non-negative integers in log-linear buckets. Below 2·subs
// the buckets are one wide. An octave takes 32 KiB once it has a value.
type histogram struct {
	counts [octaves]*[subs]int64
}

// bucketOf returns the octave and the place in it of the bucket that holds v.
func bucketOf(v uint64) (octave, sub int) {
	if v < subs {
		return 0, int(v)
	}
	octave = bits.Len64(v) - subBits
	return octave, int(v>>(octave-1)) & (subs - 1)
}

// bucketRange returns the smallest value of a bucket and the number of values.
func bucketRange(octave, sub int) (low, width uint64) {
	if octave == 0 {
		return uint64(sub), 1
	}
	return (subs + uint64(sub)) << (octave - 1), 1 << (octave - 1)
}

// add counts v weight times.
func (h *histogram) add(v uint64, weight int64) {
	o, s := bucketOf(v)
	c := h.counts[o]
	if c == nil {
		c = new([subs]int64)
		h.counts[o] = c
	}
	c[s] += weight
}

// addRun counts each of n numbers v, v+inc, v+2·inc and so on weight times. A
// step shorter than a bucket is taken many at a time.
func (h *histogram) addRun(v, inc uint64, n, weight int64) {
	if inc == 0 {
		h.add(v, n*weight)
		return
	}
	for n > 0 {
		o, s := bucketOf(v)
		low, width := bucketRange(o, s)
		k := int64(1)
		if inc < width {
			k = min(n, int64((low+width-v+inc-1)/inc))
		}
		h.add(v, k*weight)
		v += uint64(k) * inc
		n -= k
	}
}

// addAll counts what other, which may be nil, has counted.
func (h *histogram) addAll(other *histogram) {
	if other == nil {
		return
	}
	for o, c := range other.counts {
		if c == nil {
			continue
		}
		if h.counts[o] == nil {
			h.counts[o] = new([subs]int64)
		}
		for s, k := range c {
			h.counts[o][s] += k
		}
	}
}

// each calls f for each bucket that has counted k > 0 values, in ascending order.
func (h *histogram) each(f func(low, width uint64, k int64)) {
	for o, c := range h.counts {
		if c == nil {
			continue
		}
		for s, k := range c {
			if k > 0 {
				low, width := bucketRange(o, s)
				f(low, width, k)
			}
		}
	}
}

// at returns the middle of the bucket of the value at each of the ascending
// ranks, and how far the value may be from it.
func (h *histogram) at(ranks []int64) (mid, off []int64) {
	before, i := int64(0), 0
	for o, c := range h.counts {
		if c == nil {
			continue
		}
		for s, k := range c {
			before += k
			for ; i < len(ranks) && ranks[i] < before; i++ {
				low, width := bucketRange(o, s)
				mid = append(mid, int64(low+(width-1)/2))
				off = append(off, int64(width/2))
			}
		}
	}
	return mid, off
}
