package page

import (
	"strings"
	"unicode/utf8"

	"servesim/report"
)

// TextBlocks cuts text that verbs print for people into items and what stands as it is,
// tables in columns among it: a paragraph is items if each of its lines begins with a
// name and its text beside it, or goes on under the text before.
func TextBlocks(text string) (list []report.Block) {
	for _, paragraph := range strings.Split(strings.Trim(text, "\n"), "\n\n") {
		lines := strings.Split(strings.Trim(paragraph, "\n"), "\n")
		for len(lines) > 0 {
			n := items(lines)
			if n == 0 {
				list = append(list, report.Block{Text: prose(lines)})
				break
			}
			list = append(list, itemsOf(lines[:n])...)
			lines = lines[n:]
		}
	}
	return list
}

// prose joins lines that are sentences, folded, and leaves columns as they are.
func prose(lines []string) string {
	var words []string
	for _, line := range lines {
		if len(lines) > 1 {
			line = strings.TrimSpace(line)
		}
		if strings.Contains(line, "  ") {
			return strings.Join(lines, "\n")
		}
		words = append(words, line)
	}
	return strings.Join(words, " ")
}

// items returns how many lines from the first are items.
func items(lines []string) int {
	for i, line := range lines {
		name, text := beside(line)
		if text == "" || i == 0 && name == "" {
			return i
		}
	}
	return len(lines)
}

// beside cuts a line into the name at its beginning and the text at report.Hang. text
// is empty if it isn't an item's.
func beside(line string) (name, text string) {
	if len(line) <= report.Hang || line[report.Hang-1] != ' ' || line[report.Hang] == ' ' || !utf8.ValidString(line[:report.Hang]) {
		return "", ""
	}
	name = strings.TrimRight(line[:report.Hang], " ")
	if strings.HasPrefix(name, " ") || strings.Contains(name, "  ") {
		return "", ""
	}
	return name, line[report.Hang:]
}

// itemsOf returns lines of items as blocks, with the lines of each joined.
func itemsOf(lines []string) (list []report.Block) {
	for _, line := range lines {
		name, text := beside(line)
		if n := len(list); name == "" && n > 0 {
			list[n-1].Text += " " + text
			continue
		}
		list = append(list, report.Block{Item: true, Name: name, Text: text})
	}
	return list
}

// itemText returns the text of the first item of a name, empty if there is none.
func itemText(blocks []report.Block, name string) string {
	for _, b := range blocks {
		if b.Item && b.Name == name {
			return b.Text
		}
	}
	return ""
}
