package jsonread

import (
	"bytes"
	"encoding/json"
	"io"
	"strconv"
	"unicode/utf8"

	"servesim/internal/infile"
)

// Reader reads the values of a JSON text, one after the other. What is wrong with
// the text goes to Faults; after a fault of syntax the rest of the text, or of
// the line, has no values.
type Reader struct {
	// File names the text in faults, which go to Faults.
	File   string
	Faults *infile.Faults

	in      io.Reader
	broken  func(line int64, err error) error
	lines   bool // a value ends with its line
	buf     []byte
	i, n    int
	line    int64
	depth   int
	stopped bool // by a fault of syntax or of in
	ended   bool // in has no more
	path    []byte
	scratch []byte
}

// bufferBytes is the size of the buffer that a Reader has for itself.
const bufferBytes = 64 << 10

// New returns a Reader of text. If lines is true each value is on a line of its
// own, and a line that is no value costs that line alone.
func New(text *infile.Text, file string, lines bool, faults *infile.Faults) *Reader {
	if mark := infile.ByteOrderMark(); startsWith(text, mark) {
		text.In.Discard(len(mark)) // which it has
	}
	return &Reader{
		File: file, Faults: faults, in: text.In, lines: lines, line: 1, buf: make([]byte, bufferBytes),
		broken: func(line int64, err error) error { return text.Broken(file, line, err) },
	}
}

// startsWith tells whether text begins with mark.
func startsWith(text *infile.Text, mark []byte) bool {
	head, _ := text.In.Peek(len(mark)) // what is wrong with it, reading says
	return bytes.Equal(head, mark)
}

// NewBytes returns a Reader of the values in text, without faults of reading.
func NewBytes(text []byte, file string, faults *infile.Faults) *Reader {
	return &Reader{File: file, Faults: faults, line: 1, buf: text, n: len(text), ended: true}
}

// Line is the line that is being read, from 1.
func (r *Reader) Line() int64 { return r.line }

// Next tells whether another value follows at the outermost level.
func (r *Reader) Next() bool {
	if r.stopped && (!r.lines || !r.resume()) {
		return false
	}
	r.path, r.depth = r.path[:0], 0
	_, ok := r.peek()
	return ok
}

// Stop ends the reading: no value follows.
func (r *Reader) Stop() { r.stopped, r.lines = true, false }

// resume goes on at the next line, after a fault of syntax.
func (r *Reader) resume() bool {
	r.stopped = false
	for {
		if r.i == r.n && !r.fill() {
			r.stopped = true
			return false
		}
		if k := bytes.IndexByte(r.buf[r.i:r.n], '\n'); k >= 0 {
			r.i += k
			return true
		}
		r.i = r.n
	}
}

// fill reads on, and tells whether there is anything.
func (r *Reader) fill() bool {
	for r.i == r.n && !r.ended {
		n, err := r.in.Read(r.buf)
		r.i, r.n = 0, n
		if err == nil {
			continue
		}
		r.ended = true
		if err != io.EOF {
			r.stopped = true
			r.Faults.Add(r.broken(r.line, err).(*infile.Fault))
		}
	}
	return r.i < r.n && !r.stopped
}

// peek skips white space and returns the next byte; ok is false at the end.
func (r *Reader) peek() (c byte, ok bool) {
	if r.stopped {
		return 0, false
	}
	for r.i < r.n || r.fill() {
		switch c := r.buf[r.i]; c {
		case '\n':
			if r.lines && r.depth > 0 {
				return c, true
			}
			r.line++
			r.i++
		case ' ', '\t', '\r':
			r.i++
		default:
			return c, true
		}
	}
	return 0, false
}

// take skips white space and then c, if it is there.
func (r *Reader) take(c byte) bool {
	got, ok := r.peek()
	if !ok || got != c {
		return false
	}
	r.i++
	return true
}

// syntax adds the fault that something else than want comes next, and stops.
func (r *Reader) syntax(want string) {
	if r.stopped {
		return
	}
	found, fix := "the end of the file", "the file is cut off: copy or write it again"
	if c, ok := r.peek(); ok && c == '\n' {
		found, fix = "the end of the line", "the line is cut off, or not on one line: jq -c . puts a value on one"
	} else if ok {
		next, _, _ := bytes.Cut(r.buf[r.i:min(r.n, r.i+40)], []byte{'\n'})
		found, fix = infile.Quote(next), ""
	}
	if r.stopped {
		return
	}
	r.Fault(found, want, fix)
	r.stopped = true
}

// Fault adds a fault of the value that is being read.
func (r *Reader) Fault(found, want, fix string) {
	r.Faults.Add(&infile.Fault{File: r.File, Line: r.line, Field: string(r.path), Found: found, Want: want, Fix: fix})
}

// FaultAt adds a fault of what is at path inside the value that is being read.
func (r *Reader) FaultAt(path, found, want, fix string) {
	at := string(r.path)
	if at != "" && path != "" && path[0] != '[' {
		at += "."
	}
	r.Faults.Add(&infile.Fault{File: r.File, Line: r.line, Field: at + path, Found: found, Want: want, Fix: fix})
}

// Null reads null, if it is next.
func (r *Reader) Null() bool {
	c, ok := r.peek()
	return ok && c == 'n' && r.word() == "null"
}

// word reads a bare word, and returns it if it is one that JSON or Python has.
func (r *Reader) word() string {
	text := r.run(func(c byte) bool { return c >= 'a' && c <= 'z' || c >= 'A' && c <= 'Z' })
	switch string(text) {
	case "null", "true", "false":
		return string(text)
	case "":
		r.syntax("a value")
	default:
		r.syntaxOf(text, "a value")
	}
	return ""
}

// syntaxOf is syntax for text that was read.
func (r *Reader) syntaxOf(text []byte, want string) {
	r.Fault(infile.Quote(text), want, "")
	r.stopped = true
}

// run reads the bytes that are in a set. The result is valid until the next read.
func (r *Reader) run(in func(byte) bool) []byte {
	r.scratch = r.scratch[:0]
	for r.i < r.n || r.fill() {
		from := r.i
		for r.i < r.n && in(r.buf[r.i]) {
			r.i++
		}
		if r.i < r.n && len(r.scratch) == 0 {
			return r.buf[from:r.i]
		}
		r.scratch = append(r.scratch, r.buf[from:r.i]...)
		if r.i < r.n || len(r.scratch) > maxWord {
			break
		}
	}
	return r.scratch
}

// maxWord is the length in bytes of the longest number or bare word.
const maxWord = 1 << 10

// number reads a number as it is written, NaN and Infinity among them.
func (r *Reader) number() []byte {
	return r.run(func(c byte) bool {
		switch {
		case c >= '0' && c <= '9', c == '-', c == '+', c == '.', c >= 'a' && c <= 'z', c >= 'A' && c <= 'Z':
			return true
		}
		return false
	})
}

// text reads a string. The result is valid until the next read.
func (r *Reader) text() (text []byte, ok bool) {
	if !r.take('"') {
		r.syntax("text in quotes")
		return nil, false
	}
	r.scratch = append(r.scratch[:0], '"')
	plain := true
	for r.i < r.n || r.fill() {
		k := bytes.IndexByte(r.buf[r.i:r.n], '"')
		end := r.n
		if k >= 0 {
			end = r.i + k + 1
		}
		part := r.buf[r.i:end]
		r.scratch = append(r.scratch, part...)
		r.i = end
		plain = plain && bytes.IndexByte(part, '\\') < 0
		if k >= 0 && (plain || closed(r.scratch)) {
			return r.unquote(plain)
		}
	}
	r.syntax("the end of a text that has none")
	return nil, false
}

// closed tells whether the last quote of raw isn't escaped.
func closed(raw []byte) bool {
	n := 0
	for i := len(raw) - 2; i > 0 && raw[i] == '\\'; i-- {
		n++
	}
	return n%2 == 0
}

// unquote returns the text of the string in scratch.
func (r *Reader) unquote(plain bool) ([]byte, bool) {
	raw := r.scratch[1 : len(r.scratch)-1]
	for _, c := range raw {
		if c < ' ' {
			r.syntaxOf(raw, "text without line ends and other control characters, which JSON escapes")
			return nil, false
		}
	}
	if plain && utf8.Valid(raw) {
		return raw, true
	}
	var s string
	if !utf8.Valid(raw) || json.Unmarshal(r.scratch, &s) != nil {
		r.syntaxOf(raw, "text in UTF-8 with JSON's escapes")
		return nil, false
	}
	return []byte(s), true
}

// Object reads an object, member by member: member reads the value of key, which
// is valid only until it reads. It tells whether there was an object.
func (r *Reader) Object(member func(key []byte)) bool {
	if !r.open('{', "an object, in braces") {
		return false
	}
	outer := len(r.path)
	for more := !r.take('}'); more && !r.stopped; {
		key, ok := r.text()
		if !ok {
			break
		}
		if outer > 0 {
			r.path = append(r.path, '.')
		}
		r.path = append(r.path, key...)
		if !r.take(':') {
			r.syntax("a colon after the key")
			break
		}
		member(key)
		r.path = r.path[:outer]
		if more = r.take(','); !more && !r.take('}') {
			r.syntax("a comma or the end of the object")
		}
	}
	r.path = r.path[:outer]
	r.depth--
	return !r.stopped
}

// Array reads an array, element by element. It tells whether there was one.
func (r *Reader) Array(element func(i int)) bool {
	if !r.open('[', "an array, in brackets") {
		return false
	}
	outer := len(r.path)
	for i, more := 0, !r.take(']'); more && !r.stopped; i++ {
		r.path = append(strconv.AppendInt(append(r.path, '['), int64(i), 10), ']')
		element(i)
		r.path = r.path[:outer]
		if more = r.take(','); !more && !r.take(']') {
			r.syntax("a comma or the end of the array")
		}
	}
	r.depth--
	return !r.stopped
}

// maxDepth is how deeply arrays and objects may nest.
const maxDepth = 200

// open reads the bracket that begins an object or array. If something else comes,
// that is a fault, and is skipped.
func (r *Reader) open(c byte, want string) bool {
	if r.take(c) {
		if r.depth++; r.depth > maxDepth {
			r.syntax("values that nest less deeply")
			return false
		}
		return true
	}
	r.mistaken(want)
	return false
}
