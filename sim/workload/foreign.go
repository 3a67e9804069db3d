package workload

import (
	"io"
	"slices"
	"strings"

	"servesim/internal/exact"
	"servesim/internal/infile"
)

// Foreign is a format of trace files that another package reads, such as the
// export of a benchmark tool. Its records need not be in order of arrival: they
// are sorted, as Options.Sort has it.
type Foreign struct {
	// Name is what Options.Format calls it, Title what help texts do, and Fields
	// are the keys that make it.
	Name, Title string
	Fields      []string
	// Is tells whether a file that begins with head, of at most 64 KiB, is one.
	Is func(head []byte) bool
	// Read reads all of a file, whose name is for faults, gives each record of it
	// to each, and returns what a reader of the report should know.
	Read func(text *infile.Text, name string, each func(Record)) (notes []string, err error)
}

// Record is a record of a Foreign. Its ID and Arrival are not set.
type Record struct {
	Request
	// At is when it arrived, on any clock.
	At exact.Instant
	// Drop is why it is no request, or empty.
	Drop string
}

// format returns f as a Format.
func (f Foreign) format() Format {
	return Format{
		Name: f.Name, Title: f.Title, Fields: f.Fields, json: true, sort: true, zero: ZeroDrop,
		match: func(*sniffed) bool { return false }, // Is has looked at the file before
		open: func(in *lineReader, _ *Options) (rowReader, error) {
			if head, _ := in.in.Peek(sniffBytes); !f.Is(head) { // which were read before
				return nil, &Fault{File: in.file, Line: 1, Found: "a file of another format", Want: "the format " + f.Name + " (" + strings.Join(f.Fields, ", ") + ")", Fix: "leave the format out: the content tells it"}
			}
			r := &foreignRows{}
			var err error
			r.notes, err = f.Read(in.text, in.file, func(rec Record) { r.left = append(r.left, rec) })
			if err != nil {
				return nil, asFault(in.file, err)
			}
			return r, nil
		},
	}
}

// allFormats returns Formats and those of o that are foreign.
func (o *Options) allFormats() []Format {
	all := Formats()
	for _, f := range o.Foreign {
		all = append(all, f.format())
	}
	return all
}

// foreign returns the format of a file that begins with head, if it is foreign.
func (o *Options) foreign(head []byte) (Format, bool) {
	i := slices.IndexFunc(o.Foreign, func(f Foreign) bool { return f.Is(head) })
	if i < 0 {
		return Format{}, false
	}
	return o.Foreign[i].format(), true
}

// asFault returns err as a Fault of file.
func asFault(file string, err error) error {
	if fault, ok := err.(*Fault); ok {
		return fault
	}
	return &Fault{File: file, Err: err}
}

// foreignRows yields the records that a Foreign has read.
type foreignRows struct {
	left  []Record
	notes []string
}

func (f *foreignRows) next(r *row) error {
	if len(f.left) == 0 {
		return io.EOF
	}
	rec := &f.left[0]
	r.Request, r.at, r.drop = rec.Request, rec.At, rec.Drop
	f.left = f.left[1:]
	return nil
}

func (f *foreignRows) fields() rowFields {
	return rowFields{"the instant of a call", "prompt tokens", "output tokens"}
}

func (f *foreignRows) describe(r *Report) { r.Notes = append(r.Notes, f.notes...) }
