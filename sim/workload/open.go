package workload

import (
	"bufio"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"

	"github.com/klauspost/compress/gzip"
	"github.com/klauspost/compress/zstd"
)

// stdinName stands for standard input in errors and reports.
const stdinName = "standard input"

// Open opens the trace at path, or opt.Stdin if path is "-". It unwraps
// gzip and zstd, tells the format from the first 64 KiB and returns a Source
// that reads on as it is asked, in constant memory but for three things that
// grow: a trace that is sorted, session names, and ids that do not count up.
// The caller closes it. Errors are *Fault.
func Open(path string, opt Options) (*Trace, error) {
	if path == "-" {
		if opt.Stdin == nil {
			return nil, &Fault{File: stdinName, Found: "none here", Want: "a file"}
		}
		return Read(opt.Stdin, stdinName, opt)
	}
	f, err := os.Open(path)
	var info fs.FileInfo
	if err == nil {
		if info, err = f.Stat(); err == nil && info.IsDir() {
			err = &fs.PathError{Op: "open", Path: path, Err: errors.New("is a directory; give a trace file")}
		}
	}
	if err != nil {
		if f != nil {
			f.Close()
		}
		var cause *fs.PathError
		if errors.As(err, &cause) {
			err = cause.Err
		}
		return nil, &Fault{File: path, Err: err}
	}
	t, err := Read(f, path, opt)
	if err != nil {
		f.Close()
		return nil, err
	}
	if info.Mode().IsRegular() {
		t.size = info.Size()
	}
	unwrapped := t.closer
	t.closer = func() error { return errors.Join(unwrapped(), f.Close()) }
	return t, nil
}

// Read reads a trace from r, as Open does; name stands for it in errors.
// Closing the Trace does not close r.
func Read(r io.Reader, name string, opt Options) (*Trace, error) {
	if fault := opt.check(name); fault != nil {
		return nil, fault
	}
	raw := &counter{in: r}
	plain := bufio.NewReaderSize(raw, readBuffer)
	t := &Trace{opt: opt, closer: func() error { return nil }}
	t.offset = func() int64 { return raw.n - int64(plain.Buffered()) }
	t.lines = lineReader{file: name, in: plain}
	t.lines.byte = func() string { return fmt.Sprintf("byte %d", t.offset()) }
	if err := t.unwrap(plain); err != nil {
		return nil, err
	}
	head, err := t.lines.in.Peek(sniffBytes)
	if err != nil && err != io.EOF {
		t.closer()
		return nil, t.lines.broken(err)
	}
	format, err := pickFormat(name, head, &opt)
	if err == nil {
		if opt.ZeroTokens == ZeroDefault {
			t.opt.ZeroTokens = format.zero
		}
		t.rows, err = format.open(&t.lines, &opt)
	}
	if err == io.EOF {
		err = t.nothing()
	}
	if err != nil {
		t.closer()
		return nil, err
	}
	t.names = t.rows.fields()
	t.report.File, t.report.Format = name, format.Name
	return t, nil
}

// maxWindow is the most memory in bytes that a zstd stream may ask for: what
// the zstd program accepts unless told otherwise.
const maxWindow = 128 << 20

// unwrap puts a decompressor between plain and the lines if plain begins like
// gzip or zstd.
func (t *Trace) unwrap(plain *bufio.Reader) error {
	magic, _ := plain.Peek(4)
	offset := t.lines.byte
	t.lines.byte = func() string { return offset() + " of the compressed file" }
	switch {
	case isMagic(magic, "\x1f\x8b"):
		z, err := gzip.NewReader(plain)
		if err != nil {
			return t.lines.broken(err)
		}
		t.report.Compression, t.closer = "gzip", z.Close
		t.lines.in = bufio.NewReaderSize(z, readBuffer)
	case isMagic(magic, "\x28\xb5\x2f\xfd"):
		z, err := zstd.NewReader(plain, zstd.WithDecoderConcurrency(1), zstd.WithDecoderMaxWindow(maxWindow))
		if err != nil {
			return t.lines.broken(err)
		}
		t.report.Compression, t.closer = "zstd", func() error { z.Close(); return nil }
		t.lines.in = bufio.NewReaderSize(z, readBuffer)
	default:
		t.lines.byte = offset
	}
	return nil
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
