package analysis

import (
	"fmt"
	"strconv"
	"strings"
	"unicode"
	"unicode/utf8"
)

// tokenKind says what a token of a limit is.
type tokenKind uint8

// The kinds of tokens.
const (
	tokenEnd    tokenKind = iota
	tokenWord             // ttft, p99.9, for
	tokenNumber           // 800, 2.5
	tokenString           // "in quotes"
	tokenSign             // <= < : % and whatever is none of these
	tokenBreak            // , ; and line breaks
)

// token is a piece of the text of limits.
type token struct {
	kind tokenKind
	text string // of a string what is within its quotes
	at   int    // byte of the text at which it begins
	end  int    // byte after it
}

// wordStart tells whether c begins a word.
func wordStart(c rune) bool { return c == '_' || unicode.IsLetter(c) }

// wordRune tells whether c goes on with a word.
func wordRune(c rune) bool {
	return wordStart(c) || c >= '0' && c <= '9' || strings.ContainsRune(".-/@", c)
}

// lex cuts text into tokens, the last of them tokenEnd. What is no part of a limit
// becomes a sign by itself, for the parser to judge.
func lex(text string) []token {
	var list []token
	for i := 0; i < len(text); {
		c, size := utf8.DecodeRuneInString(text[i:])
		t := token{kind: tokenSign, at: i, end: i + size}
		switch {
		case strings.ContainsRune(",;\n", c):
			t.kind = tokenBreak
		case unicode.IsSpace(c):
			i += size
			continue
		case wordStart(c):
			t.kind, t.end = tokenWord, i+span(text[i:], wordRune)
		case c >= '0' && c <= '9' || c == '.':
			t.kind, t.end = tokenNumber, i+span(text[i:], func(r rune) bool { return r >= '0' && r <= '9' || r == '.' })
		case c == '"':
			if q, err := strconv.QuotedPrefix(text[i:]); err == nil {
				t.kind, t.end = tokenString, i+len(q)
			}
		case (c == '<' || c == '>' || c == '=') && strings.HasPrefix(text[i+1:], "="):
			t.end++
		}
		t.text = text[t.at:t.end]
		if t.kind == tokenString {
			t.text, _ = strconv.Unquote(t.text) // QuotedPrefix found it sound
		}
		list, i = append(list, t), t.end
	}
	return append(list, token{kind: tokenEnd, at: len(text), end: len(text)})
}

// span returns the number of bytes at the beginning of s whose characters are in set.
func span(s string, in func(rune) bool) int {
	if n := strings.IndexFunc(s, func(r rune) bool { return !in(r) }); n >= 0 {
		return n
	}
	return len(s)
}

// place says where in text byte at is: its column, and its line if there are several.
func place(text string, at int) string {
	before := text[:at]
	column := utf8.RuneCountInString(before[strings.LastIndexByte(before, '\n')+1:]) + 1
	if strings.Contains(strings.TrimSpace(text), "\n") {
		return fmt.Sprintf("line %d, column %d", strings.Count(before, "\n")+1, column)
	}
	return fmt.Sprintf("column %d", column)
}
