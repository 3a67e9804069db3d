package main

import (
	"bytes"
	"context"
	"encoding/json"
	"os"
	"strings"
	"testing"

	"servesim/reproduce"
)

// reproduceDoc is the document that reproduce writes.
const reproduceDoc = "../../docs/reproduce.md"

// sectionOf returns what a document says of one claim.
func sectionOf(doc, claim string) string {
	_, rest, ok := strings.Cut(doc, "\n## "+claim+"\n")
	if !ok {
		return ""
	}
	section, _, _ := strings.Cut(rest, "\n## ")
	return section
}

// TestReproduceDocIsFresh tests all claims again: every verdict, value and explanation
// must be as the manual has it, and every fact that an explanation rests on hold.
// With -short it is only those that take no time.
func TestReproduceDocIsFresh(t *testing.T) {
	claims := reproduce.Names()
	if testing.Short() && !*update {
		claims = []string{"gaps-7-60", "dialects", "70b-to-8b", "llama-8b-reference"}
	}
	out := ok(t, append([]string{"reproduce", "-o", "markdown"}, claims...)...)
	if strings.Contains(out, "does not hold any more") {
		t.Errorf("an explanation is wrong:\n%s", out)
	}
	if !testing.Short() || *update {
		goldenIn(t, "../../docs", "reproduce.md", out)
		return
	}
	doc, err := os.ReadFile(reproduceDoc)
	if err != nil {
		t.Fatal(err)
	}
	for _, c := range claims {
		if got := sectionOf(out, c); got == "" || got != sectionOf(string(doc), c) {
			t.Errorf("%s has another section of %s; go test ./cmd/servesim -run ReproduceDoc -update writes it, CHANGELOG's Results says why; now it is\n%s", reproduceDoc, c, got)
		}
	}
}

func TestReproduce(t *testing.T) {
	golden(t, "reproduce.txt", ok(t, "reproduce", "prefill-32k", "gaps-7-60", "dialects"))
	golden(t, "reproduce-list.txt", ok(t, "reproduce", "--list"))
	if a, b := ok(t, "reproduce", "dialects"), ok(t, "reproduce", "-o", "text", "dialects"); a != b {
		t.Errorf("the default form isn't text:\n%s", a)
	}
}

func TestReproduceJSON(t *testing.T) {
	text := ok(t, "reproduce", "--json", "gaps-7-60")
	if other := ok(t, "reproduce", "-o", "json", "gaps-7-60"); other != text {
		t.Errorf("-o json prints something else:\n%s", other)
	}
	var got struct {
		Kind   string
		Claims []struct {
			Name, Verdict string
			Checks, Facts []struct {
				Column   string
				From, To *float64
				Value    float64
				Exact    bool
				Met      string
			}
		}
	}
	if err := json.Unmarshal([]byte(text), &got); err != nil {
		t.Fatal(err)
	}
	if got.Kind != "servesim-claims" || len(got.Claims) != 1 || got.Claims[0].Verdict != "partly reproduced" || len(got.Claims[0].Checks) != 4 {
		t.Fatalf("%+v", got)
	}
	mean := got.Claims[0].Checks[0]
	if mean.Value != 4700.0/520 || !mean.Exact || mean.Met != "yes" || *mean.From != 8.5 || *mean.To != 9.5 {
		t.Errorf("%+v", mean)
	}
}

func TestReproduceFaults(t *testing.T) {
	for _, c := range []struct {
		args []string
		want string
	}{
		{[]string{"dialect"}, `unknown claim "dialect"; did you mean "dialects"?`},
		{[]string{"x", "y"}, `unknown claim "y"`},
		{[]string{"--list", "gaps-7-6"}, `did you mean "gaps-7-60"?`},
		{[]string{"-o", "yaml"}, `--output: unknown form "yaml"; allowed are text, json, markdown`},
		{[]string{"--json", "-o", "text"}, "--json and --output text are two forms"},
		{[]string{"--list", "--json"}, "--list prints names and what they say"},
		{[]string{"--all"}, "unknown flag: --all"},
	} {
		if o := do(t, append([]string{"reproduce"}, c.args...)...); o.code != exitUsage || o.stdout != "" || !strings.Contains(o.stderr, c.want) {
			t.Errorf("%q: exit %d, stdout %q, stderr %q; want %q", c.args, o.code, o.stdout, o.stderr, c.want)
		}
	}
}

// TestReproduceCanBeInterrupted holds that it ends when it is told to, and prints
// nothing.
func TestReproduceCanBeInterrupted(t *testing.T) {
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	var out, stderr bytes.Buffer
	if code := Main(ctx, env{stdout: &out, stderr: &stderr}, []string{"reproduce"}); code != exitFailed || out.Len() > 0 {
		t.Errorf("exit %d, stdout %q, stderr %q", code, &out, &stderr)
	}
}
