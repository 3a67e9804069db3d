package figure

import "servesim/sim"

const (
	// finest is the width of the cells that a grid begins with.
	finest = sim.Millisecond
	// mostCells is the most cells of a grid.
	mostCells = 2048
)

// A grid is what happened in equal cells of time from the beginning of a run on. As the
// run goes on cells become wider, by twos: join then adds what happened in b, the
// second of two, to a. width is that of the two before.
type grid[T any] struct {
	width sim.Duration
	cells []T
	join  func(a, b *T, width sim.Duration)
}

// newGrid returns a grid without cells.
func newGrid[T any](join func(a, b *T, width sim.Duration)) grid[T] {
	return grid[T]{width: finest, join: join}
}

// at returns the cell that holds instant t, which isn't negative.
func (g *grid[T]) at(t sim.Time) *T {
	for t/sim.Time(g.width) >= mostCells {
		g.widen()
	}
	i := int(t / sim.Time(g.width))
	for i >= len(g.cells) {
		var none T
		g.cells = append(g.cells, none)
	}
	return &g.cells[i]
}

// widen makes each two cells one.
func (g *grid[T]) widen() {
	n := (len(g.cells) + 1) / 2
	for i := range n {
		a := g.cells[2*i]
		if 2*i+1 < len(g.cells) {
			g.join(&a, &g.cells[2*i+1], g.width)
		} else {
			var none T
			g.join(&a, &none, g.width)
		}
		g.cells[i] = a
	}
	clear(g.cells[n:])
	g.cells = g.cells[:n]
	g.width *= 2
}

// start returns when cell i begins.
func (g *grid[T]) start(i int) sim.Time { return sim.Time(i) * sim.Time(g.width) }

// middle returns the middle of cell i in seconds.
func (g *grid[T]) middle(i int) float64 { return g.start(i).Add(g.width / 2).Seconds() }

// within returns how far t is into its cell.
func (g *grid[T]) within(t sim.Time) sim.Duration { return sim.Duration(t % sim.Time(g.width)) }

// A change is how much a level rose in a cell, and the sum of each rise times how far
// into the cell it came, in microseconds. Whole numbers, so that the order in which
// changes come, as from several replicas, doesn't matter.
type change struct{ rise, late int64 }

// A level is a quantity that holds its value until it changes.
type level struct{ grid[change] }

// newLevel returns a level of 0.
func newLevel() level {
	return level{newGrid(func(a, b *change, width sim.Duration) {
		a.late += b.late + b.rise*int64(width/sim.Microsecond)
		a.rise += b.rise
	})}
}

// hold adds n to the level from one instant to another.
func (l *level) hold(from, to sim.Time, n int64) {
	if to <= from || n == 0 {
		return
	}
	l.add(from, n)
	l.add(to, -n)
}

// add makes the level higher by n from t on.
func (l *level) add(t sim.Time, n int64) {
	c := l.at(t)
	c.rise += n
	c.late += n * int64(l.within(t)/sim.Microsecond)
}

// means returns the mean of the level in each cell, at the middles of cells in seconds.
func (l *level) means() (x, y []float64) {
	width := int64(l.width / sim.Microsecond)
	now := int64(0)
	for i, c := range l.cells {
		area := float64(now+c.rise) - float64(c.late)/float64(width)
		x = append(x, l.middle(i))
		y = append(y, area)
		now += c.rise
	}
	return x, y
}
