package analysis

import "servesim/sim"

// keep keeps the cell of a completed request, with or without TPOT.
func (s *groups) keep(tpot bool) {
	if s.kept%chunkCells == 0 {
		s.cells = append(s.cells, make([]uint8, 0, chunkCells))
	}
	c := uint8(s.cell)
	if !tpot {
		c |= noTPOT
	}
	last := &s.cells[len(s.cells)-1]
	*last = append(*last, c)
	s.kept++
}

// add takes a value of g of the request that s took last. The groups are parted.
func (s *groups) add(g *grouped, d sim.Duration) {
	g.all.Add(d)
	if len(g.pending) == cap(g.pending) {
		s.settle(g)
	}
	g.pending = append(g.pending, int64(d))
	g.cells = append(g.cells, uint8(s.cell))
}

// settle gives what is pending of g to the groups. Many at a time find the
// histograms in the processor's caches.
func (s *groups) settle(g *grouped) {
	width := s.width()
	for i, c := range g.cells {
		g.output[int(c)%width].add(g.pending[i])
	}
	if g.class != nil {
		for i, c := range g.cells {
			g.class[int(c)/width].add(g.pending[i])
		}
	}
	g.pending, g.cells = g.pending[:0], g.cells[:0]
}

// part gives each group a sketch of its own.
func (s *groups) part() {
	width := s.width()
	for _, g := range s.metrics() {
		g.output = sketched(s.divided(g, width, func(cell int) int { return cell % width }, nil))
		if n := len(s.classes); n > 1 {
			g.class = sketched(s.divided(g, n, func(cell int) int { return cell / width }, nil))
		}
		g.pending, g.cells = make([]int64, 0, chunkValues), make([]uint8, 0, chunkValues)
	}
	s.cells, s.parted = nil, true
}

// anotherClass makes room for class number at of parted groups, the first being 0.
func (s *groups) anotherClass(at int) {
	for _, g := range s.metrics() {
		s.settle(g)
		if at == 1 { // all were of class 0
			g.class = make([]sketch, 1)
			for i := range g.output {
				g.class[0].merge(&g.output[i])
			}
		}
		g.class = append(g.class, sketch{})
	}
}

// skips returns the mark of cells of requests that have no value of g.
func (s *groups) skips(g *grouped) uint8 {
	if g == &s.tpot || g == &s.maxGap {
		return noTPOT
	}
	return 0
}

// divided returns the values of all of g in n groups, each in that of its cell, in
// their order. They lie in room if that has it. The groups aren't parted yet.
func (s *groups) divided(g *grouped, n int, of func(cell int) int, room []int64) [][]int64 {
	skip := s.skips(g)
	var size [1 << 8]int // of each cell
	for _, cells := range s.cells {
		for _, c := range cells {
			size[c]++
		}
	}
	list, total := make([][]int64, n), make([]int, n)
	var group [1 << 8]uint8 // of each cell
	for c, k := range size {
		if k > 0 {
			group[c] = uint8(of(c &^ noTPOT))
			total[group[c]] += k
		}
	}
	if len(room) < s.kept {
		room = make([]int64, s.kept)
	}
	for i, k := range total {
		list[i], room = room[:0:k], room[k:]
	}
	values := append(g.all.full[:len(g.all.full):len(g.all.full)], g.all.cur[:g.all.n])
	chunk, at := values[0], 0
	values = values[1:]
	for _, cells := range s.cells {
		for _, c := range cells {
			if c&skip != 0 {
				continue
			}
			for at == len(chunk) {
				chunk, values, at = values[0], values[1:], 0
			}
			to := &list[group[c]]
			*to = append(*to, chunk[at])
			at++
		}
	}
	return list
}
