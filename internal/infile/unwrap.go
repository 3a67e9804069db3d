package infile

import (
	"bufio"
	"bytes"
	"errors"
	"fmt"
	"io"
	"slices"

	"github.com/klauspost/compress/gzip"
	"github.com/klauspost/compress/zstd"
)

// BufferBytes is the size of the buffer that files are read through.
const BufferBytes = 256 << 10

// maxWindow is the most memory in bytes that a zstd stream may ask for: what
// the zstd program accepts unless told otherwise.
const maxWindow = 128 << 20

// Text is a file whose compression, if it had one, is taken off.
type Text struct {
	// In yields the text.
	In *bufio.Reader
	// Compression is gzip, zstd or empty.
	Compression string

	raw   *counter
	plain *bufio.Reader // of raw
	done  func() error
}

// Unwrap begins to read r, and puts a decompressor between it and Text.In if it
// begins like gzip or zstd. The error is that of a damaged first block.
func Unwrap(r io.Reader) (*Text, error) {
	raw := &counter{in: r}
	plain := bufio.NewReaderSize(raw, BufferBytes)
	t := &Text{In: plain, raw: raw, plain: plain, done: func() error { return nil }}
	magic, _ := plain.Peek(4)
	switch {
	case isMagic(magic, gzipMagic):
		t.Compression = "gzip"
		z, err := gzip.NewReader(plain)
		if err != nil {
			return t, err
		}
		t.done, t.In = z.Close, bufio.NewReaderSize(z, BufferBytes)
	case isMagic(magic, zstdMagic):
		t.Compression = "zstd"
		z, err := zstd.NewReader(plain, zstd.WithDecoderConcurrency(1), zstd.WithDecoderMaxWindow(maxWindow))
		if err != nil {
			return t, err
		}
		t.done = func() error { z.Close(); return nil }
		t.In = bufio.NewReaderSize(z, BufferBytes)
	}
	return t, nil
}

// Offset is the number of bytes taken from the file as it is stored.
func (t *Text) Offset() int64 { return t.raw.n - int64(t.plain.Buffered()) }

// Close frees what decompresses. It does not close what Unwrap was given.
func (t *Text) Close() error { return t.done() }

// Broken turns a read error into a Fault of file that says where reading
// stopped, in line and in the file as it is stored.
func (t *Text) Broken(file string, line int64, err error) error {
	var fault *Fault
	if errors.As(err, &fault) {
		return fault
	}
	fix, where := "", fmt.Sprintf("byte %d", t.Offset())
	if errors.Is(err, io.ErrUnexpectedEOF) {
		fix = "the file is cut off: copy or download it again"
	}
	if t.Compression != "" {
		where += " of the compressed file"
	}
	return &Fault{File: file, Line: line, Err: fmt.Errorf("reading stopped at %s: %w", where, err), Fix: fix}
}

// The first bytes of compressed files.
const (
	gzipMagic = "\x1f\x8b"
	zstdMagic = "\x28\xb5\x2f\xfd"
)

// isMagic tells whether b begins with one of marks.
func isMagic(b []byte, marks ...string) bool {
	return slices.ContainsFunc(marks, func(m string) bool { return bytes.HasPrefix(b, []byte(m)) })
}

// counter counts the bytes that pass through it.
type counter struct {
	in io.Reader
	n  int64
}

// Read implements io.Reader.
func (c *counter) Read(p []byte) (int, error) {
	n, err := c.in.Read(p)
	c.n += int64(n)
	return n, err
}
