package jsonread

import (
	"bytes"

	"servesim/internal/infile"
)

// mistaken adds the fault that the next value is not what is wanted, and skips it.
func (r *Reader) mistaken(want string) {
	c, ok := r.peek()
	switch {
	case !ok || c == '\n' || c == ']' || c == '}' || c == ',' || c == ':':
		r.syntax(want)
		return
	case c == '{':
		r.Fault("an object", want, "")
	case c == '[':
		r.Fault("an array", want, "")
	default:
		r.Fault(infile.Quote(trimmed(r.buf[r.i:min(r.n, r.i+40)])), want, "")
	}
	r.Skip()
}

// trimmed cuts b at the end of its first value, if that is a plain one.
func trimmed(b []byte) []byte {
	if b[0] == '"' {
		if k := bytes.IndexByte(b[1:], '"'); k >= 0 {
			return b[:k+2]
		}
		return b
	}
	if k := bytes.IndexAny(b, ",]} \n"); k > 0 {
		return b[:k]
	}
	return b
}

// Skip reads a value and drops it.
func (r *Reader) Skip() {
	c, ok := r.peek()
	switch {
	case !ok:
		r.syntax("a value")
	case c == '{':
		r.Object(func([]byte) { r.Skip() })
	case c == '[':
		r.Array(func(int) { r.Skip() })
	case c == '"':
		r.skipText()
	case c == '-' || c >= '0' && c <= '9' || c == 'N' || c == 'I':
		r.number()
	default:
		r.word()
	}
}

// skipText reads a string and drops it.
func (r *Reader) skipText() {
	r.i++
	for r.i < r.n || r.fill() {
		k := bytes.IndexAny(r.buf[r.i:r.n], "\"\\\n")
		if k < 0 {
			r.i = r.n
			continue
		}
		r.i += k + 1
		switch r.buf[r.i-1] {
		case '"':
			return
		case '\n':
			r.i--
			r.syntax("the end of a text on its own line")
			return
		}
		if r.i < r.n || r.fill() {
			r.i++ // what is escaped
		}
	}
	r.syntax("the end of a text that has none")
}
