package strict

import (
	"fmt"
	"strconv"
	"strings"
	"unicode"
)

// Nearest returns the name closest to word by edit distance, of those at most
// a third of word's length away (but always those 2 away); ok is false if
// there is none. A name with digits, such as h100 or vllm@0.11, is near only to a
// word with the same digits and first letter: a100 and vllm@0.9 are no misspelt
// names of these but other things.
func Nearest(word string, names []string) (best string, ok bool) {
	limit := max(2, len(word)/3)
	for _, name := range names {
		w, n := strings.ToLower(word), strings.ToLower(name)
		if digits(n) != "" && (w == "" || w[0] != n[0] || digits(w) != digits(n)) {
			continue
		}
		if d := distance(w, n); d <= limit {
			best, ok, limit = name, true, d-1
		}
	}
	return best, ok
}

// Unlike returns what to say about a word that isn't one of names: the nearest
// name if one is near, otherwise those few that word is a part of whatever the
// case and the signs, otherwise all of them.
func Unlike(word string, names []string) string {
	if name, ok := Nearest(word, names); ok {
		return fmt.Sprintf("did you mean %q?", name)
	}
	if len(names) == 0 {
		return "nothing is allowed here"
	}
	if with := containing(word, names); len(with) > 0 && len(with) < len(names) {
		return fmt.Sprintf("did you mean %s?", strings.Join(with, " or "))
	}
	return "allowed are " + strings.Join(names, ", ")
}

// minPart is the number of letters and digits below which a word is a part of
// too much.
const minPart = 3

// containing returns the names that word is a part of, quoted.
func containing(word string, names []string) []string {
	part := kept(word, isLetterOrDigit)
	if len(part) < minPart {
		return nil
	}
	var with []string
	for _, name := range names {
		if strings.Contains(kept(name, isLetterOrDigit), part) {
			with = append(with, strconv.Quote(name))
		}
	}
	return with
}

// digits returns the digits of s.
func digits(s string) string {
	return kept(s, func(r rune) bool { return r >= '0' && r <= '9' })
}

// isLetterOrDigit tells letters and digits from signs.
func isLetterOrDigit(r rune) bool { return unicode.IsLetter(r) || unicode.IsDigit(r) }

// kept returns s in lower case without the characters that keep doesn't want.
func kept(s string, keep func(rune) bool) string {
	return strings.Map(func(r rune) rune {
		if keep(r) {
			return r
		}
		return -1
	}, strings.ToLower(s))
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
