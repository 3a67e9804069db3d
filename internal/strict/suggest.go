package strict

import (
	"fmt"
	"strings"
)

// Nearest returns the name closest to word by edit distance, of those at most
// a third of word's length away (but always those 2 away); ok is false if
// there is none.
func Nearest(word string, names []string) (best string, ok bool) {
	limit := max(2, len(word)/3)
	for _, name := range names {
		if d := distance(strings.ToLower(word), strings.ToLower(name)); d <= limit {
			best, ok, limit = name, true, d-1
		}
	}
	return best, ok
}

// Unlike returns what to say about a word that isn't one of names: the nearest
// name if one is near, all of them otherwise.
func Unlike(word string, names []string) string {
	if name, ok := Nearest(word, names); ok {
		return fmt.Sprintf("did you mean %q?", name)
	}
	if len(names) == 0 {
		return "nothing is allowed here"
	}
	return "allowed are " + strings.Join(names, ", ")
}

// distance returns the number of insertions, deletions and replacements of
// bytes that turn a into b (Levenshtein 1966), by the two-row recurrence.
func distance(a, b string) int {
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
