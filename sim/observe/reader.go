package observe

import (
	"bufio"
	"bytes"
	"errors"
	"fmt"
	"io"
	"math"

	"servesim/sim"
)

// maxLine is the length in bytes of the longest line that a Reader takes.
const maxLine = 64 << 20

// Reader reads a record file that a Writer wrote, one line at a time. It takes
// nothing that a Writer would not write: an unknown, repeated or missing key, a
// number that is not an integer or outside its range, or a file that was cut
// short is an error, which names file, line and field.
type Reader struct {
	file    string
	in      *bufio.Reader
	buf     []byte // a line longer than the buffer of in
	line    int64
	header  Header
	request Request
	step    StepRun
	counts  [2]int64 // requests and steps read
}

// NewReader reads the header of the record file r, which errors call file.
func NewReader(r io.Reader, file string) (*Reader, error) {
	d := &Reader{file: file, in: bufio.NewReaderSize(r, 1<<16)}
	line, err := d.next()
	if err == io.EOF {
		return nil, fmt.Errorf("%s: is empty; a record file begins with a header line", file)
	}
	if err != nil {
		return nil, err
	}
	s := scanner{b: line}
	d.readHeader(&s)
	return d, d.fault(&s)
}

// Header returns the first line of the file.
func (d *Reader) Header() Header { return d.header }

// Replay gives every record of the file to sink, as the run that wrote them
// did. The records are valid only until the sink returns.
func (d *Reader) Replay(sink Sink) error {
	for {
		line, err := d.next()
		if err == io.EOF {
			return fmt.Errorf("%s:%d: the file has no end line: it was cut short", d.file, d.line)
		}
		if err != nil {
			return err
		}
		done, err := d.record(line, sink)
		if err != nil {
			return err
		}
		if done {
			return d.nothingMore()
		}
	}
}

// record reads one line and gives its record to sink. done tells that it was the end.
func (d *Reader) record(line []byte, sink Sink) (done bool, err error) {
	s := scanner{b: line}
	switch kind := typeOf(line); kind {
	case "request":
		d.readRequest(&s)
		if err = d.fault(&s); err == nil {
			d.counts[0]++
			err = d.at(sink.Request(&d.request))
		}
	case "step":
		if d.header.RequestsOnly {
			return false, d.at(errors.New("type: a step in a file whose header says requests_only"))
		}
		d.readStep(&s)
		if err = d.fault(&s); err == nil {
			d.counts[1]++
			err = d.at(sink.Step(&d.step))
		}
	case "end":
		return true, d.readEnd(&s)
	default:
		s.expect('{')
		s.fail("found type %q; the line must begin with {\"type\":\"request\", \"step\" or \"end\"", kind)
		err = d.fault(&s)
	}
	return false, err
}

// typeOf returns the type of a record, or what of it can be made out.
func typeOf(line []byte) string {
	s := scanner{b: line}
	s.expect('{')
	if key := s.bytes(); string(key) != "type" {
		return ""
	}
	s.expect(':')
	return string(s.bytes())
}

// next returns the next line without its end.
func (d *Reader) next() ([]byte, error) {
	d.line++
	line, err := d.in.ReadSlice('\n')
	if err == bufio.ErrBufferFull {
		d.buf = d.buf[:0]
		for err == bufio.ErrBufferFull && len(d.buf) < maxLine {
			d.buf = append(d.buf, line...)
			line, err = d.in.ReadSlice('\n')
		}
		d.buf = append(d.buf, line...)
		line = d.buf
	}
	switch {
	case err == bufio.ErrBufferFull:
		return nil, d.at(fmt.Errorf("the line is longer than %d bytes", maxLine))
	case err == io.EOF && len(line) == 0:
		d.line--
		return nil, io.EOF
	case err == io.EOF:
		return nil, d.at(errors.New("the line has no end: the file was cut short"))
	case err != nil:
		return nil, fmt.Errorf("%s: %w", d.file, err)
	}
	return bytes.TrimSuffix(line, []byte{'\n'}), nil
}

// nothingMore checks that the file ends.
func (d *Reader) nothingMore() error {
	_, err := d.next()
	if err == io.EOF {
		return nil
	}
	if err == nil {
		err = d.at(errors.New("found a line after the end line"))
	}
	return err
}

// at puts the file and the line before err, if it is not nil.
func (d *Reader) at(err error) error {
	if err == nil {
		return nil
	}
	return fmt.Errorf("%s:%d: %w", d.file, d.line, err)
}

// fault returns what s found wrong, after the end of its object too.
func (d *Reader) fault(s *scanner) error {
	s.end()
	return d.at(s.err)
}

// readEnd checks the counts of the last line.
func (d *Reader) readEnd(s *scanner) error {
	s.object(endKeys[:], func(k int) {
		if k == 0 {
			s.text("")
			return
		}
		if n := s.integer(0, math.MaxInt64); n != d.counts[k-1] {
			s.fail("the end line counts %d %s, the file has %d", n, endKeys[k], d.counts[k-1])
		}
	})
	return d.fault(s)
}

// instant reads an instant or null.
func (s *scanner) instant() sim.Time {
	if s.literal("null") {
		return Never
	}
	return sim.Time(s.integer(0, math.MaxInt64))
}

// span reads a span from lo on.
func (s *scanner) span(lo int64) sim.Duration { return sim.Duration(s.integer(lo, math.MaxInt64)) }
