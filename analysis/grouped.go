package analysis

import (
	"slices"

	"servesim/sim"
)

// grouped is the values of one metric, all of them and those of each group. As long
// as all are kept, the cell of each is kept beside it and the groups are made when
// they are asked for; then the groups have samples of their own. Both keep values
// in the order of the run, on which intervals rest.
type grouped struct {
	all           Sample
	cells         []uint8  // of each value of all, until the groups are parted
	parted        bool     // whether they are
	output, class []Sample // their values if so; class is nil if there is one only
}

// add takes a value of a request that s took last.
func (g *grouped) add(s *groups, d sim.Duration) {
	if !g.parted {
		if len(g.cells) < s.limit {
			g.cells = append(g.cells, uint8(s.cell))
			g.all.Add(d)
			return
		}
		g.part(s)
	}
	g.all.Add(d)
	g.output[s.cell%s.width()].Add(d)
	if g.class != nil {
		g.class[s.cell/s.width()].Add(d)
	}
}

// part gives the groups samples of their own.
func (g *grouped) part(s *groups) {
	width := s.width()
	g.output = own(g.divided(width, func(cell int) int { return cell % width }, nil))
	if n := len(s.classes); n > 1 {
		g.class = own(g.divided(n, func(cell int) int { return cell / width }, nil))
	}
	g.cells, g.parted = nil, true
}

// own returns samples of these groups of values that go on by themselves.
func own(groups [][]int64) []Sample {
	list := make([]Sample, len(groups))
	for i, values := range groups {
		list[i].limit = groupValues
		for _, v := range values {
			list[i].Add(sim.Duration(v))
		}
	}
	return list
}

// anotherClass makes room for class number at, the first being 0.
func (g *grouped) anotherClass(at int) {
	switch {
	case !g.parted || at == 0:
	case at == 1: // all were of class 0
		g.class = []Sample{g.all.clone(), {limit: groupValues}}
	default:
		g.class = append(g.class, Sample{limit: groupValues})
	}
}

// divided returns the values of all in n groups, each in that of its cell, in their
// order. They lie in room if that has it. The groups aren't parted yet.
func (g *grouped) divided(n int, of func(cell int) int, room []int64) [][]int64 {
	var size [1 << 8]int // of each cell
	for _, c := range g.cells {
		size[c]++
	}
	list, total := make([][]int64, n), make([]int, n)
	var group [1 << 8]uint8 // of each cell
	for c, k := range size {
		if k > 0 {
			group[c] = uint8(of(c))
			total[group[c]] += k
		}
	}
	if room = room[:cap(room)]; len(room) < len(g.cells) {
		room = make([]int64, len(g.cells))
	}
	for i, k := range total {
		list[i], room = room[:0:k], room[k:]
	}
	cells := g.cells
	for _, c := range append(g.all.full[:len(g.all.full):len(g.all.full)], g.all.cur[:g.all.n]) {
		for i, v := range c {
			to := &list[group[cells[i]]]
			*to = append(*to, v)
		}
		cells = cells[len(c):]
	}
	return list
}

// clone returns a Sample of the same spans that goes its own way.
func (s *Sample) clone() Sample {
	t := *s
	t.cur = slices.Clone(s.cur)
	t.full = slices.Clone(s.full) // what is full doesn't change
	if s.hist != nil {
		t.hist, t.watch = s.hist.clone(), s.watch.clone()
	}
	return t
}

// clone returns a histogram of the same counts.
func (h *histogram) clone() *histogram {
	c := new(histogram)
	for o, counts := range h.counts {
		if counts != nil {
			own := *counts
			c.counts[o] = &own
		}
	}
	return c
}

// clone returns the same stretches.
func (s *stretches) clone() *stretches {
	c := *s
	c.cells = slices.Clone(s.cells)
	for i := range c.cells {
		c.cells[i].less, c.cells[i].equal = slices.Clone(c.cells[i].less), slices.Clone(c.cells[i].equal)
	}
	return &c
}
