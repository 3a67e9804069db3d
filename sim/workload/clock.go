package workload

import (
	"bytes"
	"fmt"

	"servesim/internal/exact"
	"servesim/internal/infile"
)

// wallClock reads a column of wall-clock stamps, all of which have a zone, or
// none.
type wallClock struct {
	parser stampParser
	seen   bool
	zoned  bool
	line   int64 // of the first stamp
}

// wantStamp is what a field of stamps may hold.
const wantStamp = "a date and time such as 2023-11-16 18:15:46.68059 or 2024-10-15T12:00:00.269Z"

// at reads column c of t.
func (w *wallClock) at(t *table, c int) (exact.Instant, error) {
	at, zoned, ok := w.parser.parse(t.fields[c])
	if !ok {
		at, zoned, ok = w.parser.parse(bytes.TrimSpace(t.fields[c]))
	}
	if !ok {
		return exact.Instant{}, t.in.fault(t.names[c], infile.Quote(t.fields[c]), wantStamp, "")
	}
	if !w.seen {
		w.seen, w.zoned, w.line = true, zoned, t.in.line
	}
	if zoned != w.zoned {
		here, first := "no zone", "one"
		if zoned {
			here, first = "a zone", "none"
		}
		return exact.Instant{}, t.in.fault(t.names[c], fmt.Sprintf("%s with %s", infile.Quote(t.fields[c]), here),
			fmt.Sprintf("one kind in the whole file: line %d has %s", w.line, first), "")
	}
	return at, nil
}
