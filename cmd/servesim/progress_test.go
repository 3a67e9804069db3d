package main

import (
	"bytes"
	"io"
	"strings"
	"testing"
	"unicode/utf8"

	"servesim/analysis"
	"servesim/scenario"
	"servesim/sim/observe"

	"github.com/google/go-cmp/cmp"
)

// opened returns the input of a run with args on the scenario small, and the
// scenario.
func opened(t *testing.T, trace string, sets ...string) (*scenario.Opened, *scenario.Scenario) {
	t.Helper()
	src := scenario.Source{Path: "s.toml", Stdin: strings.NewReader(azure)}
	if trace != "" {
		src.Settings = append(src.Settings, scenario.Setting{Key: "workload.trace", Value: trace, Text: trace, Flag: "--trace", Replay: true})
	}
	for _, text := range sets {
		s, err := scenario.ParseSetting(text)
		if err != nil {
			t.Fatal(err)
		}
		src.Settings = append(src.Settings, s)
	}
	p, err := scenario.Load(src)
	if err != nil {
		t.Fatal(err)
	}
	in, err := p.Open()
	if err != nil {
		t.Fatal(err)
	}
	return in, p.Scenario
}

// TestWhatATraceTellsOfARun holds that a run's progress is told by its trace only
// if it reads all of the trace, once, in order.
func TestWhatATraceTellsOfARun(t *testing.T) {
	inFolder(t, map[string]string{"s.toml": small, "t.csv": azure})
	for _, c := range []struct {
		trace, set string
		want       bool
	}{
		{"t.csv", "seed=1", true},
		{"t.csv", "max_output=5", true},
		{"t.csv", "stretch=2", true},
		{"t.csv", "transform.rate=0.5", true},
		{"t.csv", "transform.rate=1.5", false},
		{"t.csv", "limit=2", false},
		{"t.csv", "to=\"1s\"", false},
		{"t.csv", "from=\"1s\"", false},
		{"t.csv", "workload.sort=true", false},
		{"t.csv", "horizon=\"1s\"", false},
		{"-", "seed=1", false},
		{"", "seed=1", false},
	} {
		in, s := opened(t, c.trace, c.set)
		if got := newTracked(in, s) != nil; got != c.want {
			t.Errorf("trace %q with %s: %v, want %v", c.trace, c.set, got, c.want)
		}
	}
}

// TestPartOfATrace by hand: azure has a header of 40 bytes and rows of 35, 36 and
// 35. What has arrived and not left isn't over.
func TestPartOfATrace(t *testing.T) {
	inFolder(t, map[string]string{"s.toml": small, "t.csv": azure})
	in, s := opened(t, "t.csv")
	run := newTracked(in, s)
	for _, c := range []struct {
		reads      int
		done, want int64
	}{{1, 0, 0}, {1, 1, 55}, {1, 1, 48}, {1, 2, 97}, {0, 3, 145}} {
		for range c.reads {
			if _, err := run.Next(); err != nil && err != io.EOF {
				t.Fatal(err)
			}
		}
		if part, total := run.part(c.done); part != c.want || total != 146 {
			t.Errorf("%d arrived and %d done: %d of %d bytes, want %d of 146", run.arrived, c.done, part, total, c.want)
		}
	}
}

// TestTraceProgressShowsAShare lets half of a long trace leave the system, in a
// run that has lasted.
func TestTraceProgressShowsAShare(t *testing.T) {
	rows := strings.Repeat("2023-11-16 18:15:46.6805900,374,44\n", 8*checkEvery)
	inFolder(t, map[string]string{"s.toml": small, "t.csv": "TIMESTAMP,ContextTokens,GeneratedTokens\n" + rows})
	in, s := opened(t, "t.csv")
	run := newTracked(in, s)
	var out bytes.Buffer
	p := newTraceProgress(&out, "t.csv", run)
	p.out.began = p.out.began.Add(-2 * showAfter)
	for i := range 4 * checkEvery {
		if _, err := run.Next(); err != nil {
			t.Fatal(err)
		}
		if i == 0 && p.part != 0 {
			t.Errorf("%d bytes before the first request left", p.part)
		}
		if err := p.Request(&observe.Request{}); err != nil {
			t.Fatal(err)
		}
	}
	if want := int64(40 + 35*4*checkEvery); p.part != want {
		t.Errorf("the bar is at %d bytes, want %d", p.part, want)
	}
	before := p.part
	for range 3 * checkEvery { // a burst arrives, and nothing leaves
		if _, err := run.Next(); err != nil {
			t.Fatal(err)
		}
	}
	p.show()
	p.finish()
	if p.part < before {
		t.Errorf("the bar goes back from %d to %d bytes", before, p.part)
	}
	if !strings.Contains(out.String(), "t.csv") || !strings.Contains(out.String(), "%") {
		t.Errorf("it shows %q", &out)
	}
}

// TestProgressFits holds that no terminal of 80 columns wraps a line, whatever the
// name and however many requests there are.
func TestProgressFits(t *testing.T) {
	for _, label := range []string{"t.csv", strings.Repeat("a-long-name-", 9)} {
		for _, total := range []int64{-1, 1, 10_000, 2_000_000_000} {
			for _, done := range []int64{0, 1, 1_234_567, 1_999_999_999} {
				var out bytes.Buffer
				p := newProgress(&out, label, total)
				p.out.began = p.out.began.Add(-1000 * showAfter)
				p.done = done
				p.show()
				for line := range strings.SplitSeq(out.String(), "\r") {
					if n := utf8.RuneCountInString(line); n > 80 {
						t.Errorf("%d columns: %q", n, line)
					}
				}
				if want := ": " + analysis.Counted(done, "request") + ", "; !strings.Contains(out.String(), want) {
					t.Errorf("it lacks %q: %q", want, &out)
				}
			}
		}
	}
}

// TestProgressChangesNothing holds that a terminal gets the same result.
func TestProgressChangesNothing(t *testing.T) {
	inFolder(t, map[string]string{"s.toml": small, "t.csv": azure})
	for _, args := range [][]string{{"run", "s.toml", "--trace", "t.csv"}, {"run", "s.toml", "--trace", "t.csv", "--json", "--set", "transform.rate=0.5"}} {
		var out, stderr bytes.Buffer
		code := Main(t.Context(), env{stdin: strings.NewReader(""), stdout: &out, stderr: &stderr, tty: true}, args)
		if code != exitOK || stderr.Len() > 0 {
			t.Fatalf("exit %d, stderr %q", code, &stderr)
		}
		if diff := cmp.Diff(ok(t, args...), out.String()); diff != "" {
			t.Error(diff)
		}
	}
}
