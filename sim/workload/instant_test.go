package workload

import (
	"encoding/json"
	"math/big"
	"strconv"
	"strings"
	"testing"
	"time"

	"pgregory.net/rapid"

	"servesim/sim"
)

// A decimal number of any unit is the picosecond nearest to it, which big.Rat
// finds by another way.
func TestTimesAreExact(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		text := rapid.StringMatching(`[0-9]{1,20}(\.[0-9]{1,14})?([eE][+-]?[0-9])?`).Draw(t, "text")
		unit, _ := unitOf(rapid.SampledFrom([]string{"s", "ms", "us", "ns"}).Draw(t, "unit"))
		exact, ok := new(big.Rat).SetString(text)
		if !ok {
			t.Fatalf("%q is no number", text)
		}
		got, ok := unit.parse([]byte(text))
		if fits := exact.Cmp(big.NewRat(9e18, 1)) < 0; ok != fits {
			t.Fatalf("%q: %v %v", text, got, ok)
		}
		if !ok {
			return
		}
		exact.Mul(exact, big.NewRat(1e12, unit.per))
		ps := new(big.Int).Mul(big.NewInt(got.sec), big.NewInt(1e12))
		ps.Add(ps, big.NewInt(got.ps))
		off := new(big.Rat).Sub(exact, new(big.Rat).SetInt(ps))
		if got.ps < 0 || got.ps >= 1e12 || off.Abs(off).Cmp(big.NewRat(1, 2)) > 0 {
			t.Errorf("%q %s is read as %v, off by %v ps", text, unit.name, got, off)
		}
	})
}

func TestTimesByHand(t *testing.T) {
	for _, c := range []struct {
		text, unit string
		want       instant
	}{
		{"0", "s", instant{}},
		{"-0.0", "s", instant{}},
		{"3501.721937", "s", instant{3501, 721937_000000}},
		{"27482", "ms", instant{27, 482_000_000_000}},
		{"1700000000123456789", "ns", instant{1700000000, 123456789_000}},
		{"0.0000000000005", "s", instant{0, 0}}, // half of a picosecond goes to the even one
		{"0.0000000000015", "s", instant{0, 2}},
		{"0.30000000000000004", "s", instant{0, 300_000_000_000}}, // as Python prints 0.1+0.2
		{"8999999999999999999", "s", instant{8999999999999999999, 0}},
		{"1e-05", "s", instant{0, 10_000_000}},
	} {
		unit, _ := unitOf(c.unit)
		if got, ok := unit.parse([]byte(c.text)); !ok || got != c.want {
			t.Errorf("%s %s: %v %v, want %v", c.text, c.unit, got, ok, c.want)
		}
	}
	for _, text := range []string{"", "-", ".", "1.", ".5", "+1", "-1", "1e", "1e400", "0x1", "1_0", "1/2", "NaN", "inf", "1 ", "9000000000000000000"} {
		if got, ok := seconds().parse([]byte(text)); ok {
			t.Errorf("%q is read as %v", text, got)
		}
	}
}

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
		if !ok || got.sec != want.Unix() || got.ps != int64(want.Nanosecond())*1000 || zoned != strings.Contains(layout, "07") {
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

func TestInstantsSubtractWithoutOverflow(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		draw := func(name string) instant {
			return instant{rapid.Int64Range(0, 20_000_000).Draw(t, name), rapid.Int64Range(0, 1e12-1).Draw(t, name)}
		}
		a, b := draw("a"), draw("b")
		ps := func(i instant) *big.Int {
			v := new(big.Int).Mul(big.NewInt(i.sec), big.NewInt(1e12))
			return v.Add(v, big.NewInt(i.ps))
		}
		want := ps(a)
		want.Sub(want, ps(b))
		if a.before(b) != (want.Sign() < 0) {
			t.Errorf("%v before %v: %v", a, b, a.before(b))
		}
		if want.Sign() < 0 {
			t.Skip()
		}
		d, ok := a.since(b)
		if ok != want.IsInt64() || ok && sim.Duration(want.Int64()) != d {
			t.Errorf("%v since %v: %v %v, want %v", a, b, d, ok, want)
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
