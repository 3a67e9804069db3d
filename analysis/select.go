package analysis

import (
	"math/bits"
	"slices"
)

const (
	// fanBits says that a pass of a selection splits its values into at most
	// 1<<fanBits buckets.
	fanBits = 11
	// sortBelow is the number of values that are sorted rather than split.
	sortBelow = 128
)

// selectRanks returns the values at the given ranks, counted from 0 and in
// ascending order, of the sorted sequence of all values of chunks. It counts
// values into buckets of equal width and goes on inside the buckets that hold a
// wanted rank, so it takes a few linear passes and never sorts everything.
func selectRanks(chunks [][]int64, ranks []int64) []int64 {
	out := make([]int64, len(ranks))
	pick(chunks, ranks, out)
	return out
}

// selectWithin is selectRanks of values from lo to hi.
func selectWithin(chunks [][]int64, lo, hi int64, ranks []int64) []int64 {
	out := make([]int64, len(ranks))
	pickWithin(chunks, lo, hi, ranks, out)
	return out
}

// pick writes the values at ranks to out.
func pick(chunks [][]int64, ranks, out []int64) {
	first, lo, hi := true, int64(0), int64(0)
	for _, c := range chunks {
		if len(c) == 0 {
			continue
		}
		a, b := extremes(c)
		if first {
			first, lo, hi = false, a, b
		}
		lo, hi = min(lo, a), max(hi, b)
	}
	pickWithin(chunks, lo, hi, ranks, out)
}

// pickWithin is pick of values from lo to hi.
func pickWithin(chunks [][]int64, lo, hi int64, ranks, out []int64) {
	n := 0
	for _, c := range chunks {
		n += len(c)
	}
	if n <= sortBelow {
		all := make([]int64, 0, n)
		for _, c := range chunks {
			all = append(all, c...)
		}
		slices.Sort(all)
		for i, r := range ranks {
			out[i] = all[r]
		}
		return
	}
	if lo == hi {
		for i := range out {
			out[i] = lo
		}
		return
	}
	shift := max(0, bits.Len64(uint64(hi)-uint64(lo))-fanBits)
	var counts [1 << fanBits]int64
	for _, c := range chunks {
		for _, v := range c {
			counts[(uint64(v)-uint64(lo))>>shift]++
		}
	}
	groups := groupRanks(counts[:], ranks)
	var member [1 << fanBits]uint16 // a bucket's group, from 1; 0 is none
	parts := make([][]int64, len(groups))
	for i, g := range groups {
		member[g.bucket] = uint16(i + 1)
		parts[i] = make([]int64, 0, counts[g.bucket])
	}
	for _, c := range chunks {
		for _, v := range c {
			if m := member[(uint64(v)-uint64(lo))>>shift]; m != 0 {
				parts[m-1] = append(parts[m-1], v)
			}
		}
	}
	for i, g := range groups {
		pick([][]int64{parts[i]}, g.ranks, out[g.at:g.at+len(g.ranks)])
	}
}

// extremes returns the smallest and the largest of v, which is not empty.
func extremes(v []int64) (lo, hi int64) {
	lo, hi = v[0], v[0]
	for _, x := range v[1:] {
		lo, hi = min(lo, x), max(hi, x)
	}
	return lo, hi
}

// A group is the wanted ranks that lie in one bucket.
type group struct {
	bucket int
	at     int     // the index of the first of them among all wanted ranks
	ranks  []int64 // relative to the first value of the bucket
}

// groupRanks distributes ascending ranks over the buckets that hold them.
func groupRanks(counts, ranks []int64) []group {
	var groups []group
	bucket, before := -1, int64(0) // before is the number of values up to and with bucket
	start := int64(0)
	for i, r := range ranks {
		for r >= before {
			bucket++
			start = before
			before += counts[bucket]
		}
		if len(groups) == 0 || groups[len(groups)-1].bucket != bucket {
			groups = append(groups, group{bucket: bucket, at: i})
		}
		g := &groups[len(groups)-1]
		g.ranks = append(g.ranks, r-start)
	}
	return groups
}
