package workload

import (
	"fmt"
	"io"
	"slices"

	"servesim/internal/exact"
	"servesim/internal/infile"
	"servesim/sim"
)

// Trace is a Source that reads a file. Open and Read make one.
type Trace struct {
	lines  lineReader
	rows   rowReader
	names  rowFields
	opt    Options
	closer func() error
	offset func() int64 // bytes taken from the file
	size   int64        // bytes of the file, 0 if nobody knows
	report Report

	row    row
	begun  bool
	origin exact.Instant // of the first kept request
	last   exact.Instant // of the row before
	lastAt struct {
		line int64
		text []byte
	}
	sorted []timed // what is left of a sorted trace
	end    error   // what Next returns from here on
}

// timed is a request and its place on the trace's clock.
type timed struct {
	Request
	at exact.Instant
}

// Next implements Source. The first request that is kept arrives at 0.
// Errors other than io.EOF are *Fault.
func (t *Trace) Next() (Request, error) {
	if t.end != nil {
		return Request{}, t.end
	}
	if t.opt.Sort {
		return t.nextSorted()
	}
	for {
		keep, err := t.read()
		if err != nil {
			return t.stop(err)
		}
		if err := t.inOrder(); err != nil {
			return t.stop(err)
		}
		if !keep {
			continue
		}
		r := t.row.Request
		if err := t.place(&r, t.row.at); err != nil {
			return t.stop(err)
		}
		return r, nil
	}
}

// read reads a row and tells whether it makes a request.
func (t *Trace) read() (keep bool, err error) {
	t.row.drop = ""
	if err := t.rows.next(&t.row); err != nil {
		return false, err
	}
	t.report.Rows++
	if t.lines.line > 0 { // otherwise the rows know their lines themselves
		t.row.Line = t.lines.line
	}
	if t.row.drop == "" && (t.row.Prompt == 0 || t.row.Output == 0) {
		if err := t.zero(); err != nil {
			return false, err
		}
	}
	if t.row.drop != "" {
		t.report.Dropped = addCount(t.report.Dropped, t.row.drop, 1)
		return false, nil
	}
	return true, nil
}

// zero applies the rule for a row without prompt or output tokens.
func (t *Trace) zero() error {
	field := t.names.output
	if t.row.Prompt == 0 {
		field = t.names.prompt
	}
	switch t.opt.ZeroTokens {
	case ZeroDrop:
		t.row.drop = "0 " + field
	case ZeroOne:
		for _, n := range []*int32{&t.row.Prompt, &t.row.Output} {
			if *n == 0 {
				*n = 1
				t.report.Raised++
			}
		}
	default:
		return t.lines.fault(field, "0", wantTokens,
			"--set zero_tokens=drop leaves such rows out, --set zero_tokens=one raises the 0 to 1; both are counted")
	}
	return nil
}

// inOrder checks that the row is not earlier than the one before it.
func (t *Trace) inOrder() error {
	if t.report.Rows > 1 && t.row.at.Before(t.last) {
		return t.lines.fault(t.names.arrival, infile.Quote(t.row.text),
			fmt.Sprintf("a time not before %s of line %d", infile.Quote(t.lastAt.text), t.lastAt.line),
			"--set sort=true puts the rows in order and counts them")
	}
	t.last = t.row.at
	t.lastAt.line = t.row.Line
	t.lastAt.text = append(t.lastAt.text[:0], t.row.text...)
	return nil
}

// place gives r, which is read from instant at, its arrival and number.
func (t *Trace) place(r *Request, at exact.Instant) error {
	if !t.begun {
		t.begun, t.origin = true, at
	}
	d, ok := at.Since(t.origin)
	if !ok {
		return &Fault{File: t.lines.file, Line: r.Line, Field: t.names.arrival,
			Found: "a time more than 106 days after the first", Want: "a trace that is shorter", Fix: "cut it into parts"}
	}
	r.Arrival = sim.Time(d)
	r.ID = t.report.Kept
	if t.report.Kept > 0 && d == t.report.Span {
		t.report.Ties++
	}
	t.report.Kept++
	t.report.Span = d
	t.report.PromptTokens += int64(r.Prompt)
	t.report.OutputTokens += int64(r.Output)
	if r.Blocks != nil {
		t.report.Hashed++
	}
	return nil
}

// stop ends the trace with err, or with the fault that it had no request.
func (t *Trace) stop(err error) (Request, error) {
	if err == io.EOF && t.report.Kept == 0 {
		err = t.nothing()
	}
	t.end = err
	return Request{}, err
}

// nothing is the fault of a trace without a request.
func (t *Trace) nothing() error {
	f := &Fault{File: t.lines.file, Found: "a header and no rows", Want: "at least one request"}
	if t.report.Rows > 0 {
		f.Found = fmt.Sprintf("no request: %d read", t.report.Rows)
		for _, c := range t.report.Dropped {
			f.Found += fmt.Sprintf(", %d dropped (%s)", c.N, c.What)
		}
	}
	return f
}

// nextSorted returns the next request of a trace that is sorted first.
func (t *Trace) nextSorted() (Request, error) {
	if !t.begun {
		if err := t.sort(); err != nil {
			return t.stop(err)
		}
	}
	if len(t.sorted) == 0 {
		return t.stop(io.EOF)
	}
	r := t.sorted[0].Request
	if err := t.place(&r, t.sorted[0].at); err != nil {
		return t.stop(err)
	}
	t.sorted = t.sorted[1:]
	return r, nil
}

// sort reads the whole trace and sorts it.
func (t *Trace) sort() error {
	latest := exact.Instant{}
	for {
		keep, err := t.read()
		if err == io.EOF {
			break
		}
		if err != nil {
			return err
		}
		if t.report.Rows > 1 && t.row.at.Before(latest) {
			t.report.OutOfOrder++
		} else {
			latest = t.row.at
		}
		if keep {
			r := t.row.Request
			r.Blocks = slices.Clone(r.Blocks)
			t.sorted = append(t.sorted, timed{r, t.row.at})
		}
	}
	slices.SortStableFunc(t.sorted, func(a, b timed) int {
		switch {
		case a.at.Before(b.at):
			return -1
		case b.at.Before(a.at):
			return 1
		}
		return 0
	})
	return nil
}

// Progress tells how far into its file t has read, in bytes of the file as it is
// stored, and how many there are; total is 0 if that is unknown, as of standard
// input or a pipe. After io.EOF the two are the same, unless the file grew or
// shrank. Of a compressed file read is ahead by what is decompressed and not yet
// asked for; a trace that is sorted is read whole by the first Next. Call it
// from where Next is called.
func (t *Trace) Progress() (read, total int64) { return t.offset(), t.size }

// Close closes the file. Next must not be called after it.
func (t *Trace) Close() error { return t.closer() }
