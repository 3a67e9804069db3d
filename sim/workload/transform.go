package workload

import (
	"fmt"
	"io"
)

// The transforms of this package take a Source and return another. They
// compose; each reads its source as it is asked, numbers what it yields from
// 0, counts what it leaves out or changes, and closes its source when it is
// closed. A transform whose source was closed early must be closed itself.

// Counted is a Source that counts what it leaves out of its own source or
// changes in it. Every transform that does either is one.
type Counted interface {
	Source
	// Counts returns the counts so far, those of the source first.
	Counts() []Count
}

// CountsOf returns what the transforms that make src counted so far, in the
// order in which they work; nil if there are none.
func CountsOf(src Source) []Count {
	if c, ok := src.(Counted); ok {
		return c.Counts()
	}
	return nil
}

// CloseSource closes src if it can be closed, as a Trace and every transform can.
func CloseSource(src Source) error {
	if c, ok := src.(io.Closer); ok {
		return c.Close()
	}
	return nil
}

// stage is what the transforms of one source have in common.
type stage struct {
	src Source
	n   int64 // requests yielded
	end error // what Next returns from here on, once it is set
}

// Close closes the source.
func (s *stage) Close() error { return CloseSource(s.src) }

// read returns the next request of the source.
func (s *stage) read() (Request, error) {
	if s.end != nil {
		return Request{}, s.end
	}
	r, err := s.src.Next()
	if err != nil {
		s.end = err
	}
	return r, err
}

// yield numbers r.
func (s *stage) yield(r Request) (Request, error) {
	r.ID = s.n
	s.n++
	return r, nil
}

// TransformFault is a request that a transform cannot change as it was told to,
// because the result would be out of range. Next of Stretch, ScaleLengths and
// Merge return it as a *TransformFault.
type TransformFault struct {
	// Transform is the name of the transform.
	Transform string
	// Problem names the request, what it has and what is allowed.
	Problem string
}

// Error returns "transform: problem".
func (f *TransformFault) Error() string { return f.Transform + ": " + f.Problem }

// transformFault returns a *TransformFault.
func transformFault(transform, format string, args ...any) error {
	return &TransformFault{transform, fmt.Sprintf(format, args...)}
}

// openLoop returns ErrNoReactive if one of srcs is Reactive.
func openLoop(name string, srcs ...Source) error {
	for _, src := range srcs {
		if _, ok := src.(Reactive); ok {
			return fmt.Errorf("%s: %w", name, ErrNoReactive)
		}
	}
	return nil
}
