package workload

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"strings"
	"testing"

	"servesim/internal/exact"
	"servesim/internal/infile"
)

// numbers is a Foreign of whole numbers, each the second of a request of 7 prompt
// and 3 output tokens, or of one to drop if it is 13.
func numbers() Foreign {
	return Foreign{
		Name: "numbers", Title: "numbers", Fields: []string{"n"},
		Is: func(head []byte) bool { return bytes.HasPrefix(head, []byte(`{"n":`)) },
		Read: func(text *infile.Text, name string, each func(Record)) ([]string, error) {
			all, err := io.ReadAll(text.In)
			for line := range strings.Lines(string(all)) {
				var n int64
				if _, err := fmt.Sscanf(line, `{"n":%d}`, &n); err != nil {
					return nil, errors.New("found no number")
				}
				rec := Record{Request: Request{Prompt: 7, Output: 3, Line: n}, At: exact.Instant{Sec: n}}
				if n == 13 {
					rec.Drop = "bad luck"
				}
				each(rec)
			}
			return []string{"read elsewhere"}, err
		},
	}
}

// TestForeignKeepsTheContract reads records in no order, the first of which that is
// a request arrives at 0.
func TestForeignKeepsTheContract(t *testing.T) {
	open := func() (Source, error) {
		return Read(strings.NewReader("{\"n\":30}\n{\"n\":13}\n{\"n\":20}\n{\"n\":20}\n"), "f", Options{Foreign: []Foreign{numbers()}})
	}
	all, err := sourceLaws(t, open)
	if err != nil || len(all) != 3 || all[0].Line != 20 || all[2].Arrival.Seconds() != 10 {
		t.Fatalf("%+v, %v", all, err)
	}
	src, err := open()
	if err != nil {
		t.Fatal(err)
	}
	if _, err := drain(src); err != nil {
		t.Fatal(err)
	}
	r := src.(*Trace).Report()
	if r.Format != "numbers" || r.Rows != 4 || r.Kept != 3 || r.OutOfOrder != 3 || r.Ties != 1 || len(r.Notes) != 1 || r.Dropped[0] != (Count{"bad luck", 1}) {
		t.Errorf("%+v", r)
	}
}

func TestForeignFaults(t *testing.T) {
	for text, want := range map[string]string{
		"{\"n\":x}\n":  "f: found no number",
		"{\"n\":13}\n": "f: found no request: 1 read, 1 dropped (bad luck), want at least one request",
	} {
		src, err := Read(strings.NewReader(text), "f", Options{Foreign: []Foreign{numbers()}})
		if err == nil {
			_, err = src.Next()
		}
		if err == nil || err.Error() != want {
			t.Errorf("%q: %v, want %s", text, err, want)
		}
	}
}
