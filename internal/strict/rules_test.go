package strict

import (
	"testing"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"
)

// A gauge is held to gaugeRules.
type gauge struct {
	Name  string          `toml:"name"`
	Load  float64         `toml:"load" want:"share"`
	Seats int64           `toml:"seats" want:"seats"`
	Spare int64           `toml:"spare" want:"seats,optional"`
	On    *bool           `toml:"on" want:"optional"`
	Sides map[string]Part `toml:"sides" keys:"left,right"`
	Inner struct {
		Tags []string `toml:"tags"`
	} `toml:"inner"`
}

func gaugeRules() Rules {
	return Rules{Whole: true, Ranges: []Range{{"share", "a share", 0, 1}, {"seats", "a whole number", 1, 1 << 30}}}
}

// gaugeFaults decodes text by rules and returns the faults, a string each.
func gaugeFaults(t *testing.T, r Rules, text string) (gauge, []string) {
	t.Helper()
	tree, err := Parse("g.toml", text)
	if err != nil {
		t.Fatal(err)
	}
	var g gauge
	var faults []string
	for _, f := range r.Decode(tree, &g, Where("g.toml", text)) {
		faults = append(faults, f.Error())
	}
	return g, faults
}

const soundGauge = `name = "n"
load = 1
seats = 3
[sides.left]
share = 0.5
[inner]
tags = []
`

func TestRulesTellEveryFaultAtOnce(t *testing.T) {
	_, faults := gaugeFaults(t, gaugeRules(), `lod = 0.5
seats = 0
spare = 2.5
[sides]
left = 3
[sides.top]
share = 1
[inner]
tags = ["a", 1]
`)
	want := []string{
		`g.toml:9: inner.tags[1]: found 1; must be a string, in quotes`,
		`g.toml:1: lod: unknown key; did you mean "load"?`,
		`g.toml:2: seats: found 0; must be a whole number from 1 to 1073741824`,
		`g.toml:5: sides.left: found 3; must be a table, written [sides.left]`,
		`g.toml:6: sides.top: unknown key; allowed are left, right`,
		`g.toml:3: spare: found 2.5; must be a whole number from 1 to 1073741824`,
		`g.toml: name: missing; give a string, in quotes`,
		`g.toml: load: missing; give a share from 0 to 1`,
	}
	if diff := cmp.Diff(want, faults); diff != "" {
		t.Error(diff)
	}
	if g, faults := gaugeFaults(t, gaugeRules(), soundGauge); len(faults) > 0 || g.Load != 1 || g.Seats != 3 || g.Sides["left"].Share != 0.5 {
		t.Errorf("%+v, %q", g, faults)
	}
}

// Without rules the same file may leave anything out.
func TestNoRules(t *testing.T) {
	if _, faults := gaugeFaults(t, Rules{}, ""); len(faults) > 0 {
		t.Errorf("%q", faults)
	}
}

// A want tag without its range is a fault of every file that has the key.
func TestRangeThatNothingDefines(t *testing.T) {
	r := gaugeRules()
	r.Ranges = r.Ranges[:1]
	_, faults := gaugeFaults(t, r, soundGauge)
	if len(faults) != 1 {
		t.Errorf("%q", faults)
	}
}

// A number is taken if and only if its range holds it, and taken as it is.
func TestRangesHold(t *testing.T) {
	rapid.Check(t, func(rt *rapid.T) {
		load, seats := rapid.Float64().Draw(rt, "load"), rapid.Int64().Draw(rt, "seats")
		tree := map[string]any{"load": load, "seats": seats}
		r := gaugeRules()
		r.Whole = false
		var g gauge
		faults := map[string]bool{}
		for _, f := range r.Decode(tree, &g, func(string) string { return "" }) {
			faults[f.Key] = true
		}
		if in := load >= 0 && load <= 1; in == faults["load"] || in && g.Load != load {
			rt.Errorf("load %v: faults %v, read as %v", load, faults, g.Load)
		}
		if in := seats >= 1 && seats <= 1<<30; in == faults["seats"] || in && g.Seats != seats {
			rt.Errorf("seats %v: faults %v, read as %v", seats, faults, g.Seats)
		}
	})
}

func TestSchema(t *testing.T) {
	for text, want := range map[string]string{
		"schema = 2":      "",
		"a = 1":           "s.toml: schema: missing; begin the file with schema = 2",
		"\nschema = 3":    "s.toml:2: schema: found 3; this servesim reads schema 2",
		"schema = 2.0":    "s.toml:1: schema: found 2.0; this servesim reads schema 2",
		`schema = "2"`:    "s.toml:1: schema: found the string \"2\"; this servesim reads schema 2",
		"[schema]\na = 2": "s.toml:1: schema: found a table; this servesim reads schema 2",
	} {
		tree, err := Parse("s.toml", text)
		if err != nil {
			t.Fatal(err)
		}
		f, ok := Schema(tree, 2, Where("s.toml", text))
		if ok != (want == "") || !ok && f.Error() != want {
			t.Errorf("%q: %v, %v", text, f, ok)
		}
	}
}
