package workload

import (
	"bytes"
	"errors"
	"fmt"
	"math"
	"testing"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"

	"servesim/sim"
)

// drawRequests draws requests that a source may yield, with every field in use.
func drawRequests(t *rapid.T, most int) []Request {
	var all []Request
	at := sim.Time(0)
	for i := range rapid.IntRange(1, most).Draw(t, "requests") {
		if i > 0 {
			at = at.Add(sim.Duration(rapid.Int64Range(0, int64(sim.Hour)).Draw(t, "gap")))
		}
		r := Request{
			ID: int64(i), Arrival: at,
			Prompt:   rapid.Int32Range(1, 100_000).Draw(t, "prompt"),
			Output:   rapid.Int32Range(1, 5000).Draw(t, "output"),
			Session:  rapid.Int64Range(0, 5).Draw(t, "session"),
			Class:    rapid.SampledFrom([]string{"", "chat", "a \"b\" \\ \n é <&>"}).Draw(t, "class"),
			Priority: rapid.Int32().Draw(t, "priority"),
			Cancel:   sim.Duration(rapid.Int64Range(0, int64(sim.MaxDuration)).Draw(t, "cancel")),
		}
		if rapid.Bool().Draw(t, "named") {
			r.Name = fmt.Sprintf("%s%d", rapid.SampledFrom([]string{"", "r", "0", "-"}).Draw(t, "prefix"), i)
		}
		if rapid.Bool().Draw(t, "hashed") {
			r.BlockTokens = rapid.Int32Range(1, 1024).Draw(t, "block")
			r.Blocks = rapid.SliceOfN(rapid.Uint64(), 1, min(5, ceilDiv(r.Prompt, r.BlockTokens))).Draw(t, "blocks")
		}
		all = append(all, r)
	}
	return all
}

func TestWriterRoundTrip(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		want := drawRequests(t, 6)
		source := rapid.String().Draw(t, "source")
		var file bytes.Buffer
		w := NewWriter(&file, source)
		for i := range want {
			if err := w.Write(&want[i]); err != nil {
				t.Fatal(err)
			}
			want[i].Line = int64(i + 2)
		}
		if err := w.Flush(); err != nil {
			t.Fatal(err)
		}
		text := file.String()
		got, report, err := readText(text, Options{})
		if diff := cmp.Diff(want, got); err != nil || diff != "" {
			t.Fatalf("%v\n%s\n%s", err, text, diff)
		}
		if report.Origin != source || report.Format != jsonName {
			t.Errorf("origin %q, format %s", report.Origin, report.Format)
		}
	})
}

func TestWriterText(t *testing.T) {
	var file bytes.Buffer
	w := NewWriter(&file, "by hand")
	for _, r := range []Request{
		{Prompt: 5, Output: 7},
		{Arrival: sim.Time(1500 * sim.Millisecond), Name: "x", Prompt: 5, Output: 7, Session: 2, Class: "chat", Priority: -1,
			Cancel: sim.Picosecond, Blocks: []uint64{1, math.MaxUint64}, BlockTokens: 4},
	} {
		if err := w.Write(&r); err != nil {
			t.Fatal(err)
		}
	}
	if err := w.Flush(); err != nil {
		t.Fatal(err)
	}
	want := `{"schema":1,"source":"by hand"}
{"arrival":0,"prompt":5,"output":7}
{"id":"x","arrival":1.5,"prompt":5,"output":7,"session":2,"class":"chat","priority":-1,"cancel":0.000000000001,"blocks":[1,18446744073709551615],"block_tokens":4}
`
	if diff := cmp.Diff(want, file.String()); diff != "" {
		t.Error(diff)
	}
}

func TestWriterOfNothingIsAHeader(t *testing.T) {
	var file bytes.Buffer
	if err := NewWriter(&file, "").Flush(); err != nil || file.String() != "{\"schema\":1}\n" {
		t.Errorf("%v %q", err, file.String())
	}
}

type fullDisk struct{}

func (fullDisk) Write([]byte) (int, error) { return 0, errors.New("no space left on device") }

func TestWriterFaults(t *testing.T) {
	good := Request{ID: 3, Prompt: 1, Output: 1, Arrival: 5}
	for want, spoil := range map[string]func(*Request){
		"request 3: 0 prompt and 1 output tokens, want at least 1 of each":                func(r *Request) { r.Prompt = 0 },
		"request 3: it arrives at 4ps, want 0 or later, and not before the last one, 5ps": func(r *Request) { r.Arrival = 4 },
		"request 3: the id \"\\xff\" or the class \"\" is not UTF-8":                      func(r *Request) { r.Name = "\xff" },
		"request 3: 2 prefix blocks of 1 tokens for a prompt of 1":                        func(r *Request) { r.Blocks, r.BlockTokens = []uint64{1, 2}, 1 },
		"request 3: session -1 and cancel 0s, want 0 or more":                             func(r *Request) { r.Session = -1 },
	} {
		w := NewWriter(&bytes.Buffer{}, "")
		first, bad := good, good
		if err := w.Write(&first); err != nil {
			t.Fatal(err)
		}
		spoil(&bad)
		if err := w.Write(&bad); err == nil || err.Error() != want {
			t.Errorf("got %v, want %s", err, want)
		}
	}
	w := NewWriter(fullDisk{}, "")
	if err := errors.Join(w.Write(&good), w.Flush()); err == nil {
		t.Error("a full disk is no error")
	}
}

// Ids are known again however they are spelled and ordered.
func TestIDSetEqualsMap(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		ids := rapid.SliceOf(rapid.OneOf(rapid.StringMatching(`[0-9]`), rapid.StringMatching(`[0-9]{2}`), rapid.StringMatching(`-?[ab]`))).Draw(t, "ids")
		var set idSet
		lines := map[string]int64{}
		next := 0
		for i, id := range ids {
			line := int64(i + 1)
			if rapid.Bool().Draw(t, "count up") {
				id = fmt.Sprint(next)
				next++
			}
			earlier, ok := set.add(id, line)
			if want, known := lines[id]; ok == known || known && earlier != want {
				t.Fatalf("%q on line %d: %d %v, want %d", id, line, earlier, ok, want)
			}
			if ok {
				lines[id] = line
			}
		}
	})
}
