package workload

import (
	"errors"
	"fmt"
	"io"
	"math"
	"math/bits"
	"math/rand/v2"
	"slices"

	"servesim/sim"
)

// Opener opens a source anew, from its first request on, each time it is called.
type Opener func() (Source, error)

// Reopen returns an Opener of the trace at path. Standard input cannot be
// opened twice, so path must not be "-".
func Reopen(path string, opt Options) (Opener, error) {
	if path == "-" {
		return nil, &Fault{File: stdinName, Found: "a stream", Want: "a file, because it is read more than once",
			Fix: "write it to a file first"}
	}
	return func() (Source, error) { return Open(path, opt) }, nil
}

// maxCopies is the largest multiplier of Rate: each whole unit is an open file.
const maxCopies = 256

// Rate multiplies the rate of the source that open opens by multiplier, above 0
// and at most 256, and leaves its time span and its bursts as they are, where
// Stretch would change both.
//
// Below 1 it thins the source, as Thin does. Above 1 it lays shifted copies of
// the source over each other: the first as it is, every other one moved by a
// time drawn from the seed, with what then reaches beyond the end moved to the
// beginning; for the fraction of multiplier, the last copy is thinned. The
// copies are different users, as those of Merge are.
//
// The source must end, and is opened once to measure it and twice for each
// copy, so that memory does not grow with it. The error says that multiplier
// is out of range, is that of open or of reading, or wraps ErrNoReactive.
func Rate(open Opener, multiplier float64, seed sim.Seed) (Source, error) {
	if !(multiplier > 0 && multiplier <= maxCopies) {
		return nil, fmt.Errorf("rate: found the multiplier %v, want more than 0 and at most %d", multiplier, maxCopies)
	}
	if multiplier <= 1 {
		src, err := open()
		if err != nil {
			return nil, err
		}
		thinned, err := Thin(src, multiplier, seed)
		if err != nil {
			return nil, errors.Join(err, CloseSource(src))
		}
		return thinned, nil
	}
	turn, err := measure(open)
	if err != nil {
		return nil, err
	}
	shifts := seed.Stream("workload/rate")
	whole, fraction := math.Modf(multiplier)
	var copies []Source
	for i := range int(whole) {
		what := "rate: requests as they are"
		if i > 0 {
			what = "rate: requests of whole copies, each shifted by a time of its own, its end moved to the beginning"
		}
		copies = append(copies, &told{stage{src: turn.copy(open, shifts, i)}, what})
	}
	if fraction > 0 {
		last := turn.copy(open, shifts, len(copies))
		copies = append(copies, &chosen{stage: stage{src: last}, coin: newCoin(fraction, seed.Family("workload/thin")),
			name: fmt.Sprintf("rate: a shifted copy thinned to %g", fraction)})
	}
	all, err := Merge(copies...)
	return &superposed{stage{src: all}, turn.counts}, err
}

// told counts the requests of a copy.
type told struct {
	stage
	what string
}

// Next implements Source. It keeps the numbers.
func (t *told) Next() (Request, error) {
	r, err := t.read()
	if err == nil {
		t.n++
	}
	return r, err
}

// Counts implements Counted.
func (t *told) Counts() []Count { return append(CountsOf(t.src), Count{t.what, t.n}) }

// superposed is the copies of a source laid over each other, and what the
// transforms of the source counted when it was measured.
type superposed struct {
	stage
	before []Count
}

// Next implements Source.
func (s *superposed) Next() (Request, error) { return s.read() }

// Counts implements Counted.
func (s *superposed) Counts() []Count { return append(slices.Clone(s.before), CountsOf(s.src)...) }

// circle is the time of a source that is laid over itself: it begins at first,
// and after period it comes round.
type circle struct {
	first  sim.Time
	period sim.Duration
	counts []Count // of the source
}

// measure reads the source that open opens to its end. Its period is its span
// and one mean gap more, with which it could be repeated at its mean rate.
func measure(open Opener) (c circle, err error) {
	src, err := open()
	if err != nil {
		return circle{}, err
	}
	defer CloseSource(src)
	if err := openLoop("rate", src); err != nil {
		return circle{}, err
	}
	var last sim.Time
	n := int64(0)
	for ; ; n++ {
		r, err := src.Next()
		if err == io.EOF {
			break
		}
		if err != nil {
			return circle{}, err
		}
		if n == 0 {
			c.first = r.Arrival
		}
		last = r.Arrival
	}
	c.counts = CountsOf(src)
	if n < 2 {
		return c, nil
	}
	span := last.Sub(c.first)
	gap := span / sim.Duration(n-1)
	if span > sim.MaxDuration-gap-sim.Duration(c.first) {
		return circle{}, fmt.Errorf("rate: the source lasts %v, want at most half of the 106 days that a run can last", span)
	}
	c.period = span + gap
	return c, nil
}

// copy returns the source that open opens, moved round c: copy 0 not at all,
// every other one by a time drawn from shifts.
func (c circle) copy(open Opener, shifts *rand.PCG, i int) Source {
	t := &rotated{open: open, circle: c}
	if i > 0 && c.period > 0 {
		draw, _ := bits.Mul64(shifts.Uint64(), uint64(c.period))
		t.shift = sim.Duration(draw)
	}
	t.again = t.shift == 0
	return t
}

// rotated is a source moved round a circle. It reads the source twice: first
// what the shift moves beyond the end and so to the beginning, then the rest.
// It keeps the numbers of the source, which are in order in neither part.
type rotated struct {
	circle
	open  Opener
	shift sim.Duration
	src   Source // being read, or nil
	again bool   // the first reading is over, or there is nothing to move
	end   error
}

// Next implements Source but for the numbers.
func (t *rotated) Next() (Request, error) {
	for t.end == nil {
		if t.src == nil {
			if t.src, t.end = t.open(); t.end != nil {
				break
			}
		}
		r, err := t.src.Next()
		past := err == nil && t.shift > 0 && r.Arrival.Sub(t.first) >= t.period-t.shift
		switch {
		case err == nil && past && !t.again:
			r.Arrival = r.Arrival.Add(t.shift - t.period)
			return r, nil
		case err == nil && !past && t.again:
			r.Arrival = r.Arrival.Add(t.shift)
			return r, nil
		case err == nil && !past:
			continue
		}
		t.turn(err)
	}
	return Request{}, t.end
}

// turn ends a reading, because of err or, if that is nil, because what follows
// was read the first time.
func (t *rotated) turn(err error) {
	closed := t.Close()
	switch {
	case err != nil && err != io.EOF:
		t.end = err
	case closed != nil:
		t.end = closed
	case t.again:
		t.end = io.EOF
	}
	t.again = true
}

// Close closes the source.
func (t *rotated) Close() error {
	if t.src == nil {
		return nil
	}
	src := t.src
	t.src = nil
	return CloseSource(src)
}
