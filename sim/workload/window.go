package workload

import (
	"fmt"
	"io"

	"servesim/sim"
)

// Window yields the requests of src that arrive from the instant from on and
// before the instant to, 0 ≤ from < to, and moves from to 0: a request that
// arrives 5 s into the window arrives at 5 s. It reads no further than the first
// request after the window. The error says that the instants are out of
// order or wraps ErrNoReactive.
func Window(src Source, from, to sim.Time) (Source, error) {
	if from < 0 || from >= to {
		return nil, fmt.Errorf("window: found %v to %v, want an end after a begin of 0s or later", from, to)
	}
	if err := openLoop("window", src); err != nil {
		return nil, err
	}
	return &window{stage: stage{src: src}, from: from, to: to}, nil
}

type window struct {
	stage
	from, to sim.Time
	before   int64
	after    int64
}

// Next implements Source.
func (w *window) Next() (Request, error) {
	for {
		r, err := w.read()
		switch {
		case err != nil:
			return r, err
		case r.Arrival < w.from:
			w.before++
			continue
		case r.Arrival >= w.to:
			w.after++
			w.end = io.EOF
			return Request{}, io.EOF
		}
		r.Arrival -= w.from
		return w.yield(r)
	}
}

// Counts implements Counted.
func (w *window) Counts() []Count {
	return append(CountsOf(w.src), Count{"window: requests kept", w.n}, Count{"window: requests before it", w.before},
		Count{"window: requests read after it, where reading stops", w.after})
}
