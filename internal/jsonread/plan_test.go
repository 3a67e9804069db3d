package jsonread

import (
	"bytes"
	"encoding/json"
	"io"
	"strings"
	"testing"
	"testing/iotest"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"

	"servesim/internal/infile"
)

// digits is a number as it is written.
type digits string

func (d *digits) ReadNumber(text []byte) string {
	*d = digits(text)
	if strings.HasPrefix(string(text), "-") {
		return "a number that isn't below 0"
	}
	return ""
}

type record struct {
	Name   string             `json:"name" need:"yes"`
	Count  *digits            `json:"count"`
	Gaps   [][]digits         `json:"gaps"`
	Inner  struct{ B bool }   `json:"inner"`
	Values map[string]float64 `json:"values"`
	Plain  string             // without a tag it isn't read
}

// newReader returns a Reader of text.
func newReader(t testing.TB, text string, lines bool, faults *infile.Faults) *Reader {
	t.Helper()
	u, err := infile.Unwrap(strings.NewReader(text))
	if err != nil {
		t.Fatal(err)
	}
	return New(u, "f", lines, faults)
}

// inPieces makes r read a byte at a time, so that every value is cut somewhere.
func inPieces(r *Reader) *Reader {
	r.in = iotest.OneByteReader(r.in)
	return r
}

func readRecords(t testing.TB, text string, lines bool) ([]record, string) {
	t.Helper()
	var faults infile.Faults
	list := readAll(newReader(t, text, lines, &faults))
	if err := faults.Err(); err != nil {
		return list, err.Error()
	}
	return list, ""
}

func readAll(r *Reader) (list []record) {
	plan := NewPlan[record]()
	for r.Next() {
		var v record
		if plan.Read(r, &v) {
			list = append(list, v)
		}
	}
	return list
}

func TestPlanReadsWhatTagsSay(t *testing.T) {
	text := "\xef\xbb\xbf" + `{"unknown": [{"a": NaN}, "\"}", -Infinity, true, null], "name": "a\u00e9\n", "count": 1.50e3, "gaps": [[1, 2], null, []],` +
		"\n" + `"values": {"x": 1, "y": -2.5}, "Plain": "no"}` + "\n\n" + `{"name": "b", "count": null, "gaps": null}`
	got, faults := readRecords(t, text, false)
	count := digits("1.50e3")
	want := []record{
		{Name: "aé\n", Count: &count, Gaps: [][]digits{{"1", "2"}, nil, {}}, Values: map[string]float64{"x": 1, "y": -2.5}},
		{Name: "b"},
	}
	if diff := cmp.Diff(want, got); faults != "" || diff != "" {
		t.Errorf("%s %s", faults, diff)
	}
	var none infile.Faults
	if diff := cmp.Diff(want, readAll(inPieces(newReader(t, text, false, &none)))); none.Len() != 0 || diff != "" {
		t.Errorf("in pieces: %v %s", none.Err(), diff)
	}
}

func TestAllFaultsOfAFileAreTold(t *testing.T) {
	text := `{"name": 1, "count": "x", "gaps": [1, [-2, {}]], "inner": []}` + "\n" +
		`{"gaps": [[3}` + "\n" +
		`{"name": null, "name": "a", "inner": {}}` + "\n" +
		`{"name": "cut`
	_, got := readRecords(t, text, true)
	want := `f:1: name: found "1", want text in quotes
f:1: count: found "\"x\"", want a number
f:1: gaps[0]: found "1", want an array, in brackets
f:1: gaps[1][0]: found "-2", want a number that isn't below 0
f:1: gaps[1][1]: found an object, want a number
f:1: inner: found an array, want an object, in braces
f:2: gaps[0]: found "}", want a comma or the end of the array
f:3: name: found null, want a value
f:3: name: found the key twice, want once
f:4: name: found the end of the file, want the end of a text that has none; the file is cut off: copy or write it again`
	if diff := cmp.Diff(want, got); diff != "" {
		t.Error(diff)
	}
}

func TestManyFaultsAreCounted(t *testing.T) {
	_, got := readRecords(t, strings.Repeat("{}\n", 1000), true)
	if lines := strings.Split(got, "\n"); len(lines) != 21 || lines[20] != "f: and 980 more of them" {
		t.Error(got)
	}
}

func TestBrokenSyntax(t *testing.T) {
	for text, want := range map[string]string{
		`{"name" "a"}`:               `f:1: name: found "\"a\"}", want a colon after the key`,
		`{name: "a"}`:                `f:1: found "name: \"a\"}", want text in quotes`,
		`{"name": "a",}`:             `f:1: found "}", want text in quotes`,
		`{"name": "a" "b"}`:          `f:1: found "\"b\"}", want a comma or the end of the object`,
		`{"x": flase}`:               `f:1: x: found "flase", want a value`,
		`{"x": }`:                    `f:1: x: found "}", want a value`,
		`[1]`:                        `f:1: found an array, want an object, in braces`,
		"{\"name\": \"a\nb\"}":       `f:1: name: found "a\nb", want text without line ends and other control characters, which JSON escapes`,
		`{"name": "\x"}`:             `f:1: name: found "\\x", want text in UTF-8 with JSON's escapes`,
		`{"name": "` + "\xff" + `"}`: `f:1: name: found "\xff", want text in UTF-8 with JSON's escapes`,
		strings.Repeat(`[`, 300):     `f:1: found an array, want an object, in braces`,
	} {
		_, got := readRecords(t, text, false)
		if !strings.HasPrefix(got, want) {
			t.Errorf("%q: %s\nwant %s", text, got, want)
		}
	}
}

// TestTextsEqualEncodingJSON writes random values with encoding/json and reads
// their texts and numbers back.
func TestTextsEqualEncodingJSON(t *testing.T) {
	rapid.Check(t, func(rt *rapid.T) {
		want := map[string][]string{}
		for range rapid.IntRange(0, 4).Draw(rt, "keys") {
			want[rapid.String().Draw(rt, "key")] = rapid.SliceOfN(rapid.String(), 1, 4).Draw(rt, "texts")
		}
		data, err := json.MarshalIndent(map[string]any{"skipped": want, "read": want}, "", " ")
		if err != nil {
			rt.Fatal(err)
		}
		var faults infile.Faults
		var v struct {
			Read map[string][]string `json:"read"`
		}
		r := inPieces(newReader(t, string(data), false, &faults))
		if !NewPlan[struct {
			Read map[string][]string `json:"read"`
		}]().Read(r, &v) || r.Next() {
			rt.Fatalf("%s: %v", data, faults.Err())
		}
		if diff := cmp.Diff(want, v.Read); diff != "" {
			rt.Error(diff)
		}
	})
}

func TestBrokenReadsAreFaults(t *testing.T) {
	var faults infile.Faults
	u, err := infile.Unwrap(io.MultiReader(strings.NewReader(`{"name": "a"}{`), iotest.ErrReader(io.ErrUnexpectedEOF)))
	if err != nil {
		t.Fatal(err)
	}
	r := New(u, "f", false, &faults)
	var v record
	for plan := NewPlan[record](); r.Next(); {
		plan.Read(r, &v)
	}
	want := "f:1: reading stopped at byte 14: unexpected EOF; the file is cut off: copy or download it again"
	if err := faults.Err(); err == nil || err.Error() != want {
		t.Errorf("%v, want %s", err, want)
	}
}

func FuzzRead(f *testing.F) {
	f.Add([]byte(`{"name": "a", "gaps": [[1]], "x": {"y": [NaN, "\u00e9"]}}`))
	f.Fuzz(func(t *testing.T, data []byte) {
		got, faults := readRecords(t, string(data), false)
		again, same := readRecords(t, string(data), false)
		if diff := cmp.Diff(got, again); diff != "" || faults != same {
			t.Error(diff)
		}
		if len(got) == 1 && faults == "" && !json.Valid(data) && !strings.ContainsAny(string(data), "NI0123456789") && !bytes.Contains(data, []byte{0xef}) {
			t.Errorf("accepted %q", data)
		}
	})
}
