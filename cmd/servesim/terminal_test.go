package main

import (
	"bytes"
	"strings"
	"testing"
)

// TestVerdictsAreColoured holds that words are coloured, parts of words and JSON
// aren't, and that a verdict that comes in two writes is one.
func TestVerdictsAreColoured(t *testing.T) {
	const green, red, yellow, end = "\x1b[1;32m", "\x1b[1;31m", "\x1b[1;33m", "\x1b[0m"
	for text, want := range map[string]string{
		"a PASS\nFAIL, b\n":          "a " + green + "PASS" + end + "\n" + red + "FAIL" + end + ", b\n",
		"TOO CLOSE TO CALL":          yellow + "TOO CLOSE TO CALL" + end,
		"PASSED FAILURE BYPASS PASS": "PASSED FAILURE BYPASS " + green + "PASS" + end,
		"FAIL_x x_FAIL":              "FAIL_x x_FAIL",
		"{\"a\": \"PASS\"}\n":        "{\"a\": \"PASS\"}\n",
		"[\"FAIL\"]":                 "[\"FAIL\"]",
		"":                           "",
	} {
		for cut := range len(text) + 1 {
			var out bytes.Buffer
			p := &painter{out: &out}
			for _, part := range []string{text[:cut], text[cut:]} {
				if n, err := p.Write([]byte(part)); n != len(part) || err != nil {
					t.Fatal(n, err)
				}
			}
			if err := p.flush(); err != nil || out.String() != want {
				t.Errorf("%q cut at %d: %q, want %q, %v", text, cut, out.String(), want, err)
			}
		}
	}
}

// TestEnvironment holds what variables say of colours and characters.
func TestEnvironment(t *testing.T) {
	for _, c := range []struct {
		vars           map[string]string
		colour, blocks bool
	}{
		{nil, true, false},
		{map[string]string{"NO_COLOR": "1", "LANG": "C.UTF-8"}, false, true},
		{map[string]string{"TERM": "dumb", "LANG": "de_DE.utf8"}, false, true},
		{map[string]string{"LC_ALL": "C", "LANG": "C.UTF-8"}, true, false},
		{map[string]string{"LC_CTYPE": "en_GB.UTF-8", "LANG": "C"}, true, true},
	} {
		get := func(name string) string { return c.vars[name] }
		if coloured(get) != c.colour || unicodeLocale(get) != c.blocks {
			t.Errorf("%v: %v and %v", c.vars, coloured(get), unicodeLocale(get))
		}
	}
}

// TestLevels holds that a run prints the same whatever is said on stderr, that one
// who wants it quiet hears errors alone, and that one who wants to know more hears it.
func TestLevels(t *testing.T) {
	inFolder(t, map[string]string{"s.toml": small})
	args := []string{"run", "s.toml", "--perfetto", "x.pftrace", "--perfetto-window", "worst=1"}
	plain, quiet, verbose := do(t, args...), do(t, append(args, "-q")...), do(t, append(args, "--verbose")...)
	if plain.stdout != quiet.stdout || plain.stdout != verbose.stdout || plain.code != exitOK {
		t.Errorf("%+v\n%+v\n%+v", plain, quiet, verbose)
	}
	if quiet.stderr != "" || !strings.Contains(plain.stderr, "--perfetto-window all draws the whole run") {
		t.Errorf("%q, quiet %q", plain.stderr, quiet.stderr)
	}
	for _, want := range []string{"servesim: simulated 20 requests in ", "servesim: run was done in "} {
		if !strings.Contains(verbose.stderr, want) || strings.Contains(plain.stderr, want) {
			t.Errorf("%q, verbose %q", plain.stderr, verbose.stderr)
		}
	}
	if o := do(t, "run", "s.toml", "-q", "-v"); o.code != exitUsage || !strings.Contains(o.stderr, "--quiet and --verbose ask for opposites") {
		t.Errorf("%+v", o)
	}
	if o := do(t, "run", "none.toml", "-q"); o.code != exitUsage || o.stderr == "" {
		t.Errorf("%+v", o)
	}
}

// TestHist holds where pictures are drawn, and where they can't be.
func TestHist(t *testing.T) {
	inFolder(t, map[string]string{"s.toml": small})
	plain := ok(t, "run", "s.toml")
	for _, how := range []string{"--hist", "--hist=ascii", "--hist=blocks"} {
		got := ok(t, "run", "s.toml", how)
		pictures, is := strings.CutPrefix(got, plain)
		if !is || !strings.Contains(pictures, "\nTTFT: share of 20 requests") || strings.Contains(pictures, "█") != (how == "--hist=blocks") {
			t.Errorf("%s: %s", how, got)
		}
	}
	for text, want := range map[string]string{
		"--hist=x":                  `--hist "x": want blocks, ascii or auto`,
		"--hist --json":             "--hist is a picture for people, and json has none",
		"--hist --print":            "so --hist would have nothing to write",
		"--hist --replications 30":  "--hist is of one run",
		"--hist=ascii -o json":      "json has none",
		"--hist=auto --output json": "json has none",
	} {
		if o := do(t, append([]string{"run", "s.toml"}, strings.Fields(text)...)...); o.code != exitUsage || !strings.Contains(o.stderr, want) {
			t.Errorf("%s: %+v", text, o)
		}
	}
}
