package observe

import (
	"encoding/json"
	"fmt"
	"math"
	"strconv"
	"unicode/utf8"
)

// scanner reads one line of a record file: a JSON object whose members are
// integers, strings, booleans, null and arrays of such objects. The first fault
// is kept and everything after it is ignored.
type scanner struct {
	b     []byte
	i     int    // the next byte to read
	field string // the member being read, for the fault
	err   error
}

// fail keeps the first fault.
func (s *scanner) fail(format string, args ...any) {
	if s.err != nil {
		return
	}
	s.err = fmt.Errorf(format, args...)
	if s.field != "" {
		s.err = fmt.Errorf("%s: %w", s.field, s.err)
	}
}

// peek skips white space and returns the next byte, 0 at the end or after a fault.
func (s *scanner) peek() byte {
	if s.err != nil {
		return 0
	}
	for s.i < len(s.b) {
		switch c := s.b[s.i]; c {
		case ' ', '\t', '\r', '\n':
			s.i++
		default:
			return c
		}
	}
	return 0
}

// expect reads c.
func (s *scanner) expect(c byte) {
	if got := s.peek(); got != c {
		s.fail("found %s, want %q", s.found(), c)
		return
	}
	s.i++
}

// found describes what comes next.
func (s *scanner) found() string {
	if s.i >= len(s.b) {
		return "the end of the line"
	}
	end := min(s.i+20, len(s.b))
	return strconv.Quote(string(s.b[s.i:end]))
}

// end checks that nothing follows.
func (s *scanner) end() {
	if s.peek(); s.err == nil && s.i < len(s.b) {
		s.fail("found %s after the object", s.found())
	}
}

// object reads an object. Each key must be one of keys, at most once; all keys
// must be there. member reads the value of the key with that index.
func (s *scanner) object(keys []string, member func(key int)) {
	outer := s.field
	defer func() { s.field = outer }()
	var seen uint64
	next := 0 // where the key is expected: files of ours have them in order
	s.expect('{')
	for more := s.peek() != '}'; more && s.err == nil; {
		name := s.bytes()
		k := next
		if k >= len(keys) || string(name) != keys[k] {
			k = indexOf(keys, name)
		}
		if s.err != nil {
			return
		}
		s.field = memberField(outer, keys, k, name)
		switch {
		case k < 0:
			s.fail("unknown key; the keys are %q", keys)
			return
		case seen&(1<<k) != 0:
			s.fail("key is given twice")
			return
		}
		seen |= 1 << k
		next = k + 1
		s.expect(':')
		member(k)
		if more = s.peek() == ','; more {
			s.i++
		}
	}
	s.field = outer
	s.expect('}')
	for k, name := range keys {
		if s.err == nil && seen&(1<<k) == 0 {
			s.fail("key %q is missing", name)
		}
	}
}

// memberField names a member: keys[k], or name if k is negative.
func memberField(outer string, keys []string, k int, name []byte) string {
	var key string
	if k >= 0 {
		key = keys[k]
	} else {
		key = string(name)
	}
	if outer == "" {
		return key
	}
	return outer + "." + key
}

// indexOf returns the index of name in keys, or -1.
func indexOf(keys []string, name []byte) int {
	for i, k := range keys {
		if k == string(name) {
			return i
		}
	}
	return -1
}

// array reads an array, element for element.
func (s *scanner) array(element func()) {
	s.expect('[')
	if s.peek() == ']' {
		s.i++
		return
	}
	for s.err == nil {
		element()
		if s.peek() != ',' {
			s.expect(']')
			return
		}
		s.i++
	}
}

// integer reads an integer from lo to hi, without zeros before it.
func (s *scanner) integer(lo, hi int64) int64 {
	c := s.peek()
	start := s.i
	if c == '-' {
		s.i++
	}
	u, _, ok := s.digits()
	if !ok || c == '-' && u == 0 {
		s.i = start
		s.fail("found %s, want an integer", s.found())
		return 0
	}
	v, fits := int64(u), u <= math.MaxInt64
	if c == '-' {
		v, fits = -v, u <= 1<<63
	}
	if !fits || v < lo || v > hi {
		s.fail("found %s, want an integer from %d to %d", s.b[start:s.i], lo, hi)
		return 0
	}
	return v
}

// digits reads a number without a sign. fits is false if it is above 1<<64-1,
// which u then is. ok is false if there is no number, or one with zeros before
// it or a fraction after it.
func (s *scanner) digits() (u uint64, fits, ok bool) {
	start := s.i
	fits = true
	for ; s.i < len(s.b) && s.b[s.i] >= '0' && s.b[s.i] <= '9'; s.i++ {
		d := uint64(s.b[s.i] - '0')
		if u > (math.MaxUint64-d)/10 {
			u, fits = math.MaxUint64, false
			continue
		}
		u = u*10 + d
	}
	n := s.i - start
	return u, fits, (n == 1 || n > 1 && s.b[start] != '0') && !s.fraction()
}

// fraction tells whether a fraction or an exponent follows.
func (s *scanner) fraction() bool {
	return s.i < len(s.b) && (s.b[s.i] == '.' || s.b[s.i] == 'e' || s.b[s.i] == 'E')
}

// int32 reads a number of things, at least lo.
func (s *scanner) int32(lo int64) int32 { return int32(s.integer(lo, math.MaxInt32)) }

// literal reads the word if it is next.
func (s *scanner) literal(word string) bool {
	s.peek()
	if s.err != nil || len(s.b)-s.i < len(word) || string(s.b[s.i:s.i+len(word)]) != word {
		return false
	}
	s.i += len(word)
	return true
}

// boolean reads true or false.
func (s *scanner) boolean() bool {
	if s.literal("true") {
		return true
	}
	if !s.literal("false") {
		s.fail("found %s, want true or false", s.found())
	}
	return false
}

// bytes reads a string. The result is part of the line where that holds it as it is.
func (s *scanner) bytes() []byte {
	s.expect('"')
	start := s.i
	plain := true
	for ; s.err == nil && s.i < len(s.b) && s.b[s.i] != '"'; s.i++ {
		if s.b[s.i] == '\\' {
			plain = false
			s.i++
		} else if s.b[s.i] < ' ' {
			s.fail("a string has a control character; write it as an escape")
		}
	}
	if s.err != nil {
		return nil
	}
	if s.i >= len(s.b) {
		s.i = start - 1
		s.fail("the string %s has no end", s.found())
		return nil
	}
	raw := s.b[start:s.i]
	s.i++
	if !utf8.Valid(raw) {
		s.fail("a string is not valid UTF-8")
		return nil
	}
	if plain {
		return raw
	}
	var text string
	if err := json.Unmarshal(s.b[start-1:s.i], &text); err != nil {
		s.fail("%w", err)
	}
	return []byte(text)
}

// text reads a string, and gives back old if it is equal, so that names that
// repeat from line to line are kept once.
func (s *scanner) text(old string) string {
	b := s.bytes()
	if string(b) == old {
		return old
	}
	return string(b)
}
