package strict

import (
	"reflect"
	"strings"
	"testing"

	"servesim/sim"

	"github.com/google/go-cmp/cmp"
)

type knobs struct {
	Name  string            `toml:"name"`
	Count int32             `toml:"count"`
	Seed  uint64            `toml:"seed"`
	Rate  float64           `toml:"rate"`
	On    *bool             `toml:"on"`
	Wait  sim.Duration      `toml:"wait"`
	Parts []Part            `toml:"parts"`
	Names map[string]string `toml:"names"`
	Sub   struct {
		Part
		Aside `toml:"-"`
	} `toml:"sub"`
}

// Part is embedded in sub, so its keys are sub's.
type Part struct {
	Share float64 `toml:"share"`
}

// Aside is an embedded struct that TOML must not see into.
type Aside struct {
	Hidden int `toml:"hidden"`
}

// decodeKnobs decodes text and returns the faults, a string each.
func decodeKnobs(t *testing.T, text string) (knobs, []string) {
	t.Helper()
	tree, err := Parse("k.toml", text)
	if err != nil {
		t.Fatal(err)
	}
	var k knobs
	var faults []string
	for _, f := range Decode(tree, &k, Where("k.toml", text)) {
		faults = append(faults, f.Error())
	}
	return k, faults
}

func TestDecoderFillsEveryKind(t *testing.T) {
	k, faults := decodeKnobs(t, `
name = "n"
count = 3
seed = 7
rate = 2
on = false
wait = "1.5s"
names = { a = "b" }
[[parts]]
share = 0.25
[[parts]]
share = 0.75
[sub]
`)
	if len(faults) > 0 {
		t.Fatalf("faults %q", faults)
	}
	off := false
	want := knobs{
		Name: "n", Count: 3, Seed: 7, Rate: 2, On: &off, Wait: 1500 * sim.Millisecond,
		Parts: []Part{{0.25}, {0.75}}, Names: map[string]string{"a": "b"},
	}
	if diff := cmp.Diff(want, k, cmp.Exporter(func(reflect.Type) bool { return true })); diff != "" {
		t.Error(diff)
	}
}

func TestDecoderTellsEveryFaultWithItsLine(t *testing.T) {
	_, faults := decodeKnobs(t, `nam = "n"
count = 3000000000
seed = -1
rate = nan
on = "yes"
wait = "fast"
parts = 3
[names]
a = 1
[sub]
hidden = 1
shore = 2
`)
	want := []string{
		`k.toml:2: count: found 3000000000, which is too large`,
		`k.toml:1: nam: unknown key; did you mean "name"?`,
		`k.toml:9: names.a: found 1; must be a string, in quotes`,
		`k.toml:5: on: found the string "yes"; must be true or false`,
		`k.toml:7: parts: found 3; must be a list, in brackets`,
		`k.toml:4: rate: found NaN; must be a finite number`,
		`k.toml:3: seed: found -1; must be a whole number of 0 or more`,
		`k.toml:11: sub.hidden: unknown key; allowed are share`,
		`k.toml:12: sub.shore: unknown key; did you mean "share"?`,
		`k.toml:6: wait: "fast" is not a duration: a number needs a unit of h, m, s, ms, us, ns or ps`,
	}
	if diff := cmp.Diff(want, faults); diff != "" {
		t.Error(diff)
	}
}

func TestDecoderWantsKeysInTheirCase(t *testing.T) {
	_, faults := decodeKnobs(t, `Name = "n"`)
	if len(faults) != 1 || !strings.Contains(faults[0], `did you mean "name"?`) {
		t.Errorf("faults %q", faults)
	}
}

func TestKeyLines(t *testing.T) {
	got := keyLines(`schema = 1 # [not.a.table]
name = """
[not.a.table]
key = 1
"""
list = [
  "a = 1", # b = 2
  "]",
]
after = 1

[a.b]
"quoted key" = "x # y"
c.d = 2
[[w]]
x = 1
[[w]]
x = 2
[w.sub]
y = '''one'''
`)
	want := map[string]int{
		"schema": 1, "name": 2, "list": 6, "after": 10,
		"a": 12, "a.b": 12, "a.b.quoted key": 13, "a.b.c": 14, "a.b.c.d": 14,
		"w": 15, "w[0]": 15, "w[0].x": 16, "w[1]": 17, "w[1].x": 18,
		"w[1].sub": 19, "w[1].sub.y": 20,
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Error(diff)
	}
}

func TestDistance(t *testing.T) {
	for _, c := range []struct {
		a, b string
		want int
	}{{"", "", 0}, {"", "abc", 3}, {"abc", "", 3}, {"rate", "rate", 0}, {"rate", "rates", 1}, {"kitten", "sitting", 3}, {"ab", "ba", 2}} {
		if got := distance(c.a, c.b); got != c.want {
			t.Errorf("distance(%q, %q) = %d, want %d", c.a, c.b, got, c.want)
		}
	}
}

// What isn't a name is answered with what may have been meant, and nothing else.
func TestUnlike(t *testing.T) {
	gpus, versions := []string{"b200", "h100", "h200"}, []string{"vllm@0.11", "vllm@0.20", "vllm@main"}
	models := []string{"gpt-oss-120b", "llama-3.1-70b", "llama-3.1-8b", "qwen3-32b"}
	for _, c := range []struct {
		word  string
		names []string
		want  string
	}{
		{"a100", gpus, "allowed are b200, h100, h200"},
		{"h10", gpus, `did you mean "h100"?`},
		{"H-100", gpus, `did you mean "h100"?`},
		{"200", gpus, `did you mean "b200" or "h200"?`},
		{"vllm@0.9", versions, "allowed are vllm@0.11, vllm@0.20, vllm@main"},
		{"VLLM0.20", versions, `did you mean "vllm@0.20"?`},
		{"vllm@man", versions, `did you mean "vllm@main"?`},
		{"vllm", versions, "allowed are vllm@0.11, vllm@0.20, vllm@main"},
		{"llama3", models, `did you mean "llama-3.1-70b" or "llama-3.1-8b"?`},
		{"Llama-3.1-8", models, `did you mean "llama-3.1-8b"?`},
		{"", models, "allowed are gpt-oss-120b, llama-3.1-70b, llama-3.1-8b, qwen3-32b"},
		{"azure-cht", []string{"azure-chat", "azure-code"}, `did you mean "azure-chat"?`},
		{"x", nil, "nothing is allowed here"},
	} {
		if got := Unlike(c.word, c.names); got != c.want {
			t.Errorf("%q: %s; want %s", c.word, got, c.want)
		}
	}
}

func TestNearestTakesTheClosestAndNothingFar(t *testing.T) {
	names := []string{"policy", "max_num_seqs", "max_model_len"}
	if got, ok := Nearest("max_num_seq", names); !ok || got != "max_num_seqs" {
		t.Errorf("nearest is %q, %v", got, ok)
	}
	if got, ok := Nearest("temperature", names); ok {
		t.Errorf("nearest to temperature is %q", got)
	}
}

func TestKeys(t *testing.T) {
	want := []string{
		"name", "count", "seed", "rate", "on", "wait", "parts", "names", "names.*", "sub", "sub.share",
	}
	if diff := cmp.Diff(want, Keys(reflect.TypeFor[knobs]())); diff != "" {
		t.Error(diff)
	}
}

func TestKindOf(t *testing.T) {
	got := map[string]string{}
	for _, k := range Keys(reflect.TypeFor[knobs]()) {
		got[k], _ = KindOf(reflect.TypeFor[knobs](), k)
	}
	want := map[string]string{
		"name": "string", "count": "whole", "seed": "whole", "rate": "number", "on": "bool", "wait": "duration",
		"parts": "list", "names": "table", "names.*": "string", "sub": "table", "sub.share": "number",
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Error(diff)
	}
	if _, ok := KindOf(reflect.TypeFor[knobs](), "none"); ok {
		t.Error("a key that isn't there has a kind")
	}
}
