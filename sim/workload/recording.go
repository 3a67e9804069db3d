package workload

import (
	"io"
	"slices"
)

// A Recording is a trace that was read whole, to be replayed again and again. It may
// be replayed by several goroutines at once.
type Recording struct {
	requests []Request
	report   Report
}

// blocksOfRequest is the number of prefix hashes that take as much memory as a
// request without any.
const blocksOfRequest = 16

// ReadWhole reads what is left of t. It returns nil, and t is of no further use, if
// that takes the memory of more than most requests without prefix hashes.
func ReadWhole(t *Trace, most int) (*Recording, error) {
	var r Recording
	size := 0
	for {
		q, err := t.Next()
		if err == io.EOF {
			r.requests, r.report = slices.Clip(r.requests), t.Report()
			return &r, nil
		}
		if err != nil {
			return nil, err
		}
		if size += 1 + len(q.Blocks)/blocksOfRequest; size > most {
			return nil, nil
		}
		q.Blocks = slices.Clone(q.Blocks)
		r.requests = append(r.requests, q)
	}
}

// Report says what the trace had, all of it.
func (r *Recording) Report() Report {
	c := r.report
	c.Dropped, c.Ignored, c.Notes = slices.Clone(c.Dropped), slices.Clone(c.Ignored), slices.Clone(c.Notes)
	return c
}

// Replay returns a source of the requests of the trace, as it yielded them.
func (r *Recording) Replay() Source { return &replay{left: r.requests} }

// replay is the source of Replay.
type replay struct{ left []Request }

// Next implements Source.
func (r *replay) Next() (Request, error) {
	if len(r.left) == 0 {
		return Request{}, io.EOF
	}
	q := r.left[0]
	r.left = r.left[1:]
	return q, nil
}
