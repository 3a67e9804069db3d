package workload

import (
	"bytes"
	"fmt"
	"strings"
	"unicode/utf8"

	"servesim/internal/exact"
	"servesim/internal/infile"
)

// table reads a CSV file whose first line names its columns. Fields may be
// quoted as RFC 4180 has it, but must end on their line.
type table struct {
	in     *lineReader
	sep    byte
	names  []string // as in the header, without spaces around
	used   []bool   // the columns that somebody asked for
	fields [][]byte // of the last row
	plain  []byte   // holds fields that had doubled quotes
}

// openTable reads the header of a CSV file.
func openTable(in *lineReader) (*table, error) {
	head, err := in.next()
	if err != nil {
		return nil, err
	}
	t := &table{in: in, sep: separatorOf(head)}
	if err := t.split(head); err != nil {
		return nil, err
	}
	for _, f := range t.fields {
		if !utf8.Valid(f) {
			return nil, in.fault("", infile.Quote(f)+" in the header", "text in UTF-8", "save the file as UTF-8")
		}
		t.names = append(t.names, string(bytes.TrimSpace(f)))
	}
	t.used = make([]bool, len(t.names))
	return t, nil
}

// separatorOf returns the byte of comma, semicolon and tab that is most
// frequent in a header, the first of them where that is a draw.
func separatorOf(head []byte) byte {
	best, most := byte(','), 0
	for _, sep := range []byte(",;\t") {
		if n := bytes.Count(head, []byte{sep}); n > most {
			best, most = sep, n
		}
	}
	return best
}

// next reads the next row into fields.
func (t *table) next() error {
	line, err := t.in.next()
	if err != nil {
		return err
	}
	if err := t.split(line); err != nil {
		return err
	}
	if len(t.fields) != len(t.names) {
		return t.in.fault("", fmt.Sprintf("%d fields in %s", len(t.fields), infile.Quote(line)),
			fmt.Sprintf("%d, one for each column of the header", len(t.names)), "")
	}
	return nil
}

// split cuts line into fields.
func (t *table) split(line []byte) error {
	t.fields = t.fields[:0]
	from := 0
	for i, c := range line {
		if c == t.sep {
			t.fields = append(t.fields, line[from:i])
			from = i + 1
		} else if c == '"' {
			return t.splitQuoted(line)
		}
	}
	t.fields = append(t.fields, line[from:])
	return nil
}

// splitQuoted cuts a line that has quotes.
func (t *table) splitQuoted(line []byte) error {
	t.fields, t.plain = t.fields[:0], t.plain[:0]
	rest := line
	for {
		field, tail, ok := t.quotedField(rest)
		if !ok {
			return t.in.fault("", "a quoted field without its end in "+infile.Quote(line),
				"a closing quote on the same line, followed by a separator", "")
		}
		t.fields = append(t.fields, field)
		if tail == nil {
			return nil
		}
		rest = tail[1:]
	}
}

// quotedField reads the field at the start of b and returns what follows it,
// from its separator on, or nil at the end of the line.
func (t *table) quotedField(b []byte) (field, tail []byte, ok bool) {
	if len(b) == 0 || b[0] != '"' {
		if i := bytes.IndexByte(b, t.sep); i >= 0 {
			return b[:i], b[i:], true
		}
		return b, nil, true
	}
	from := len(t.plain)
	for i := 1; i < len(b); i++ {
		if b[i] != '"' {
			t.plain = append(t.plain, b[i])
			continue
		}
		if i+1 < len(b) && b[i+1] == '"' {
			t.plain = append(t.plain, '"')
			i++
			continue
		}
		field, tail = t.plain[from:len(t.plain):len(t.plain)], b[i+1:]
		if len(tail) == 0 {
			return field, nil, true
		}
		return field, tail, tail[0] == t.sep
	}
	return nil, nil, false
}

// column finds the column called by one of names, whatever its case, and
// returns its number, or -1 if there is none.
func (t *table) column(names ...string) (int, error) {
	found := -1
	for i, have := range t.names {
		for _, name := range names {
			if !strings.EqualFold(have, name) {
				continue
			}
			if found >= 0 {
				return -1, t.in.fault(have, fmt.Sprintf("columns %d and %d of that name", found+1, i+1), "one", "")
			}
			found = i
		}
	}
	if found >= 0 {
		t.used[found] = true
	}
	return found, nil
}

// need finds the columns that wants names, each by the first of its names that
// the header has. The error names what is missing and what there is.
func (t *table) need(wants ...[]string) ([]int, error) {
	var missing []string
	found := make([]int, len(wants))
	for i, names := range wants {
		c, err := t.column(names...)
		if err != nil {
			return nil, err
		}
		if c < 0 {
			missing = append(missing, strings.Join(names, " or "))
		}
		found[i] = c
	}
	if missing == nil {
		return found, nil
	}
	return nil, t.in.fault("", "the columns "+t.header(), "also "+infile.List(missing, "and"), headerHint(t.names))
}

// needEach finds the columns called names.
func (t *table) needEach(names ...string) ([]int, error) {
	wants := make([][]string, len(names))
	for i, name := range names {
		wants[i] = []string{name}
	}
	return t.need(wants...)
}

// header lists the names of the columns for an error.
func (t *table) header() string {
	quoted := make([]string, len(t.names))
	for i, name := range t.names {
		quoted[i] = infile.Quote([]byte(name))
	}
	if len(quoted) > 12 {
		quoted = append(quoted[:11], fmt.Sprintf("%d more", len(quoted)-11))
	}
	return infile.List(quoted, "and")
}

// headerHint returns advice for a first line that is a row and not a header.
func headerHint(names []string) string {
	for _, name := range names {
		if name != "" && (name[0] < '0' || name[0] > '9') {
			return ""
		}
	}
	return "the first line must name the columns, because they are found by name and never by place"
}

// ignored lists the names of the columns that nobody asked for.
func (t *table) ignored() []string {
	var names []string
	for i, name := range t.names {
		if !t.used[i] && name != "" {
			names = append(names, name)
		}
	}
	return names
}

// wantTokens is what a field of tokens may hold.
const wantTokens = "a whole number of tokens from 1 to 2147483647"

// tokens reads column c as a number of tokens, which may be 0.
func (t *table) tokens(c int) (int32, error) {
	if n, ok := parseCount(t.fields[c]); ok {
		return n, nil
	}
	if n, ok := parseCount(bytes.TrimSpace(t.fields[c])); ok {
		return n, nil
	}
	return 0, t.in.fault(t.names[c], infile.Quote(t.fields[c]), wantTokens, "")
}

// wantTime is what a field of times in u may hold.
func wantTime(u exact.Unit) string {
	return fmt.Sprintf("a time in %s, a number from 0 to 9e18", u.Name())
}

// at reads column c as a time in u since the start of the trace.
func (t *table) at(c int, u exact.Unit) (exact.Instant, error) {
	if at, ok := u.Parse(t.fields[c]); ok {
		return at, nil
	}
	if at, ok := u.Parse(bytes.TrimSpace(t.fields[c])); ok {
		return at, nil
	}
	return exact.Instant{}, t.in.fault(t.names[c], infile.Quote(t.fields[c]), wantTime(u), "")
}

// interner interns the text of a trace: equal text shares one string, and each
// has a number from 1 in order of appearance.
type interner struct {
	number map[string]int64
	text   []string
}

// of returns the string that equals b and its number; the empty one is 0.
func (n *interner) of(b []byte) (string, int64) {
	if len(b) == 0 {
		return "", 0
	}
	if i, ok := n.number[string(b)]; ok {
		return n.text[i-1], i
	}
	if n.number == nil {
		n.number = map[string]int64{}
	}
	s := string(b)
	n.text = append(n.text, s)
	n.number[s] = int64(len(n.text))
	return s, int64(len(n.text))
}
