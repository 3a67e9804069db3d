package main

import (
	"bytes"
	"encoding/json"
	"strings"
	"testing"
	"unicode/utf8"
)

// nasty is a name that a terminal would do something with.
const nasty = "a\x1b[31m\u202eb\x00c\u009bd\u2028e\x7ff\u200bg\U000e0041h </script>"

// hides returns the first character of text that doesn't show, -1 if there is none.
func hides(text string) rune {
	if at := strings.IndexFunc(text, hidden); at >= 0 {
		r, _ := utf8.DecodeRuneInString(text[at:])
		return r
	}
	return -1
}

// FuzzVisible holds that nothing that doesn't show comes out, however the text is cut,
// that what shows stays, and that JSON keeps its values.
func FuzzVisible(f *testing.F) {
	for _, s := range []string{"", "plain\n\ttext", "日本語 é\u00a0x", nasty, "\xff\xe2\x80", "\xe2\x80\xae", "👩\u200d🚀"} {
		f.Add(s, 1)
		f.Add(s, len(s)-1)
	}
	f.Fuzz(func(t *testing.T, text string, cut int) {
		cut = max(0, min(cut, len(text)))
		var out bytes.Buffer
		p := &plainWriter{out: &out}
		for _, part := range []string{text[:cut], text[cut:]} {
			if n, err := p.Write([]byte(part)); n != len(part) || err != nil {
				t.Fatal(n, err)
			}
		}
		if err := p.flush(); err != nil {
			t.Fatal(err)
		}
		if r := hides(out.String()); r >= 0 || !utf8.Valid(out.Bytes()) {
			t.Fatalf("%q comes out as %q, with %U", text, out.String(), r)
		}
		if hides(text) < 0 && utf8.ValidString(text) && out.String() != text {
			t.Fatalf("%q comes out as %q", text, out.String())
		}
		b, err := json.Marshal(text)
		if err != nil {
			t.Fatal(err)
		}
		var again, want string
		if err := json.Unmarshal([]byte(visible(string(b))), &again); err != nil {
			t.Fatal(err)
		}
		if err := json.Unmarshal(b, &want); err != nil || again != want {
			t.Fatalf("%q became %q in JSON", want, again)
		}
	})
}

// TestNothingHiddenIsPrinted runs verbs on a scenario, a file and a setting of a nasty
// name: what they print, and complain of, has no character that a terminal acts on.
func TestNothingHiddenIsPrinted(t *testing.T) {
	name, err := json.Marshal(nasty)
	if err != nil {
		t.Fatal(err)
	}
	file := strings.ReplaceAll(nasty, "\x00", "")
	file = strings.ReplaceAll(file, "/", "") + ".jsonl"
	quoted := strings.ReplaceAll(string(name), "\x7f", `\u007f`)
	inFolder(t, map[string]string{
		"s.toml":    "name = " + strings.ReplaceAll(quoted, "\U000e0041", "") + "\n" + small,
		"t.jsonl":   `{"arrival":0,"prompt":20,"output":5,"id":` + string(name) + `,"class":` + string(name) + "}\n" + `{"arrival":1,"prompt":9999999,"output":5}` + "\n",
		"plan.toml": "schema = 1\nscenario = \"s.toml\"\n[grid]\nrate_per_s = [2, 4]\n",
	})
	ok(t, "run", "--trace", "t.jsonl", "--records", file)
	for _, args := range [][]string{
		{"run", "s.toml"}, {"run", "s.toml", "--json"}, {"run", "s.toml", "--blame"}, {"run", "s.toml", "--print"}, {"run", "s.toml", "--replications", "2"},
		{"run", "--trace", "t.jsonl"}, {"compare", "s.toml", "--vary", "seed=1,2"}, {"explain", "s.toml", "--worst", "ttft"},
		{"explain", "--trace", "t.jsonl", "--worst", "ttft"}, {"sweep", "plan.toml"}, {"analyze", file}, {"report", file},
		{"run", file}, {"run", "s.toml", "--set", nasty}, {"run", "s.toml", "--goodput", nasty}, {"plot", nasty, file, "-o", "x.svg"}, {nasty},
	} {
		o := do(t, args...)
		if r := hides(o.stdout); r >= 0 {
			t.Errorf("%q prints %U", args, r)
		}
		if r := hides(o.stderr); r >= 0 {
			t.Errorf("%q complains with %U: %q", args, r, o.stderr)
		}
		if o.stdout+o.stderr == "" {
			t.Errorf("%q says nothing", args)
		}
	}
}
