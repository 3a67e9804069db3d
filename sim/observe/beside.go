package observe

// Beside is a Sink that hands copies of the records to another in a goroutine of its
// own, in the order in which it gets them, so that a run and what is made of its
// records take two processors. What the other says is the same as without. Its
// errors come some records later, at the latest from Close.
type Beside struct {
	to         Sink
	now        *batch
	full, free chan *batch
	err        error // of to, once it was told
}

// batches is the number of batches of records that are there at a time, and
// batchRecords that of records in each.
const (
	batches      = 3
	batchRecords = 512
)

// batch is copies of some records, in order.
type batch struct {
	requests []Request
	ahead    []int // by request, the number of steps of the batch that came before it
	steps    []StepRun
	err      error // of the sink

	// What the records have slices of.
	attempts []Attempt
	made     []Span
	lost     []int64
	chunks   []Chunk
	gaps     []Gaps
}

// NewBeside returns a Beside that hands records to a sink, which nobody else may use
// until Close. Close must be called.
func NewBeside(to Sink) *Beside {
	b := &Beside{to: to, now: new(batch), full: make(chan *batch, batches), free: make(chan *batch, batches)}
	for range batches - 1 {
		b.free <- new(batch)
	}
	go b.work()
	return b
}

// work hands batches to the sink, up to its first error.
func (b *Beside) work() {
	var err error
	for next := range b.full {
		if err == nil {
			err = next.replay(b.to)
		}
		next.err = err
		b.free <- next
	}
	close(b.free)
}

// replay hands the records of b to a sink.
func (b *batch) replay(to Sink) error {
	at := 0
	for i := range b.requests {
		for ; at < b.ahead[i]; at++ {
			if err := to.Step(&b.steps[at]); err != nil {
				return err
			}
		}
		if err := to.Request(&b.requests[i]); err != nil {
			return err
		}
	}
	for ; at < len(b.steps); at++ {
		if err := to.Step(&b.steps[at]); err != nil {
			return err
		}
	}
	return nil
}

// Request implements Sink.
func (b *Beside) Request(r *Request) error {
	n := b.now
	n.requests, n.ahead = append(n.requests, *r), append(n.ahead, len(n.steps))
	c := &n.requests[len(n.requests)-1]
	n.attempts, c.Attempts = keep(n.attempts, r.Attempts)
	n.made, c.Made = keep(n.made, r.Made)
	n.lost, c.Lost = keep(n.lost, r.Lost)
	return b.pass()
}

// Step implements Sink.
func (b *Beside) Step(r *StepRun) error {
	n := b.now
	n.steps = append(n.steps, *r)
	c := &n.steps[len(n.steps)-1]
	n.chunks, c.Chunks = keep(n.chunks, r.Chunks)
	n.gaps, c.Gaps = keep(n.gaps, r.Gaps)
	return b.pass()
}

// keep appends a copy of s to all, and returns both.
func keep[T any](all, s []T) (grown, kept []T) {
	if len(s) == 0 {
		return all, nil
	}
	n := len(all)
	all = append(all, s...)
	return all, all[n:len(all):len(all)]
}

// pass hands the batch on if it is full, and returns the sink's error if one has come.
func (b *Beside) pass() error {
	if n := b.now; b.err != nil || len(n.requests)+len(n.steps) < batchRecords {
		return b.err
	}
	b.full <- b.now
	b.now = <-b.free
	b.err = b.now.err
	b.now.clear()
	return b.err
}

// clear makes b empty.
func (b *batch) clear() {
	b.requests, b.ahead, b.steps = b.requests[:0], b.ahead[:0], b.steps[:0]
	b.attempts, b.made, b.lost, b.chunks, b.gaps = b.attempts[:0], b.made[:0], b.lost[:0], b.chunks[:0], b.gaps[:0]
}

// Close hands on what is left and waits until the sink has had it. The error is the
// sink's, unless Request or Step has returned that. Nothing may be added after.
func (b *Beside) Close() error {
	told := b.err != nil
	b.full <- b.now
	close(b.full)
	for last := range b.free {
		b.err = last.err
	}
	if told {
		return nil
	}
	return b.err
}
