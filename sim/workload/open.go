package workload

import (
	"errors"
	"io"
	"io/fs"
	"os"

	"servesim/internal/infile"
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
	text, err := infile.Unwrap(r)
	if err != nil {
		return nil, text.Broken(name, 1, err)
	}
	t := &Trace{opt: opt, closer: text.Close, offset: text.Offset}
	t.lines = lineReader{file: name, in: text.In, text: text}
	t.report.Compression = text.Compression
	head, err := text.In.Peek(sniffBytes)
	if err != nil && err != io.EOF {
		t.closer()
		return nil, t.lines.broken(err)
	}
	format, err := pickFormat(name, head, &opt)
	if err == nil {
		if opt.ZeroTokens == ZeroDefault {
			t.opt.ZeroTokens = format.zero
		}
		t.opt.Sort = opt.Sort || format.sort
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
