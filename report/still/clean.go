package still

import (
	"strings"
	"unicode"
	"unicode/utf8"
)

const (
	// mostRunes is the most characters of a name that are drawn.
	mostRunes = 60
	// mostName is the most of a name beside a bar.
	mostName = 32
	// mostTitle is the most of a title, and mostCaption that of a caption.
	mostTitle   = 110
	mostCaption = 2000
)

// clean returns text as it can be drawn and stand in XML: what isn't a character that
// shows, such as a control character, half of one, or one that turns the direction of
// text around, is replaced by U+FFFD, and every space by a plain one.
func clean(text string) string {
	return strings.Map(func(r rune) rune {
		switch {
		case r == utf8.RuneError, !unicode.IsPrint(r) && !unicode.IsSpace(r):
			return utf8.RuneError
		case unicode.IsSpace(r):
			return ' '
		}
		return r
	}, strings.ToValidUTF8(text, string(utf8.RuneError)))
}

// short returns text cleaned, and cut to a length that has room as a name.
func short(text string) string { return cut(text, mostRunes) }

// cut returns text cleaned, and cut to most characters.
func cut(text string, most int) string {
	runes := []rune(clean(text))
	if len(runes) > most {
		runes = append(runes[:most-1], '…')
	}
	return string(runes)
}
