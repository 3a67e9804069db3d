package workload

import (
	"bufio"
	"encoding/json"
	"fmt"
	"io"
	"strconv"
	"unicode/utf8"

	"servesim/internal/exact"
	"servesim/internal/infile"
	"servesim/sim"
)

// Writer writes requests in servesim's own format, which Read reads back: the
// same requests but for Line, and for Arrival if the first is not at 0.
type Writer struct {
	out   *bufio.Writer
	buf   []byte
	last  sim.Time
	begun bool
}

// NewWriter returns a Writer to w that begins with a header. source says where
// the trace comes from; it may be empty and must be UTF-8.
func NewWriter(w io.Writer, source string) *Writer {
	out := &Writer{out: bufio.NewWriterSize(w, infile.BufferBytes)}
	out.buf = append(out.buf, `{"schema":`...)
	out.buf = strconv.AppendInt(out.buf, jsonSchema, 10)
	if source != "" {
		out.buf = appendQuoted(append(out.buf, `,"source":`...), source)
	}
	out.buf = append(out.buf, "}\n"...)
	return out
}

// Write writes r. The error is that of the underlying writer, or says what in r
// no trace can hold: no tokens, an arrival before the last one, text that is
// not UTF-8, or hashes that do not fit the prompt.
func (w *Writer) Write(r *Request) error {
	if err := w.check(r); err != nil {
		return fmt.Errorf("request %d: %w", r.ID, err)
	}
	w.last, w.begun = r.Arrival, true
	b := append(w.buf, '{')
	if r.Name != "" {
		b = append(appendQuoted(append(b, `"id":`...), r.Name), ',')
	}
	b = exact.FromDuration(sim.Duration(r.Arrival)).Append(append(b, `"arrival":`...))
	b = strconv.AppendInt(append(b, `,"prompt":`...), int64(r.Prompt), 10)
	b = strconv.AppendInt(append(b, `,"output":`...), int64(r.Output), 10)
	if r.Session != 0 {
		b = strconv.AppendInt(append(b, `,"session":`...), r.Session, 10)
	}
	if r.Class != "" {
		b = appendQuoted(append(b, `,"class":`...), r.Class)
	}
	if r.Priority != 0 {
		b = strconv.AppendInt(append(b, `,"priority":`...), int64(r.Priority), 10)
	}
	if r.Cancel != 0 {
		b = exact.FromDuration(r.Cancel).Append(append(b, `,"cancel":`...))
	}
	if len(r.Blocks) > 0 {
		b = append(b, `,"blocks":[`...)
		for i, hash := range r.Blocks {
			if i > 0 {
				b = append(b, ',')
			}
			b = strconv.AppendUint(b, hash, 10)
		}
		b = strconv.AppendInt(append(b, `],"block_tokens":`...), int64(r.BlockTokens), 10)
	}
	b = append(b, "}\n"...)
	w.buf = b[:0]
	_, err := w.out.Write(b)
	return err
}

// check returns why r cannot be written.
func (w *Writer) check(r *Request) error {
	switch {
	case r.Prompt < 1 || r.Output < 1:
		return fmt.Errorf("%d prompt and %d output tokens, want at least 1 of each", r.Prompt, r.Output)
	case r.Arrival < 0 || w.begun && r.Arrival < w.last:
		return fmt.Errorf("it arrives at %v, want 0 or later, and not before the last one, %v", r.Arrival, w.last)
	case r.Session < 0 || r.Cancel < 0:
		return fmt.Errorf("session %d and cancel %v, want 0 or more", r.Session, r.Cancel)
	case !utf8.ValidString(r.Name) || !utf8.ValidString(r.Class):
		return fmt.Errorf("the id %q or the class %q is not UTF-8", r.Name, r.Class)
	case len(r.Blocks) > 0 && (r.BlockTokens < 1 || len(r.Blocks) > ceilDiv(r.Prompt, r.BlockTokens)):
		return fmt.Errorf("%d prefix blocks of %d tokens for a prompt of %d", len(r.Blocks), r.BlockTokens, r.Prompt)
	}
	return nil
}

// Flush writes what is buffered, the header if no request was written.
func (w *Writer) Flush() error {
	if _, err := w.out.Write(w.buf); err != nil {
		return err
	}
	w.buf = w.buf[:0]
	return w.out.Flush()
}

// appendQuoted appends s as a JSON string.
func appendQuoted(b []byte, s string) []byte {
	for i := range len(s) {
		if c := s[i]; c < ' ' || c == '"' || c == '\\' {
			quoted, _ := json.Marshal(s) // a string never fails
			return append(b, quoted...)
		}
	}
	return append(append(append(b, '"'), s...), '"')
}
