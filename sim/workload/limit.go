package workload

import (
	"fmt"
	"io"
)

// Limit yields the first n requests of src, n of 1 or more, and reads no
// further. The error says that n is out of range or wraps ErrNoReactive.
func Limit(src Source, n int64) (Source, error) {
	if n < 1 {
		return nil, fmt.Errorf("limit: found %d, want 1 or more", n)
	}
	if err := openLoop("limit", src); err != nil {
		return nil, err
	}
	return &limit{stage{src: src}, n}, nil
}

type limit struct {
	stage
	most int64
}

// Next implements Source.
func (l *limit) Next() (Request, error) {
	if l.n == l.most {
		return Request{}, io.EOF
	}
	r, err := l.read()
	if err != nil {
		return r, err
	}
	return l.yield(r)
}

// Counts implements Counted.
func (l *limit) Counts() []Count {
	return append(CountsOf(l.src), Count{fmt.Sprintf("limit: requests kept, of at most %d", l.most), l.n})
}
