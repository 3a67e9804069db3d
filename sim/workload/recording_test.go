package workload

import (
	"io"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

// TestRecordingsReplayTheTrace holds that a recording yields what the trace does,
// as often as it is asked, with its prefix hashes.
func TestRecordingsReplayTheTrace(t *testing.T) {
	text := `{"timestamp": 0, "input_length": 700, "output_length": 5, "hash_ids": [1, 2]}
{"timestamp": 40, "input_length": 900, "output_length": 6, "hash_ids": [1, 3]}
{"timestamp": 40, "input_length": 10, "output_length": 7, "hash_ids": [4]}
`
	opened := func() *Trace {
		tr, err := Read(strings.NewReader(text), "t.jsonl", Options{})
		if err != nil {
			t.Fatal(err)
		}
		return tr
	}
	all := func(src Source) []Request {
		var list []Request
		for {
			r, err := src.Next()
			if err == io.EOF {
				return list
			}
			if err != nil {
				t.Fatal(err)
			}
			r.Blocks = append([]uint64{}, r.Blocks...)
			list = append(list, r)
		}
	}
	tr := opened()
	want := all(tr)
	r, err := ReadWhole(opened(), 3)
	if err != nil || r == nil {
		t.Fatalf("%v, %v", r, err)
	}
	for range 2 {
		if diff := cmp.Diff(want, all(r.Replay())); diff != "" {
			t.Error(diff)
		}
	}
	if diff := cmp.Diff(tr.Report(), r.Report()); diff != "" || len(want) != 3 {
		t.Errorf("%d requests %s", len(want), diff)
	}
	if r, err := ReadWhole(opened(), 2); r != nil || err != nil {
		t.Errorf("three requests in the memory of two: %v, %v", r, err)
	}
	text += "{\"timestamp\": 1}\n"
	if _, err := ReadWhole(opened(), 9); err == nil {
		t.Error("a broken row is recorded")
	}
}
