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
	g.output = g.divided(width, func(cell int) int { return cell % width }, groupValues)
	if n := len(s.classes); n > 1 {
		g.class = g.divided(n, func(cell int) int { return cell / width }, groupValues)
	}
	g.cells, g.parted = nil, true
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

// divided returns the values of all in n samples, each in that of its cell, which
// keep up to limit values. The groups aren't parted yet.
func (g *grouped) divided(n int, of func(cell int) int, limit int64) []Sample {
	list := make([]Sample, n)
	for i := range list {
		list[i].limit = limit
	}
	var index [1 << 8]*Sample
	cells := g.cells
	for _, c := range append(g.all.full[:len(g.all.full):len(g.all.full)], g.all.cur[:g.all.n]) {
		for i, v := range c {
			s := index[cells[i]]
			if s == nil {
				s = &list[of(int(cells[i]))]
				index[cells[i]] = s
			}
			s.Add(sim.Duration(v))
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
