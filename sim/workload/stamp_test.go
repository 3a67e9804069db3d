package workload

import (
	"encoding/json"
	"strconv"
	"strings"
	"testing"
	"time"

	"pgregory.net/rapid"
)

// Every stamp that the standard library prints is read as it is meant.
func TestStampsEqualTimeFormat(t *testing.T) {
	layouts := []string{"2006-01-02 15:04:05.0000000", "2006-01-02 15:04:05", "2006-01-02 15:04:05.999999-07:00",
		"2006-01-02T15:04:05.000Z07:00", "2006-01-02T15:04:05.999999999-0700"}
	var p stampParser
	rapid.Check(t, func(t *rapid.T) {
		layout := rapid.SampledFrom(layouts).Draw(t, "layout")
		at := time.Unix(rapid.Int64Range(-62135596800, 253402300799-86400).Draw(t, "sec"), rapid.Int64Range(0, 999999999).Draw(t, "ns")).UTC()
		if strings.HasSuffix(layout, "0") && strings.Contains(layout, "07") {
			at = at.In(time.FixedZone("", rapid.IntRange(-14*60, 14*60).Draw(t, "zone")*60))
		}
		text := at.Format(layout)
		want, err := time.Parse(layout, text)
		if err != nil || want.Year() < 1 || want.Year() > 9999 {
			t.Skip("outside the years that the layout can hold")
		}
		got, zoned, ok := p.parse([]byte(text))
		if !ok || got.Sec != want.Unix() || got.Ps != int64(want.Nanosecond())*1000 || zoned != strings.Contains(layout, "07") {
			t.Errorf("%s: %v %v %v, want %v", text, got, zoned, ok, want)
		}
	})
}

func TestStampsThatAreRefused(t *testing.T) {
	var p stampParser
	for _, text := range []string{
		"", "2023-11-16", "2023-11-16 18:15", "2023-13-01 00:00:00", "2023-00-01 00:00:00", "2023-01-00 00:00:00",
		"2023-04-31 00:00:00", "1900-02-29 00:00:00", "2023-11-16 24:00:00", "2023-11-16 23:60:00", "2023-11-16 23:59:60",
		"2023-11-16 18:15:46.", "2023-11-16 18:15:46.0000000000000", "2023-11-16 18:15:46,5", "2023-11-16 18:15:46 UTC",
		"2023-11-16 18:15:46+", "2023-11-16 18:15:46+5", "2023-11-16 18:15:46+05:", "2023-11-16 18:15:46+05:3", "2023-11-16 18:15:46+24:00",
		"2023/11/16 18:15:46", "16-11-2023 18:15:46", "2023-11-16_18:15:46", "2023-11-1618:15:46.000",
	} {
		if got, _, ok := p.parse([]byte(text)); ok {
			t.Errorf("%q is read as %v", text, got)
		}
	}
}

func TestCountsAreWholeAndFit(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		text := rapid.OneOf(rapid.StringMatching(`[0-9]{0,12}`), rapid.StringMatching(`[-+0-9.e ]{1,4}`)).Draw(t, "text")
		want, err := strconv.ParseUint(text, 10, 31)
		got, ok := parseCount([]byte(text))
		if ok != (err == nil && len(text) <= 10) || ok && uint64(got) != want {
			t.Errorf("%q: %d %v", text, got, ok)
		}
	})
}

// jsonText of random values is scanned as encoding/json does.
func drawJSON(t *rapid.T, depth int) any {
	kinds := 6
	if depth > 3 {
		kinds = 4
	}
	switch rapid.IntRange(0, kinds-1).Draw(t, "kind") {
	case 0:
		return nil
	case 1:
		return rapid.Bool().Draw(t, "bool")
	case 2:
		return rapid.Float64().Filter(func(f float64) bool { return f-f == 0 }).Draw(t, "number")
	case 3:
		return rapid.String().Draw(t, "text")
	case 4:
		var list []any
		for range rapid.IntRange(0, 3).Draw(t, "n") {
			list = append(list, drawJSON(t, depth+1))
		}
		return list
	}
	object := map[string]any{}
	for range rapid.IntRange(0, 3).Draw(t, "n") {
		object[rapid.String().Draw(t, "key")] = drawJSON(t, depth+1)
	}
	return object
}

// A line that encoding/json writes is read to its end, key by key, and a line
// with a byte changed is accepted only if encoding/json takes it too.
func TestJSONLinesEqualEncodingJSON(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		object := map[string]any{}
		for range rapid.IntRange(0, 4).Draw(t, "n") {
			object[rapid.String().Draw(t, "key")] = drawJSON(t, 0)
		}
		line, err := json.Marshal(object)
		if err != nil {
			t.Fatal(err)
		}
		keys, ok := skipObject(line)
		if !ok || len(keys) != len(object) {
			t.Fatalf("%s: %q %v", line, keys, ok)
		}
		for _, key := range keys {
			if _, ok := object[key]; !ok {
				t.Errorf("%s: unknown key %q", line, key)
			}
		}
		line[rapid.IntRange(0, len(line)-1).Draw(t, "at")] = rapid.SampledFrom([]byte(`{}[]:,"\ -.e0ntx`)).Draw(t, "byte")
		if _, ok := skipObject(line); ok && !json.Valid(line) {
			t.Errorf("accepted %s", line)
		}
	})
}
