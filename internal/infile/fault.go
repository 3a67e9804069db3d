package infile

import (
	"strconv"
	"strings"
	"unicode/utf8"
)

// Fault is something wrong with an input file: where it is, what was found
// there, what is allowed and how to put it right.
type Fault struct {
	// File is the path or name of the file.
	File string
	// Line is the line of the (decompressed) file, counted from 1, or 0 if the
	// fault is that of the whole file.
	Line int64
	// Field is the column, JSON path or option at fault, or empty.
	Field string
	// Found says what is there; text from the file is quoted.
	Found string
	// Want says what would be allowed, or is empty.
	Want string
	// Fix says how to put it right, or is empty.
	Fix string
	// Err is the error of the system or a library that lies behind, or nil.
	Err error
}

// Error returns "file:line: field: found …, want …; fix", without the parts
// that are empty. Of Faults that lie behind, it returns theirs alone.
func (f *Fault) Error() string {
	if all, ok := f.Err.(*Faults); ok {
		return all.Error()
	}
	var b strings.Builder
	b.WriteString(f.File)
	if f.Line > 0 {
		b.WriteString(":" + strconv.FormatInt(f.Line, 10))
	}
	if f.Field != "" {
		b.WriteString(": " + f.Field)
	}
	sep := ": "
	if f.Found != "" {
		b.WriteString(sep + "found " + f.Found)
		sep = ", "
	}
	if f.Want != "" {
		b.WriteString(sep + "want " + f.Want)
		sep = "; "
	}
	if f.Err != nil {
		b.WriteString(sep + f.Err.Error())
	}
	if f.Fix != "" {
		b.WriteString("; " + f.Fix)
	}
	return b.String()
}

// Unwrap returns Err.
func (f *Fault) Unwrap() error { return f.Err }

// maxQuote is the number of bytes of the file that a Fault quotes.
const maxQuote = 60

// Quote quotes the beginning of b for Fault.Found.
func Quote(b []byte) string {
	if len(b) <= maxQuote {
		return strconv.Quote(string(b))
	}
	cut := maxQuote
	for cut > maxQuote-utf8.UTFMax && !utf8.RuneStart(b[cut]) {
		cut--
	}
	return strconv.Quote(string(b[:cut])) + "…"
}

// List joins names for an error: "a, b and c".
func List(names []string, last string) string {
	switch len(names) {
	case 0:
		return "none"
	case 1:
		return names[0]
	}
	n := len(names) - 1
	return strings.Join(names[:n], ", ") + " " + last + " " + names[n]
}
