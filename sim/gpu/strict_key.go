package gpu

import "strings"

// keyLine returns the line, counted from 1, on which a TOML text gives a value
// to the dotted key or opens the table of that name, or 0 if it finds none. It
// looks at line starts only, so it is right for files written one key a line.
func keyLine(text, key string) int {
	table := ""
	n := 0
	for line := range strings.Lines(text) {
		n++
		line = strings.TrimSpace(line)
		if strings.HasPrefix(line, "[") {
			name, _, _ := strings.Cut(line[1:], "]")
			table = plainKey(name)
			if table == key || strings.HasPrefix(table, key+".") {
				return n
			}
			continue
		}
		name, _, isPair := strings.Cut(line, "=")
		if isPair && join(table, plainKey(name)) == key {
			return n
		}
	}
	return 0
}

// plainKey returns a dotted key without quotes and spaces.
func plainKey(s string) string {
	return strings.NewReplacer(`"`, "", "'", "", " ", "", "\t", "").Replace(s)
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
