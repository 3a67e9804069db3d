package workload

import (
	"bytes"
	"fmt"
	"strconv"
	"unicode/utf8"

	"servesim/internal/infile"
)

// idSet knows the ids of a trace and the lines they stand on. Numbers that
// count up by one on lines that follow each other, which is what most traces
// have, cost no memory; any other id costs its length and some 60 bytes.
type idSet struct {
	runs []idRun
	line map[string]int64
}

// idRun is the ids first to first+n-1, on the lines from line on.
type idRun struct{ first, n, line int64 }

// maxRuns is how many runs are kept: looking an id up takes time in proportion.
const maxRuns = 8

// add adds id, which stands on line. If it is known, ok is false and earlier
// is the line on which it stands.
func (s *idSet) add(id string, line int64) (earlier int64, ok bool) {
	if at, known := s.line[id]; known {
		return at, false
	}
	n, err := strconv.ParseInt(id, 10, 64)
	number := err == nil && n < 1<<62 && (id[0] >= '1' && id[0] <= '9' || id == "0")
	if number {
		for i := range s.runs {
			r := &s.runs[i]
			if n >= r.first && n < r.first+r.n {
				return r.line + n - r.first, false
			}
		}
		if last := len(s.runs) - 1; last >= 0 {
			if r := &s.runs[last]; n == r.first+r.n && line == r.line+r.n {
				r.n++
				return 0, true
			}
		}
		if len(s.runs) < maxRuns {
			s.runs = append(s.runs, idRun{n, 1, line})
			return 0, true
		}
	}
	if s.line == nil {
		s.line = map[string]int64{}
	}
	s.line[id] = line
	return 0, true
}

// known returns the fault of an id that stands on an earlier line too.
func (l *lineReader) known(field string, id string, earlier int64) error {
	return l.fault(field, fmt.Sprintf("%s again, which line %d has", infile.Quote([]byte(id)), earlier),
		"an id of its own for each request", "")
}

// name reads column c as the id of a request; an empty one is none.
func (t *table) name(c int, ids *idSet) (string, error) {
	text, err := t.text(c)
	if err != nil || len(text) == 0 {
		return "", err
	}
	id := string(text)
	if earlier, ok := ids.add(id, t.in.line); !ok {
		return "", t.in.known(t.names[c], id, earlier)
	}
	return id, nil
}

// label reads column c as one of a few words, which share their memory.
func (t *table) label(c int, words *interner) (string, error) {
	text, err := t.text(c)
	if err != nil {
		return "", err
	}
	s, _ := words.of(text)
	return s, nil
}

// text reads column c without the spaces around it.
func (t *table) text(c int) ([]byte, error) {
	text := bytes.TrimSpace(t.fields[c])
	if !utf8.Valid(text) {
		return nil, t.in.fault(t.names[c], infile.Quote(text), "text in UTF-8", "save the file as UTF-8")
	}
	return text, nil
}
