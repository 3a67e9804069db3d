package engine

import (
	"sort"

	"servesim/sim/observe"
)

// serials tells which steps of the engine the steps of the decoding group were.
// Those in a row share an entry: group step at+1 was the engine's step serial,
// at+2 the one after, up to the next entry's at.
type serials struct {
	at     []int64 // group steps done, increasing
	serial []int64
}

// push records that the group step after at is the engine's step serial.
func (s *serials) push(at, serial int64) {
	if n := len(s.at); n > 0 && serial-s.serial[n-1] == at-s.at[n-1] {
		return
	}
	s.at, s.serial = append(s.at, at), append(s.serial, serial)
}

// find returns the entry of the group step after at, which has been made.
func (s *serials) find(at int64) int {
	return sort.Search(len(s.at), func(i int) bool { return s.at[i] > at }) - 1
}

// forget drops the entries that no group step after at needs.
func (s *serials) forget(at int64) {
	if i := s.find(at); i > 0 {
		s.at, s.serial = append(s.at[:0], s.at[i:]...), append(s.serial[:0], s.serial[i:]...)
	}
}

// credit gives l a token of each group step after from, up to to.
func (e *engine) credit(l *live, from, to int64) {
	if from == to {
		return
	}
	s := &e.group.serials
	for i := s.find(from); from < to; i++ {
		end := to
		if i+1 < len(s.at) {
			end = min(end, s.at[i+1])
		}
		e.make(l, s.serial[i]+from-s.at[i], end-from)
		from = end
	}
}

// make gives l a token of each of steps steps from serial on.
func (p *pool) make(l *live, serial, steps int64) {
	if l.made.Steps > 0 && l.made.Step+l.made.Steps == serial {
		l.made.Steps += steps
		return
	}
	p.file(l)
	l.made = observe.Span{Step: serial, Steps: steps}
}

// file moves the latest span of l to the others, in a slice that is used again.
func (p *pool) file(l *live) {
	if l.made.Steps == 0 {
		return
	}
	if n := len(p.spans); l.rec.Made == nil && n > 0 {
		l.rec.Made, p.spans = p.spans[n-1], p.spans[:n-1]
	}
	l.rec.Made = append(l.rec.Made, l.made)
	l.made = observe.Span{}
}

// send hands the record of l to the sink.
func (p *pool) send(l *live) error {
	p.file(l)
	err := p.cfg.Sink.Request(&l.rec)
	if l.rec.Made != nil {
		p.spans = append(p.spans, l.rec.Made[:0])
		l.rec.Made = nil
	}
	return err
}
