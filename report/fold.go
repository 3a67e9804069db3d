package report

import (
	"fmt"
	"strings"
	"unicode/utf8"
)

// Width is the most columns of a line of text that can be folded, whatever the
// terminal, so that the same run prints the same bytes. Tables aren't folded.
const Width = 80

// Hang is the number of columns of an item's name, under which nothing else stands.
const Hang = 12

// Item returns the lines of an item: its name, and beside it its text, folded.
func Item(name, text string) string {
	return Fold(fmt.Sprintf("%-*s%s", Hang, name, text), Hang) + "\n"
}

// Fold breaks a line into lines of at most Width columns, those after the first
// behind hang spaces. It breaks after a comma or semicolon if that leaves no
// line less than two thirds full, else at a space, one between a number and its unit
// only if there is no other, and never within a word: one that is longer than a
// line stands on its own.
func Fold(line string, hang int) string {
	line = strings.TrimRight(line, " ")
	indent := strings.Repeat(" ", hang)
	var b strings.Builder
	for utf8.RuneCountInString(line) > Width {
		at := foldAt(line, hang)
		if at < 0 {
			break
		}
		b.WriteString(strings.TrimRight(line[:at], " ") + "\n")
		line = indent + strings.TrimLeft(line[at:], " ")
	}
	return b.String() + line
}

// foldAt returns the index of the space at which to break line, or -1. It is
// beyond the hanging indent.
func foldAt(line string, hang int) int {
	list, space, number, column := -1, -1, -1, 0
	for i, c := range line {
		if column > Width && max(list, space, number) >= 0 {
			break
		}
		if c == ' ' && column > hang && line[i-1] != ' ' {
			switch before := line[i-1]; {
			case (before == ',' || before == ';') && column > Width*2/3:
				list, space = i, i
			case before >= '0' && before <= '9':
				number = i
			default:
				space = i
			}
		}
		column++
	}
	for _, at := range []int{list, space, number} {
		if at >= 0 {
			return at
		}
	}
	return -1
}
