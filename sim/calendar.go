package sim

import "fmt"

// A Turn orders what happens at one instant: every Fact before any Choice. An
// arrival and the end of a step are facts; forming the next batch is a choice,
// and must see all the facts of its instant.
type Turn uint8

// The two turns of an instant, in order.
const (
	Fact Turn = iota
	Choice
)

// Calendar holds events of type E in the order of their time, then turn, then
// booking. The zero value is an empty calendar at instant 0. It is a heap of
// values, so booking allocates only when it grows.
type Calendar[E any] struct {
	heap []entry[E]
	now  Time
	seq  uint64
}

// entry is one booked event. order holds the turn in its top bit and the
// booking number below it.
type entry[E any] struct {
	at    Time
	order uint64
	event E
}

// Now returns the instant of the last event that Pop returned.
func (c *Calendar[E]) Now() Time { return c.now }

// Len returns the number of booked events.
func (c *Calendar[E]) Len() int { return len(c.heap) }

// Book books event for instant t. Events of one instant come in order of turn,
// then in the order they were booked. Book panics if t is before Now: a model
// that rewrites its past is a fault of the model, not of its input.
func (c *Calendar[E]) Book(t Time, turn Turn, event E) {
	if t < c.now {
		panic(fmt.Sprintf("sim: booking for %v, which is before now, %v", t, c.now))
	}
	c.seq++
	c.heap = append(c.heap, entry[E]{t, uint64(turn)<<63 | c.seq, event})
	c.up(len(c.heap) - 1)
}

// Next returns the instant of the first booked event; ok is false if there is
// none.
func (c *Calendar[E]) Next() (t Time, ok bool) {
	if len(c.heap) == 0 {
		return 0, false
	}
	return c.heap[0].at, true
}

// Peek returns the first booked event without removing it. It panics if the
// calendar is empty.
func (c *Calendar[E]) Peek() E { return c.heap[0].event }

// Pop removes the first booked event and moves Now to its instant. It panics
// if the calendar is empty.
func (c *Calendar[E]) Pop() E {
	top := c.removeFirst()
	c.now = top.at
	return top.event
}

// Discard removes the first booked event as if it had never been booked: Now
// stays. It panics if the calendar is empty.
func (c *Calendar[E]) Discard() { c.removeFirst() }

func (c *Calendar[E]) removeFirst() entry[E] {
	top := c.heap[0]
	last := len(c.heap) - 1
	c.heap[0] = c.heap[last]
	c.heap[last] = entry[E]{}
	c.heap = c.heap[:last]
	if last > 1 {
		c.down(0)
	}
	return top
}

// Run pops every event and hands it to do, until the calendar is empty or do
// returns an error, which Run returns with the instant at which it happened.
func (c *Calendar[E]) Run(do func(E) error) error {
	for len(c.heap) > 0 {
		if err := do(c.Pop()); err != nil {
			return fmt.Errorf("at %v: %w", c.now, err)
		}
	}
	return nil
}

// arity is the number of children of a heap node. Four fit a cache line or
// two and make the heap half as deep as two would.
const arity = 4

func (c *Calendar[E]) less(i, j int) bool {
	a, b := &c.heap[i], &c.heap[j]
	return a.at < b.at || a.at == b.at && a.order < b.order
}

func (c *Calendar[E]) up(i int) {
	for i > 0 {
		parent := (i - 1) / arity
		if !c.less(i, parent) {
			return
		}
		c.heap[i], c.heap[parent] = c.heap[parent], c.heap[i]
		i = parent
	}
}

func (c *Calendar[E]) down(i int) {
	for {
		least := i
		for child := arity*i + 1; child <= arity*i+arity && child < len(c.heap); child++ {
			if c.less(child, least) {
				least = child
			}
		}
		if least == i {
			return
		}
		c.heap[i], c.heap[least] = c.heap[least], c.heap[i]
		i = least
	}
}
