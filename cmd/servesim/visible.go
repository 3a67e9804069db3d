package main

import (
	"fmt"
	"io"
	"strings"
	"unicode"
	"unicode/utf16"
	"unicode/utf8"
)

// A plainWriter is a writer that lets through characters that show, spaces and ends of
// lines. Names in files are anybody's: others, with which a terminal does something or
// text turns around, are written as visible has them, so that JSON stays the same values.
type plainWriter struct {
	out  io.Writer
	rest []byte // the begin of a character whose end hasn't come
}

// Write implements io.Writer.
func (p *plainWriter) Write(b []byte) (int, error) {
	all := append(p.rest, b...)
	whole := len(all)
	for back := 1; back < utf8.UTFMax && back <= len(all); back++ {
		if start := len(all) - back; utf8.RuneStart(all[start]) {
			if !utf8.FullRune(all[start:]) {
				whole = start
			}
			break
		}
	}
	text := string(all[:whole])
	p.rest = append(p.rest[:0], all[whole:]...)
	if _, err := io.WriteString(p.out, visible(text)); err != nil {
		return 0, err
	}
	return len(b), nil
}

// flush writes what is left of a last character.
func (p *plainWriter) flush() error {
	rest := visible(string(p.rest))
	p.rest = nil
	_, err := io.WriteString(p.out, rest)
	return err
}

// visible returns text with each character that doesn't show as JSON escapes it, such as
// \u001b, and what is no character as U+FFFD.
func visible(text string) string {
	if strings.IndexFunc(text, hidden) < 0 && utf8.ValidString(text) {
		return text
	}
	var b strings.Builder
	for _, r := range text {
		switch {
		case !hidden(r):
			b.WriteRune(r)
		case r > 0xFFFF:
			high, low := utf16.EncodeRune(r)
			fmt.Fprintf(&b, `\u%04x\u%04x`, high, low)
		default:
			fmt.Fprintf(&b, `\u%04x`, r)
		}
	}
	return b.String()
}

// hidden tells whether r is a character that doesn't show.
func hidden(r rune) bool {
	return r != '\n' && r != '\t' && !unicode.IsPrint(r) && !unicode.Is(unicode.Zs, r)
}
