package main

import (
	"bytes"
	"context"
	"errors"
	"flag"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

// update rewrites golden files and the blocks of README.
var update = flag.Bool("update", false, "rewrite golden files")

// An outcome is what a command did.
type outcome struct {
	code           int
	stdout, stderr string
}

// do runs servesim in-process.
func do(t *testing.T, args ...string) outcome {
	t.Helper()
	var out, err bytes.Buffer
	code := Main(t.Context(), env{stdin: strings.NewReader(""), stdout: &out, stderr: &err}, args)
	return outcome{code, out.String(), err.String()}
}

// ok runs servesim, which must succeed and say nothing on stderr, and returns
// its result.
func ok(t *testing.T, args ...string) string {
	t.Helper()
	o := do(t, args...)
	if o.code != exitOK || o.stderr != "" {
		t.Fatalf("servesim %s: exit %d, stderr %q", strings.Join(args, " "), o.code, o.stderr)
	}
	return o.stdout
}

// unfolded undoes report.Fold, so that a test can look for a sentence.
func unfolded(out string) string { return strings.ReplaceAll(out, "\n            ", " ") }

// golden compares got with testdata/name, or writes it with -update.
func golden(t *testing.T, name, got string) {
	t.Helper()
	goldenIn(t, "testdata", name, got)
}

// goldenIn compares got with the file name in folder, or writes it with -update.
func goldenIn(t *testing.T, folder, name, got string) {
	t.Helper()
	path := filepath.Join(folder, name)
	if *update {
		if err := os.WriteFile(path, []byte(got), 0o644); err != nil {
			t.Fatal(err)
		}
		return
	}
	want, err := os.ReadFile(path)
	if err != nil {
		t.Fatalf("%v; go test -update writes it", err)
	}
	if diff := cmp.Diff(string(want), got); diff != "" {
		t.Errorf("%s has moved; go test -update writes it, CHANGELOG's Results says why\n%s", path, diff)
	}
}

// inFolder makes a folder with files the working folder of the test.
func inFolder(t *testing.T, files map[string]string) {
	t.Helper()
	t.Chdir(t.TempDir())
	for name, text := range files {
		if err := os.WriteFile(name, []byte(text), 0o644); err != nil {
			t.Fatal(err)
		}
	}
}

// small is a scenario that runs in no time.
const small = `schema = 1
name = "small"
seed = 3

[workload]
requests = 20
arrival = { process = "poisson", rate_per_s = 4 }
prompt = { dist = "constant", value = 1000 }
output = { dist = "constant", value = 20 }

[engine]
policy = "vllm@0.20"

[hardware]
gpu = "h100"

[model]
name = "Llama-3.1-8B"
`

// azure is a trace of three requests.
const azure = `TIMESTAMP,ContextTokens,GeneratedTokens
2023-11-16 18:15:46.6805900,374,44
2023-11-16 18:15:50.9951690,396,109
2023-11-16 18:15:51.2224670,879,55
`

// changed returns small with one piece of its text replaced.
func changed(old, new string) string {
	if !strings.Contains(small, old) {
		panic("the scenario small has no " + old)
	}
	return strings.Replace(small, old, new, 1)
}

// TestPrintedScenarioIsWhatRan holds that what ran is always a file: printing a
// scenario and running that gives the same bytes, and prints itself.
func TestPrintedScenarioIsWhatRan(t *testing.T) {
	loop := changed(`arrival = { process = "poisson", rate_per_s = 4 }`,
		`closed_loop = { users = 3, think_time = { dist = "exponential", mean = "2s" } }`)
	for _, args := range [][]string{
		{"--set", "requests=200"},
		{"--set", "requests=50", "--policy", "vllm@0.8-v0", "--gpu", "b200", "--dtype", "fp4", "--goodput", "ttft:200.5"},
		{"--set", "requests=50", "--policy", "vllm@main", "--set", "watermark=0.01", "--set", "timeout=3s", "--set", "weights_bytes=20000000000"},
		{"loop.toml", "--seed", "9", "--set", "max_output=7"},
		{"--trace", "trace.csv", "--set", "transform.rate=2.5", "--set", "class=chat"},
		{"merge.toml"},
		{"merge.toml", "--set", "transform.rate=1.5", "--set", "from=1s"},
		{"--set", "requests=50", "--set", "preset=azure-chat", "--set", "transform.rate=1.5", "--set", "from=1s"},
	} {
		inFolder(t, map[string]string{"loop.toml": loop, "trace.csv": azure, "merge.toml": merging})
		printed := ok(t, append([]string{"run", "--print"}, args...)...)
		if err := os.WriteFile("printed.toml", []byte(printed), 0o644); err != nil {
			t.Fatal(err)
		}
		if diff := cmp.Diff(printed, ok(t, "run", "--print", "printed.toml")); diff != "" {
			t.Errorf("%q: printing what was printed differs: %s", args, diff)
		}
		ran := ok(t, append([]string{"run", "--records", "a.jsonl"}, args...)...)
		if diff := cmp.Diff(ran, ok(t, "run", "--records", "b.jsonl", "printed.toml")); diff != "" {
			t.Errorf("%q: running what was printed differs: %s", args, diff)
		}
		a, errA := os.ReadFile("a.jsonl")
		b, errB := os.ReadFile("b.jsonl")
		if err := errors.Join(errA, errB); err != nil {
			t.Fatal(err)
		}
		if !bytes.Equal(a, b) {
			t.Errorf("%q: the records differ", args)
		}
	}
}

func TestDefaultScenarioGoldens(t *testing.T) {
	golden(t, "print.toml", ok(t, "run", "--print"))
	golden(t, "run.txt", ok(t, "run"))
}

// TestCancelledRunEndsCleanly interrupts a run before it begins.
func TestCancelledRunEndsCleanly(t *testing.T) {
	inFolder(t, nil)
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	var out, err bytes.Buffer
	code := Main(ctx, env{stdout: &out, stderr: &err}, []string{"run", "--records", "r.jsonl"})
	if code != exitFailed || out.Len() > 0 || !strings.Contains(err.String(), "interrupted") {
		t.Errorf("exit %d, stdout %q, stderr %q", code, &out, &err)
	}
	if left, _ := os.ReadDir("."); len(left) > 0 {
		t.Errorf("%v was left behind", left)
	}
}
