package analysis

import (
	"math/bits"
	"slices"

	"servesim/sim"
)

// A groupSelection finds the percentiles of every group of one metric in two passes
// over all of its values: one counts them into buckets of equal width, group by
// group, the other takes those of the buckets that hold a wanted rank.
type groupSelection struct {
	s     *groups
	g     *grouped
	group [1 << 8]uint8 // of each cell
	lo    int64
	shift int
	count []int64
	sum   []sum
	fan   [][1 << fanBits]int64
}

// selected describes the groups of g, in which each cell is of group of(cell), with
// the percentiles ps in ascending order and without intervals. They aren't parted yet.
func (s *groups) selected(g *grouped, n int, of func(cell int) int, ps []Percentile) []Distribution {
	all := g.all
	all.tally()
	q := groupSelection{
		s: s, g: g, lo: all.lo, shift: max(0, bits.Len64(uint64(all.hi)-uint64(all.lo))-fanBits),
		count: make([]int64, n), sum: make([]sum, n), fan: make([][1 << fanBits]int64, n),
	}
	for cell := range s.counts {
		q.group[cell] = uint8(of(cell))
		q.group[cell|noTPOT] = q.group[cell]
	}
	q.each(func(group uint8, bucket int, v int64) {
		q.count[group]++
		q.sum[group].add(uint64(v))
		q.fan[group][bucket]++
	})
	ranks := make([][]int64, n)
	for i, count := range q.count {
		ranks[i] = ranksOf(count, ps)
	}
	values := q.at(ranks)
	list := make([]Distribution, n)
	for i := range list {
		d := &list[i]
		if d.Count = q.count[i]; d.Count == 0 {
			continue
		}
		d.OK, d.Mean = true, sim.Duration(q.sum[i].over(d.Count))
		d.Min, d.Max = sim.Duration(values[i][0]), sim.Duration(values[i][len(values[i])-1])
		d.quantiles(Linear, ps, 0, func(wanted []int64) (at, off []int64) {
			for _, r := range wanted {
				k, _ := slices.BinarySearch(ranks[i], r)
				at = append(at, values[i][k])
			}
			return at, make([]int64, len(at))
		})
	}
	return list
}

// ranksOf returns, ascending, the ranks that decide ps among n values, and those of
// the extremes.
func ranksOf(n int64, ps []Percentile) []int64 {
	if n == 0 {
		return nil
	}
	ranks := []int64{0, n - 1}
	for _, p := range ps {
		lo, _ := Linear.Rank(p, n)
		ranks = append(ranks, lo, min(lo+1, n-1))
	}
	slices.Sort(ranks)
	return slices.Compact(ranks)
}

// at returns the values of each group at its ranks.
func (q *groupSelection) at(ranks [][]int64) [][]int64 {
	n := len(ranks)
	wanted := make([][]group, n)
	member := make([][1 << fanBits]uint16, n) // a bucket's place among those wanted, from 1
	parts := make([][][]int64, n)
	values := make([][]int64, n)
	for i := range ranks {
		values[i] = make([]int64, len(ranks[i]))
		wanted[i] = groupRanks(q.fan[i][:], ranks[i])
		for k, w := range wanted[i] {
			member[i][w.bucket] = uint16(k + 1)
			parts[i] = append(parts[i], make([]int64, 0, q.fan[i][w.bucket]))
		}
	}
	q.each(func(group uint8, bucket int, v int64) {
		if m := member[group][bucket]; m != 0 {
			p := &parts[group][m-1]
			*p = append(*p, v)
		}
	})
	for i, list := range wanted {
		for k, w := range list {
			pick([][]int64{parts[i][k]}, w.ranks, values[i][w.at:w.at+len(w.ranks)])
		}
	}
	return values
}

// each calls take for each value, with its group and its bucket.
func (q *groupSelection) each(take func(group uint8, bucket int, v int64)) {
	skip := q.s.skips(q.g)
	values := append(q.g.all.full[:len(q.g.all.full):len(q.g.all.full)], q.g.all.cur[:q.g.all.n])
	chunk, at := values[0], 0
	values = values[1:]
	for _, cells := range q.s.cells {
		for _, c := range cells {
			if c&skip != 0 {
				continue
			}
			for at == len(chunk) {
				chunk, values, at = values[0], values[1:], 0
			}
			v := chunk[at]
			at++
			take(q.group[c], int((uint64(v)-uint64(q.lo))>>q.shift), v)
		}
	}
}
