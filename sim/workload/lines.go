package workload

import (
	"bufio"
	"bytes"
	"fmt"
	"io"

	"servesim/internal/infile"
)

const (
	// sniffBytes is how much of a trace is looked at to tell its format.
	sniffBytes = 64 << 10
	// maxLine is the longest line in bytes; the longest that public traces
	// hold, with their token ids in full, are some megabytes.
	maxLine = 64 << 20
)

// lineReader cuts a trace into lines and counts them.
type lineReader struct {
	file string
	in   *bufio.Reader
	line int64        // number of the last line that next returned, from 1
	long []byte       // holds a line that is longer than the buffer
	text *infile.Text // that in belongs to, which says where reading stopped
}

// next returns the next line that is not blank, without its end (LF or CRLF)
// and without a byte order mark. The line is valid until the next call. The
// error is io.EOF or a *Fault.
func (l *lineReader) next() ([]byte, error) {
	for {
		b, err := l.in.ReadSlice('\n')
		if err == bufio.ErrBufferFull {
			b, err = l.rest(b)
		}
		if err != nil && err != io.EOF {
			return nil, l.broken(err)
		}
		if len(b) == 0 {
			return nil, io.EOF
		}
		l.line++
		if n := len(b) - 1; b[n] == '\n' {
			b = b[:n]
		}
		if n := len(b) - 1; n >= 0 && b[n] == '\r' {
			b = b[:n]
		}
		if l.line == 1 {
			b = bytes.TrimPrefix(b, infile.ByteOrderMark())
		}
		if len(b) > 0 && (b[0] > ' ' || len(bytes.TrimSpace(b)) > 0) {
			return b, nil
		}
	}
}

// rest reads the remainder of a line that begins with b, which fills the buffer.
func (l *lineReader) rest(b []byte) ([]byte, error) {
	l.long = append(l.long[:0], b...)
	for {
		b, err := l.in.ReadSlice('\n')
		l.long = append(l.long, b...)
		if len(l.long) > maxLine {
			l.line++
			return nil, l.fault("", fmt.Sprintf("a line of more than %d MiB", maxLine>>20), "one request a line", "")
		}
		if err != bufio.ErrBufferFull {
			return l.long, err
		}
	}
}

// broken turns a read error into a Fault that says where it happened.
func (l *lineReader) broken(err error) error { return l.text.Broken(l.file, l.line+1, err) }

// fault returns a Fault of the last line.
func (l *lineReader) fault(field, found, want, fix string) error {
	return &Fault{File: l.file, Line: l.line, Field: field, Found: found, Want: want, Fix: fix}
}
