package export

import (
	"io"
	"slices"

	"servesim/analysis/transcript"
	"servesim/internal/exact"
	"servesim/internal/infile"
	"servesim/internal/jsonread"
)

// Source is a file that can be opened more than once.
type Source struct {
	// Name is its path, or what errors call it.
	Name string
	// Open opens it, from the beginning.
	Open func() (io.ReadCloser, error)
}

// File is a file that was read once and found to be well.
type File struct {
	// Name is that of its Source, Format what it is and Compression gzip, zstd or
	// empty.
	Name        string
	Format      Format
	Compression string
	// Runs are what it holds: most tools write one run into a file, some append.
	Runs []*Run

	source Source
}

// Run is one run of a tool.
type Run struct {
	// Label tells it from the others of its file, as the tool describes it; empty
	// if the file says nothing.
	Label string
	// Model is the name of the model, empty if the file doesn't tell it.
	Model string
	// Facts says what the file knows of all its calls.
	Facts transcript.Facts
	// Calls is the number of calls, Completed that of those that got their answer.
	Calls, Completed int64
	// Errors says why the others didn't, in order of the first of each, the last of
	// many being all that came later.
	Errors []Count
	// Counts says how many records a rule was applied to, in order of the first of
	// each: records that are no calls, and instants that had to be taken from others.
	Counts []Count
	// Notes say what else a reader should know, a sentence each.
	Notes []string

	missing struct{ first, gaps, prompts, outputs, cached int64 } // answers without

	origin exact.Instant // the instant that is 0 for the calls
	known  bool          // that there is an origin
}

// Count is a number of records of one kind.
type Count struct {
	// What names the kind, such as "warm-up records, left out".
	What string
	// N is how many there were.
	N int64
}

// count adds one to the count of what.
func (r *Run) count(what string) {
	for i := range r.Counts {
		if r.Counts[i].What == what {
			r.Counts[i].N++
			return
		}
	}
	r.Counts = append(r.Counts, Count{what, 1})
}

// mostErrors is how many errors of a run are told apart.
const mostErrors = 8

// fail adds a call that failed.
func (r *Run) fail(why string) {
	if why == "" {
		why = "no error is told"
	}
	i := slices.IndexFunc(r.Errors, func(c Count) bool { return c.What == why })
	if i < 0 && len(r.Errors) < mostErrors {
		r.Errors = append(r.Errors, Count{What: why})
	}
	if i < 0 {
		if i = len(r.Errors) - 1; r.Errors[i].What != why {
			r.Errors[i].What = "other errors"
		}
	}
	r.Errors[i].N++
}

// Read reads a file once and tells what is in it. The error is an *infile.Faults
// with all that is wrong with it, or one of opening it.
func Read(src Source) (*File, error) {
	f := &File{Name: src.Name, source: src}
	c := &checker{file: f, runs: &f.Runs}
	if err := f.pass(c); err != nil {
		return nil, err
	}
	if len(f.Runs) == 0 {
		return nil, &infile.Fault{File: f.Name, Found: "no run", Want: "the records of at least one"}
	}
	return f, nil
}

// Replay gives the calls of each run to the sink that of returns for it, in the
// order of the file; of may return nil for a run that nobody wants. A call is
// valid only until its sink returns.
func (f *File) Replay(of func(*Run) (transcript.Sink, error)) error {
	return f.pass(&replayer{runs: f.Runs, of: of})
}

// pass reads the file into a stage.
func (f *File) pass(to stage) error {
	in, err := f.source.Open()
	if err != nil {
		return err
	}
	return first(read(in, f, to), in.Close())
}

// read reads in, which is f, into a stage.
func read(in io.Reader, f *File, to stage) error {
	text, err := infile.Unwrap(in)
	if err != nil {
		return text.Broken(f.Name, 1, err)
	}
	return first(readText(text, f, to), text.Close())
}

// first returns err, or else later.
func first(err, later error) error {
	if err != nil {
		return err
	}
	return later
}

// readText reads what is in f, unwrapped, into a stage.
func readText(text *infile.Text, f *File, to stage) error {
	head, err := text.In.Peek(sniffBytes)
	if err != nil && err != io.EOF {
		return text.Broken(f.Name, 1, err)
	}
	format, fault := detect(head)
	if fault != nil {
		fault.File = f.Name
		return fault
	}
	f.Format, f.Compression = format.Format, text.Compression
	var faults infile.Faults
	p := &pass{name: f.Name, faults: &faults, to: to}
	if format.records != nil {
		format.records(p, text)
	} else {
		p.in = jsonread.New(text, f.Name, format.lines, &faults)
		format.read(p)
	}
	if p.err != nil {
		return p.err
	}
	return faults.Err()
}
