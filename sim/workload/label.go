package workload

import "servesim/sim"

// Label gives every request of src the class. src may be Reactive; the result
// then is too.
func Label(src Source, class string) Source {
	l := label{stage{src: src}, class}
	if src, ok := src.(Reactive); ok {
		return &reactiveLabel{l, src}
	}
	return &l
}

type label struct {
	stage
	class string
}

// Next implements Source.
func (l *label) Next() (Request, error) {
	r, err := l.read()
	if err == nil {
		r.Class = l.class
	}
	return r, err
}

// Counts implements Counted.
func (l *label) Counts() []Count { return CountsOf(l.src) }

type reactiveLabel struct {
	label
	src Reactive
}

// Done implements Reactive.
func (l *reactiveLabel) Done(id int64, t sim.Time) (Request, bool) {
	r, ok := l.src.Done(id, t)
	r.Class = l.class
	return r, ok
}
