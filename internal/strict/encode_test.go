package strict

import (
	"reflect"
	"testing"

	"servesim/sim"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"
)

func TestEncodeReadsBack(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		var k knobs
		k.Name = rapid.String().Draw(t, "name")
		k.Count = rapid.Int32().Draw(t, "count")
		k.Seed = uint64(rapid.Int64Min(0).Draw(t, "seed"))
		k.Rate = rapid.Float64().Draw(t, "rate")
		if rapid.Bool().Draw(t, "given") {
			on := rapid.Bool().Draw(t, "on")
			k.On = &on
		}
		k.Wait = sim.Duration(rapid.Int64Min(0).Draw(t, "wait"))
		for _, share := range rapid.SliceOf(rapid.Float64()).Draw(t, "shares") {
			k.Parts = append(k.Parts, Part{share})
		}
		if m := rapid.MapOf(rapid.String(), rapid.String()).Draw(t, "names"); len(m) > 0 {
			k.Names = m
		}
		k.Sub.Share = rapid.Float64().Draw(t, "share")
		text := Encode(k)
		tree, err := Parse("k.toml", text)
		if err != nil {
			t.Fatalf("%v in\n%s", err, text)
		}
		var back knobs
		if faults := Decode(tree, &back, func(string) string { return "" }); len(faults) > 0 {
			t.Fatalf("%v in\n%s", faults, text)
		}
		if diff := cmp.Diff(k, back, cmp.Exporter(func(reflect.Type) bool { return true })); diff != "" {
			t.Fatalf("%s\nin\n%s", diff, text)
		}
	})
}

// A key with a note stands in a comment, so that reading leaves it alone.
func TestEncodeNoted(t *testing.T) {
	k := knobs{Name: "n", Count: 3, Parts: []Part{}}
	k.Sub.Share = 0.5
	notes := map[string]string{"count": "a default", "sub.share": "half"}
	want := `name = "n"
# count = 3  # a default
parts = []

[sub]
# share = 0.5  # half
`
	text := EncodeNoted(k, func(key string) string { return notes[key] })
	if diff := cmp.Diff(want, text); diff != "" {
		t.Error(diff)
	}
	back, faults := decodeKnobs(t, text)
	if len(faults) > 0 || back.Count != 0 || back.Sub.Share != 0 || back.Name != "n" || back.Parts == nil {
		t.Errorf("%+v, %q", back, faults)
	}
}

func TestEncodeIsReadable(t *testing.T) {
	off := false
	k := knobs{Name: "a \"b\"", Rate: 2, On: &off, Wait: 1500 * sim.Millisecond, Parts: []Part{{0.25}}, Names: map[string]string{"x y": "z", "a": "b"}}
	want := `name = "a \"b\""
rate = 2.0
on = false
wait = "1.5s"
parts = [{ share = 0.25 }]

[names]
a = "b"
"x y" = "z"
`
	if diff := cmp.Diff(want, Encode(k)); diff != "" {
		t.Error(diff)
	}
}
