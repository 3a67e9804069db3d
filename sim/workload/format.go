package workload

import (
	"bufio"
	"bytes"
	"encoding/json"
	"slices"
	"strings"

	"servesim/internal/exact"
	"servesim/internal/infile"
)

// Format is a layout of trace files that this package reads.
type Format struct {
	// Name is what Options.Format calls it.
	Name string
	// Title says what it is, for help texts.
	Title string
	// Fields are the columns or keys that make it, for help texts.
	Fields []string

	// json tells JSON lines from CSV.
	json bool
	// sort tells that its records come in no order.
	sort bool
	// zero is what ZeroDefault stands for; empty is ZeroError.
	zero ZeroRule
	// match tells whether the beginning of a file looks like it.
	match func(*sniffed) bool
	// open reads a header, if there is one, and returns the reader of the rows.
	open func(*lineReader, *Options) (rowReader, error)
}

// Formats lists every format, in the order in which help texts print them.
func Formats() []Format {
	return []Format{
		azureFormat(),
		mooncakeFormat(),
		burstFormat(),
		vidurFormat(),
		splitwiseFormat(),
		jsonFormat(),
		csvFormat(),
	}
}

// rowReader reads the rows of one format.
type rowReader interface {
	// next reads the next row into r; the error is io.EOF after the last one,
	// or a *Fault. It sets every field of r that it ever sets.
	next(r *row) error
	// fields names the columns or keys of a row for errors.
	fields() rowFields
	// describe adds to a report what is particular to the format.
	describe(*Report)
}

// row is a row of a trace as a rowReader leaves it. Prompt and Output may be
// 0; ID, Line and Arrival are not set.
type row struct {
	Request
	at   exact.Instant
	text []byte // of the arrival, as the file spells it
	// drop is why the row is no request, or empty.
	drop string
}

// rowFields are the names of the fields that every row has.
type rowFields struct{ arrival, prompt, output string }

// formatNames lists the names of formats.
func formatNames(formats []Format) []string {
	var names []string
	for _, f := range formats {
		names = append(names, f.Name)
	}
	return names
}

// sniffed is what the beginning of a trace shows.
type sniffed struct {
	line    int64    // that it begins on
	columns []string // names in a CSV header, in lower case
	names   []string // the same as the file spells them
	keys    []string // keys of the first JSON object
}

// has tells whether all of names are columns of the CSV header.
func (s *sniffed) has(names ...string) bool { return containsAll(s.columns, names) }

// hasKeys tells whether all of names are keys of the first JSON object.
func (s *sniffed) hasKeys(names ...string) bool { return containsAll(s.keys, names) }

func containsAll(have, names []string) bool {
	return !slices.ContainsFunc(names, func(name string) bool { return !slices.Contains(have, name) })
}

// pickFormat chooses the format for a file that begins with head: the one that
// opt names, else the only one that matches.
func pickFormat(file string, head []byte, opt *Options) (Format, error) {
	line, fault := sniffLine(file, head)
	if fault != nil {
		return Format{}, fault
	}
	for _, f := range opt.allFormats() {
		if f.Name == opt.Format {
			if fault := misnamed(file, line, f, opt); fault != nil {
				return Format{}, fault
			}
			return f, nil
		}
	}
	if f, ok := opt.foreign(head); ok {
		return f, nil
	}
	s, fault := sniff(file, line)
	if fault != nil {
		return Format{}, fault
	}
	var matches []Format
	for _, f := range Formats() {
		if f.match(s) {
			matches = append(matches, f)
		}
	}
	if len(matches) == 1 {
		return matches[0], nil
	}
	return Format{}, unsure(file, s, matches, opt)
}

// firstLine is the first line of a trace that is not blank.
type firstLine struct {
	text   []byte
	number int64
	whole  bool // the text is not cut off
}

// unsure is the fault of a file of which no format, or more than one, matches.
func unsure(file string, s *sniffed, matches []Format, opt *Options) *Fault {
	f := &Fault{File: file, Line: s.line}
	switch {
	case len(matches) > 1:
		f.Found = "a layout that fits the formats " + infile.List(formatNames(matches), "and")
		f.Fix = "say which with --format"
		return f
	case s.hasKeys("chat_id"):
		f.Found = "chat_id, which marks a Qwen Bailian trace (seconds, 16-token blocks)"
		f.Want = "one of the formats " + infile.List(formatNames(opt.allFormats()), "and")
		f.Fix = "it has the key names of Mooncake with other units, so it is not read as one; convert it to the format servesim"
		return f
	case s.keys != nil:
		f.Found = "the keys " + infile.List(s.keys, "and")
		f.Fix = "rename the keys to those of one of them"
	default:
		f.Found = "the columns " + infile.List(s.names, "and")
		f.Fix = "for any other CSV, say which columns to read with workload.columns, such as columns = { arrival = \"t\", prompt = \"in\", output = \"out\" }"
		if hint := headerHint(s.names); hint != "" {
			f.Fix = hint
		}
	}
	var known []string
	for _, k := range opt.allFormats() {
		if len(k.Fields) > 0 && k.json == (s.keys != nil) {
			known = append(known, k.Name+" ("+strings.Join(k.Fields, ", ")+")")
		}
	}
	f.Want = "those of a known format: " + strings.Join(known, "; ")
	return f
}

// sniffLine checks that head begins a text file and returns its first line.
func sniffLine(file string, head []byte) (firstLine, *Fault) {
	if f := infile.NotText(head, "a trace"); f != nil {
		f.File = file
		return firstLine{}, f
	}
	start := bytes.TrimSpace(bytes.TrimPrefix(head, infile.ByteOrderMark()))
	before := head[:bytes.Index(head, start)]
	line := firstLine{start, int64(bytes.Count(before, []byte{'\n'})) + 1, len(head) < sniffBytes}
	if i := bytes.IndexByte(start, '\n'); i >= 0 {
		line.text, line.whole = bytes.TrimRight(start[:i], "\r"), true
	}
	return line, nil
}

// sniff takes the names out of the first line of a trace.
func sniff(file string, line firstLine) (*sniffed, *Fault) {
	f := &Fault{File: file, Line: line.number}
	switch line.text[0] {
	case '[':
		f.Found, f.Want, f.Fix = "a JSON array", "JSON lines: one object a line", "jq -c '.[]' makes lines of an array"
		return nil, f
	case '{':
		keys, ok := objectKeys(line.text)
		if !ok && line.whole {
			f.Found, f.Want = "a line that is no JSON object by itself: "+infile.Quote(line.text), "JSON lines: one object a line"
			f.Fix = "jq -c . puts an object on one line"
			return nil, f
		}
		return &sniffed{line: line.number, keys: append([]string{}, keys...)}, nil
	}
	t, err := openTable(&lineReader{file: file, in: bufio.NewReader(bytes.NewReader(line.text)), line: line.number - 1})
	if err != nil {
		return nil, err.(*Fault)
	}
	s := &sniffed{line: line.number, names: t.names}
	for _, name := range t.names {
		s.columns = append(s.columns, strings.ToLower(name))
	}
	return s, nil
}

// objectKeys returns the keys of the JSON object that line is; ok is false if
// it is none, and keys are then those before the fault.
func objectKeys(line []byte) (keys []string, ok bool) {
	dec := json.NewDecoder(bytes.NewReader(line))
	if t, err := dec.Token(); err != nil || t != json.Delim('{') {
		return nil, false
	}
	for dec.More() {
		key, err := dec.Token()
		if err != nil {
			return keys, false
		}
		name, isString := key.(string)
		var skip json.RawMessage
		if !isString || dec.Decode(&skip) != nil {
			return keys, false
		}
		keys = append(keys, name)
	}
	return keys, json.Valid(line)
}
