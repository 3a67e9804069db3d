package gpu

import "strings"

// keyLines returns the line, counted from 1, on which a TOML text first gives a
// value to each dotted key or opens a table of that name or below it. It looks
// at line starts only, so it is right for files written one key a line.
func keyLines(text string) map[string]int {
	lines := map[string]int{}
	table, n := "", 0
	for line := range strings.Lines(text) {
		n++
		line = strings.TrimSpace(line)
		if strings.HasPrefix(line, "[") {
			name, _, _ := strings.Cut(line[1:], "]")
			table = plainKey(name)
			note(lines, table, n)
			for i := range len(table) {
				if table[i] == '.' {
					note(lines, table[:i], n)
				}
			}
		} else if name, _, isPair := strings.Cut(line, "="); isPair {
			note(lines, join(table, plainKey(name)), n)
		}
	}
	return lines
}

// note sets the line of key unless it is known.
func note(lines map[string]int, key string, line int) {
	if _, ok := lines[key]; !ok {
		lines[key] = line
	}
}

// plainKey returns a dotted key without quotes and spaces.
func plainKey(s string) string {
	return strings.Map(func(r rune) rune {
		if strings.ContainsRune("\"' \t", r) {
			return -1
		}
		return r
	}, s)
}

// nearest returns the name of known that takes the fewest edits to reach, if
// that is at most a third of its letters, at least 2.
func nearest(name string, known []string) (best string, ok bool) {
	least := 1 << 30
	for _, k := range known {
		if n := edits(strings.ToLower(name), strings.ToLower(k)); n < least {
			best, least = k, n
		}
	}
	return best, least <= max(2, len(best)/3)
}

// edits returns the Levenshtein distance of a and b: the least number of single
// bytes to insert, delete or replace that turns one into the other.
func edits(a, b string) int {
	row := make([]int, len(b)+1)
	for j := range row {
		row[j] = j
	}
	for i := range len(a) {
		diagonal := row[0]
		row[0] = i + 1
		for j := range len(b) {
			replace := diagonal
			if a[i] != b[j] {
				replace++
			}
			diagonal = row[j+1]
			row[j+1] = min(replace, row[j]+1, row[j+1]+1)
		}
	}
	return row[len(b)]
}
