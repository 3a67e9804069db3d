package strict

import (
	"fmt"
	"strings"
	"sync"
)

// Where returns what tells where a key of a TOML document was written, as Decode
// wants it: file and line of the key, or of the nearest table around it that was
// written, or the file alone.
func Where(file, text string) func(key string) string {
	lines := sync.OnceValue(func() map[string]int { return keyLines(text) })
	return func(key string) string { return position(file, lines(), key) }
}

// keyLines returns the line, from 1, at which each dotted key and each table
// of a TOML document begins, the tables around it included. Members of an array of tables are a.b[0], a.b[1]
// and so on. The document is one that parses: the scan finds keys and nothing
// else, and a key inside an inline table has the line of the table's key.
func keyLines(text string) map[string]int {
	s := lineScan{lines: map[string]int{}, counts: map[string]int{}}
	for i, line := range strings.Split(text, "\n") {
		s.line(i+1, strings.TrimSpace(line))
	}
	return s.lines
}

// lineScan is the state of keyLines.
type lineScan struct {
	lines  map[string]int
	counts map[string]int // members of each array of tables
	table  string         // the table that is open
	closer string         // what ends the open multi-line string, or empty
	depth  int            // open brackets of a multi-line array
}

// line takes line n, trimmed.
func (s *lineScan) line(n int, line string) {
	if s.closer != "" || s.depth > 0 {
		s.value(line)
		return
	}
	switch {
	case line == "" || line[0] == '#':
	case strings.HasPrefix(line, "[["):
		name := s.qualify(splitKey(line[2:]), n)
		s.table = fmt.Sprintf("%s[%d]", name, s.counts[name])
		s.counts[name]++
		s.note(s.table, n)
	case line[0] == '[':
		s.table = s.qualify(splitKey(line[1:]), n)
	default:
		parts, rest := keyOf(line)
		key := s.table
		for _, p := range parts {
			key = join(key, p)
			s.note(key, n)
		}
		s.value(rest)
	}
}

// note keeps the first line of key.
func (s *lineScan) note(key string, n int) {
	if _, ok := s.lines[key]; !ok {
		s.lines[key] = n
	}
}

// qualify names the table that line n opens by its parts, and notes it and those
// around it: a part that names an array of tables means its latest member.
func (s *lineScan) qualify(parts []string, n int) string {
	name := ""
	for i, p := range parts {
		name = join(name, p)
		s.note(name, n)
		if c := s.counts[name]; c > 0 && i < len(parts)-1 {
			name = fmt.Sprintf("%s[%d]", name, c-1)
		}
	}
	return name
}

// value scans the text of a value for what goes on over the end of the line.
func (s *lineScan) value(text string) {
	for text != "" {
		if s.closer != "" {
			i := strings.Index(text, s.closer)
			if i < 0 {
				return
			}
			text, s.closer = text[i+len(s.closer):], ""
			continue
		}
		switch {
		case strings.HasPrefix(text, `"""`) || strings.HasPrefix(text, `'''`):
			s.closer, text = text[:3], text[3:]
			continue
		case text[0] == '"' || text[0] == '\'':
			_, text = quoted(text)
			continue
		case text[0] == '#':
			return
		case text[0] == '[' || text[0] == '{':
			s.depth++
		case text[0] == ']' || text[0] == '}':
			s.depth--
		}
		text = text[1:]
	}
}

// keyOf splits a line into the parts of its key and what follows the =.
func keyOf(line string) (parts []string, rest string) {
	parts, rest = keyParts(line)
	if i := strings.IndexByte(rest, '='); i >= 0 {
		rest = rest[i+1:]
	}
	return parts, rest
}

// splitKey returns the parts of the dotted key at the head of text.
func splitKey(text string) []string {
	parts, _ := keyParts(text)
	return parts
}

// keyParts reads the dotted key at the head of text and returns what follows.
func keyParts(text string) (parts []string, rest string) {
	for {
		text = strings.TrimLeft(text, " \t")
		if text == "" {
			return parts, ""
		}
		var part string
		if text[0] == '"' || text[0] == '\'' {
			part, text = quoted(text)
		} else {
			end := strings.IndexAny(text, ".=] \t")
			if end < 0 {
				end = len(text)
			}
			part, text = text[:end], text[end:]
		}
		parts = append(parts, part)
		text = strings.TrimLeft(text, " \t")
		if !strings.HasPrefix(text, ".") {
			return parts, text
		}
		text = text[1:]
	}
}

// quoted returns the content of the one-line string at the head of text, and
// what follows it.
func quoted(text string) (content, rest string) {
	for i := 1; i < len(text); i++ {
		switch {
		case text[i] == '\\' && text[0] == '"':
			i++
		case text[i] == text[0]:
			return text[1:i], text[i+1:]
		}
	}
	return text[1:], ""
}

// join puts a dot between two parts of a key.
func join(a, b string) string {
	if a == "" {
		return b
	}
	return a + "." + b
}

// position is what Where says of key.
func position(file string, lines map[string]int, key string) string {
	for key != "" {
		if n, ok := lines[key]; ok {
			return fmt.Sprintf("%s:%d", file, n)
		}
		i := strings.LastIndexAny(key, ".[")
		if i < 0 {
			break
		}
		key = key[:i]
	}
	return file
}
