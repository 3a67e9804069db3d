package main

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// shared returns the path of something recorded, or skips the test.
func shared(t *testing.T, name string) string {
	t.Helper()
	path, err := filepath.Abs(filepath.Join("..", "..", "..", "shared", name))
	if err == nil {
		_, err = os.Stat(path)
	}
	if err != nil {
		t.Skipf("../shared/%s is not here, so what it recorded isn't replayed", name)
	}
	return path
}

// TestRecordedTracesAreAccountedFor replays whole recorded traces: every row
// becomes a request that ends in an outcome.
func TestRecordedTracesAreAccountedFor(t *testing.T) {
	for _, c := range []struct{ trace, flags, rows string }{
		{"azure/AzureLLMInferenceTrace_conv.csv", "--model Llama-3.1-8B --tp 1 --dtype bf16", "19,366"},
		{"azure/AzureLLMInferenceTrace_code.csv", "--model Llama-3.1-8B --tp 1 --dtype bf16", "8,819"},
		{"mooncake/conversation_trace.jsonl", "--gpu h100", "12,031"},
		{"mooncake/conversation_trace.jsonl", "--gpu b200", "12,031"},
	} {
		args := append([]string{"run", "--trace", shared(t, "traces/"+c.trace)}, strings.Split(c.flags, " ")...)
		out := ok(t, args...)
		for _, want := range []string{c.rows + " rows, " + c.rows + " requests", "Requests    " + c.rows + ": " + c.rows + " completed"} {
			if !strings.Contains(unfolded(out), want) {
				t.Errorf("%s %s: the output lacks %q:\n%s", c.trace, c.flags, want, out)
			}
		}
	}
}

// TestConform replays recorded schedules through the policies they were
// recorded from, and through another, from which they differ.
func TestConform(t *testing.T) {
	named, random := shared(t, "vectors/named.json"), shared(t, "vectors/random.json")
	out := ok(t, "conform", named, random)
	for _, want := range []string{named + ": 138 of 138 replayed", random + ": 301 of 301 replayed", "2 files: 439 of 439 replayed", "read     30: not recorded from an engine that ran", "skipped", "prefix caching of vLLM V0"} {
		if !strings.Contains(out, want) {
			t.Errorf("the output lacks %q:\n%s", want, out)
		}
	}
	o := do(t, "conform", named, "--policy", "vllm@0.11")
	if o.code != exitFailed || !strings.Contains(o.stdout, "differs") {
		t.Errorf("the wrong version: exit %d\n%s%s", o.code, o.stdout, o.stderr)
	}
}

// TestExamples runs every scenario of the folder examples.
func TestExamples(t *testing.T) {
	files, err := filepath.Glob("../../examples/*.toml")
	if err != nil || len(files) == 0 {
		t.Fatalf("no examples: %v", err)
	}
	for _, f := range files {
		if out := ok(t, "run", f); strings.Contains(out, "Requests    0") {
			t.Errorf("%s: nothing ran:\n%s", f, out)
		}
	}
}
