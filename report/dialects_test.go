package report

import (
	"bytes"
	"encoding/json"
	"strings"
	"testing"
	"unicode/utf8"

	"servesim/analysis"
	"servesim/analysis/dialect"
	"servesim/analysis/transcript"
	"servesim/sim"
	"servesim/sim/observe"
)

// threeCalls are one answer of 100 tokens in 500 and 700 ms, one of a single token
// and a failure.
func threeCalls() []transcript.Call {
	long := transcript.Call{ID: 1, Prompt: 200, Output: 100, Closed: 1200 * ms}
	for i := range sim.Time(100) {
		long.Chunks = append(long.Chunks, transcript.Chunk{At: 500*ms + 700*ms*i/99, Tokens: 1})
	}
	return []transcript.Call{
		long,
		{ID: 2, Scheduled: 100 * ms, Sent: 100 * ms, Closed: 400 * ms, Prompt: 100, Output: 1, Chunks: []transcript.Chunk{{At: 400 * ms, Tokens: 1}}},
		{ID: 3, Scheduled: 200 * ms, Sent: 200 * ms, Closed: 2200 * ms, Prompt: 300, Outcome: observe.TimedOut},
	}
}

// dialects are the results of all dialects on threeCalls.
func dialects(t *testing.T, f transcript.Facts) *dialect.Sink {
	t.Helper()
	good, err := analysis.ParseSLO("ttft:600 tpot:10 maxgap:100")
	if err != nil {
		t.Fatal(err)
	}
	s := dialect.New(dialect.All(), dialect.Options{Facts: f, Goodput: good.Goodput, Percentiles: summary(t).Percentiles[:3]})
	for _, c := range threeCalls() {
		if err := s.Call(&c); err != nil {
			t.Fatal(err)
		}
	}
	return s
}

func TestDialects(t *testing.T) {
	s := dialects(t, transcript.Everything())
	var b bytes.Buffer
	if err := Dialects(&b, s.Results(), s.Reasons()); err != nil {
		t.Fatal(err)
	}
	golden(t, "dialects.txt", b.Bytes())
}

// A source that knows little is told what is missing; nothing is made up.
func TestDialectsOfLittle(t *testing.T) {
	s := dialects(t, transcript.Facts{First: true, Outputs: true})
	var b bytes.Buffer
	if err := Dialects(&b, s.Results(), s.Reasons()); err != nil {
		t.Fatal(err)
	}
	golden(t, "dialects_little.txt", b.Bytes())
}

func TestDialectsFitATerminal(t *testing.T) {
	s := dialects(t, transcript.Everything())
	var b bytes.Buffer
	if err := Dialects(&b, s.Results(), s.Reasons()); err != nil {
		t.Fatal(err)
	}
	inTable := true
	for _, line := range strings.Split(b.String(), "\n") {
		inTable = inTable && !strings.HasPrefix(line, "  ") || strings.Contains(line, "mean")
		if n := utf8.RuneCountInString(line); n > Width || inTable && n > 80 {
			t.Errorf("%d columns: %s", n, line)
		}
	}
}

func TestDialectsMember(t *testing.T) {
	s := dialects(t, transcript.Everything())
	b, err := json.MarshalIndent(object{DialectsMember(s.Results(), s.Reasons())}, "", "  ")
	if err != nil {
		t.Fatal(err)
	}
	golden(t, "dialects.json", append(b, '\n'))
}

// A tool's figures of nothing are what it prints then, and calls of which too
// little is known are counted.
func TestDialectsOfNothing(t *testing.T) {
	s := dialect.New(dialect.All(), dialect.Options{Facts: transcript.Everything(), Percentiles: summary(t).Percentiles[:3]})
	unknown := transcript.Call{Closed: 900 * ms, Output: transcript.Unknown, Prompt: 4, Wanted: transcript.Unknown, Outcome: observe.Completed,
		Chunks: []transcript.Chunk{{At: 500 * ms, Tokens: transcript.Unknown}}}
	if err := s.Call(&unknown); err != nil {
		t.Fatal(err)
	}
	var b bytes.Buffer
	if err := Dialects(&b, s.Results(), s.Reasons()); err != nil {
		t.Fatal(err)
	}
	golden(t, "dialects_unknown.txt", b.Bytes())
}

// TestDialectsMarkdown holds that docs/dialects.md is what the dialects are.
func TestDialectsMarkdown(t *testing.T) {
	var b bytes.Buffer
	if err := DialectsMarkdown(&b, dialect.All()); err != nil {
		t.Fatal(err)
	}
	golden(t, "../../docs/dialects.md", b.Bytes())
}
