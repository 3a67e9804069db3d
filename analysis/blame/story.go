package blame

import (
	"cmp"
	"slices"

	"servesim/sim"
)

// Piece is a stretch of a request's life that was charged to one cause. Where a
// step is divided among causes, the pieces of it are in an order of convenience.
type Piece struct {
	Cause Cause
	Start sim.Time
	Lasts sim.Duration
}

// Cost is what the prompt of request ID cost another, under one cause.
type Cost struct {
	ID    int64
	Cause Cause
	Time  sim.Duration
}

// story is a life piece by piece.
type story struct {
	pieces []Piece
	costs  map[Cost]sim.Duration // by ID and cause
}

// piece appends a piece, or makes the latest longer.
func (s *story) piece(c Cause, at sim.Time, d sim.Duration) {
	if n := len(s.pieces); n > 0 && s.pieces[n-1].Cause == c {
		s.pieces[n-1].Lasts += d
		return
	}
	s.pieces = append(s.pieces, Piece{c, at, d})
}

// culprit counts what a prompt cost.
func (s *story) culprit(id int64, c Cause, d sim.Duration) {
	if d > 0 {
		s.costs[Cost{ID: id, Cause: c}] += d
	}
}

// Tell returns the life piece by piece, in order of time, and what the prompts of
// others cost it, the most costly first; together that is what the causes that
// name prompts were charged. It takes time proportional to the steps of the life,
// and can be called only by Options.Each.
func (l *Life) Tell() ([]Piece, []Cost) {
	s := &story{costs: map[Cost]sim.Duration{}}
	again := Life{Request: l.Request}
	y := &tally{t: l.timeline, r: l.Request, life: &again, tell: s}
	y.run()
	var costs []Cost
	for k, d := range s.costs {
		costs = append(costs, Cost{k.ID, k.Cause, d})
	}
	slices.SortFunc(costs, func(a, b Cost) int {
		return cmp.Or(cmp.Compare(b.Time, a.Time), cmp.Compare(a.ID, b.ID), cmp.Compare(a.Cause, b.Cause))
	})
	return s.pieces, costs
}
