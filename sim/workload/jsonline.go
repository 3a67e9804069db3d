package workload

import (
	"bytes"
	"encoding/json"
	"strconv"
	"unicode/utf8"

	"servesim/internal/infile"
)

// jsonLine reads JSON lines that are objects, a key and its value at a time,
// without allocating. It takes what RFC 8259 allows, but that it lets a number
// begin with zeros.
type jsonLine struct {
	in   *lineReader
	b    []byte
	i    int
	keys int // read so far
}

// maxDepth is how deeply values that are skipped may nest.
const maxDepth = 100

// next reads the next line and the brace that opens its object.
func (j *jsonLine) next() error {
	b, err := j.in.next()
	if err != nil {
		return err
	}
	j.b, j.i, j.keys = b, 0, 0
	if !j.take('{') {
		return j.bad("a JSON object")
	}
	return nil
}

// key reads the next key and its colon; more is false at the end of the object.
func (j *jsonLine) key() (key []byte, more bool, err error) {
	if j.take('}') {
		if j.space(); j.i < len(j.b) {
			return nil, false, j.bad("the end of the line after the object")
		}
		return nil, false, nil
	}
	if j.keys > 0 && !j.take(',') {
		return nil, false, j.bad("a comma or the end of the object")
	}
	j.keys++
	j.space()
	if j.i == len(j.b) || j.b[j.i] != '"' {
		return nil, false, j.bad("a key in quotes")
	}
	raw, ok := j.quoted()
	if !ok {
		return nil, false, j.bad("a key in quotes")
	}
	if key, ok = unquoteJSON(raw); !ok {
		return nil, false, j.bad("a key in quotes")
	}
	if !j.take(':') {
		return nil, false, j.bad("a colon after the key")
	}
	return key, true, nil
}

// value reads the next value and returns its bytes as they are. It checks
// strings, arrays and objects, but leaves it to the caller what a bare word or
// number may be.
func (j *jsonLine) value() ([]byte, error) {
	j.space()
	from := j.i
	if j.i < len(j.b) {
		switch c := j.b[j.i]; {
		case c == '"':
			if raw, ok := j.quoted(); ok {
				return raw, nil
			}
			return nil, j.bad("a string that ends on its line")
		case c == '[' || c == '{':
			if !j.nested(0) {
				return nil, j.bad("a value")
			}
			return j.b[from:j.i], nil
		}
	}
	word := j.word()
	if len(word) == 0 {
		return nil, j.bad("a value")
	}
	return word, nil
}

// skip reads the next value and checks that it is one.
func (j *jsonLine) skip() error {
	if !j.nested(0) {
		return j.bad("a value")
	}
	return nil
}

// uints reads the next value as an array of whole numbers that fit 64 bits and
// appends them to dst. null is an empty array.
func (j *jsonLine) uints(dst []uint64) ([]uint64, bool) {
	if !j.take('[') {
		return dst, string(j.word()) == "null"
	}
	if j.take(']') {
		return dst, true
	}
	for {
		j.space()
		var v uint64
		from := j.i
		for j.i < len(j.b) && j.b[j.i]-'0' <= 9 {
			v = v*10 + uint64(j.b[j.i]-'0')
			j.i++
		}
		if digits := j.i - from; digits == 0 {
			return dst, false
		} else if digits > 19 {
			var err error
			if v, err = strconv.ParseUint(string(j.b[from:j.i]), 10, 64); err != nil {
				return dst, false
			}
		}
		dst = append(dst, v)
		if j.i < len(j.b) && j.b[j.i] == ',' {
			j.i++
			continue
		}
		if j.take(']') {
			return dst, true
		}
		if !j.take(',') {
			return dst, false
		}
	}
}

// bad is the fault that something else than want stands where reading is.
func (j *jsonLine) bad(want string) error {
	j.space()
	found := "the end of the line"
	if j.i < len(j.b) {
		found = infile.Quote(j.b[j.i:]) + " at byte " + strconv.Itoa(j.i+1)
	}
	return j.in.fault("", found, want, "")
}

// space skips white space.
func (j *jsonLine) space() {
	for j.i < len(j.b) {
		switch j.b[j.i] {
		case ' ', '\t', '\r', '\n':
			j.i++
		default:
			return
		}
	}
}

// take skips white space and then c, if it is there.
func (j *jsonLine) take(c byte) bool {
	j.space()
	if j.i < len(j.b) && j.b[j.i] == c {
		j.i++
		return true
	}
	return false
}

// word reads up to the next comma, colon, bracket, brace, quote or space.
func (j *jsonLine) word() []byte {
	from := j.i
	for j.i < len(j.b) {
		switch j.b[j.i] {
		case ',', ':', '[', ']', '{', '}', '"', ' ', '\t', '\r', '\n':
			return j.b[from:j.i]
		}
		j.i++
	}
	return j.b[from:]
}

// quoted reads a string and returns it with its quotes.
func (j *jsonLine) quoted() (raw []byte, ok bool) {
	from := j.i
	for i := j.i + 1; i < len(j.b); i++ {
		switch c := j.b[i]; {
		case c == '\\':
			i++
		case c < ' ':
			return nil, false
		case c == '"':
			j.i = i + 1
			return j.b[from:j.i], true
		}
	}
	return nil, false
}

// nested reads a value and checks it.
func (j *jsonLine) nested(depth int) bool {
	if depth > maxDepth {
		return false
	}
	j.space()
	if j.i == len(j.b) {
		return false
	}
	switch j.b[j.i] {
	case '"':
		raw, ok := j.quoted()
		return ok && (bytes.IndexByte(raw, '\\') < 0 || json.Valid(raw))
	case '[':
		j.i++
		return j.list(depth, ']')
	case '{':
		j.i++
		return j.list(depth, '}')
	}
	word := j.word()
	switch string(word) {
	case "true", "false", "null":
		return true
	}
	return isNumber(word)
}

// list reads the members of an array or object up to its end.
func (j *jsonLine) list(depth int, end byte) bool {
	if j.take(end) {
		return true
	}
	for {
		if end == '}' {
			j.space()
			if j.i == len(j.b) || j.b[j.i] != '"' || !j.nested(depth+1) || !j.take(':') {
				return false
			}
		}
		if !j.nested(depth + 1) {
			return false
		}
		if j.take(end) {
			return true
		}
		if !j.take(',') {
			return false
		}
	}
}

// isNumber tells whether b is a JSON number of any size.
func isNumber(b []byte) bool {
	if len(b) > 0 && (b[len(b)-1]-'0' > 9 || b[0] != '-' && b[0]-'0' > 9) {
		return false
	}
	return json.Valid(b)
}

// unquoteJSON returns the text of the JSON string raw, which has its quotes.
// ok is false if it has a wrong escape or is not UTF-8.
func unquoteJSON(raw []byte) (text []byte, ok bool) {
	text = raw[1 : len(raw)-1]
	if !utf8.Valid(text) {
		return nil, false
	}
	if bytes.IndexByte(text, '\\') < 0 {
		return text, true
	}
	var s string
	if json.Unmarshal(raw, &s) != nil {
		return nil, false
	}
	return []byte(s), true
}
