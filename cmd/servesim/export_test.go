package main

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"

	"servesim/analysis/publish"
)

// drawnExports draws settings of the scenario small under which requests end in
// every way and answers are cut into chunks in every way.
func drawnExports(t *rapid.T) []string {
	set := func(key, value string) []string { return []string{"--set", key + "=" + value} }
	maybe := func(what string, args []string) []string {
		if rapid.Bool().Draw(t, what) {
			return args
		}
		return nil
	}
	args := set("seed", fmt.Sprint(rapid.IntRange(0, 1000).Draw(t, "seed")))
	args = append(args, set("requests", fmt.Sprint(rapid.IntRange(2, 40).Draw(t, "requests")))...)
	args = append(args, set("rate_per_s", fmt.Sprint(rapid.SampledFrom([]int{1, 10, 200}).Draw(t, "rate")))...)
	args = append(args, set("output", fmt.Sprintf("{dist=\"uniform\", min=1, max=%d}", rapid.SampledFrom([]int{1, 2, 40}).Draw(t, "longest answer")))...)
	args = append(args, maybe("timeout", set("timeout", "\"400ms\""))...)
	args = append(args, maybe("cancellations", set("workload.cancel", "{fraction=0.3, after={dist=\"exponential\", mean=\"200ms\"}}"))...)
	args = append(args, maybe("rejections", append(set("prompt", "{dist=\"uniform\", min=1, max=2000}"), set("max_model_len", "1500")...))...)
	args = append(args, maybe("replicas", set("pool.replicas", "2"))...)
	if rapid.Bool().Draw(t, "warm-up") { // which leaves out what a horizon may leave
		args = append(args, set("run.warmup", "1")...)
	} else {
		args = append(args, maybe("horizon", set("horizon", "\"2s\""))...)
	}
	args = append(args, set("stream_interval", fmt.Sprint(rapid.IntRange(1, 5).Draw(t, "interval")))...)
	args = append(args, maybe("coalescing", set("coalesce", "\"17ms\""))...)
	args = append(args, set("role_chunk", rapid.SampledFrom([]string{"none", "accepted", "first_token"}).Draw(t, "role"))...)
	args = append(args, maybe("finish", set("finish_chunk", "true"))...)
	args = append(args, maybe("usage", set("usage_chunk", "true"))...)
	return append(args, maybe("done", set("done_delay", "\"3ms\""))...)
}

// inLaw runs servesim in-process, for laws, and returns what it prints.
func inLaw(t interface{ Fatalf(string, ...any) }, args ...string) string {
	var out, err bytes.Buffer
	if code := Main(context.Background(), env{stdin: strings.NewReader(""), stdout: &out, stderr: &err}, args); code != exitOK {
		t.Fatalf("servesim %s: exit %d: %s", strings.Join(args, " "), code, &err)
	}
	return out.String()
}

// figures returns what a command prints of a dialect for programs.
func figures(t *rapid.T, dialect string, args ...string) any {
	var top map[string]any
	if err := json.Unmarshal([]byte(inLaw(t, append(args, "--json")...)), &top); err != nil {
		t.Fatal(err)
	}
	if runs, listed := top["runs"].([]any); listed {
		top = runs[0].(map[string]any)
	}
	for _, r := range top["dialects"].(map[string]any)["results"].([]any) {
		if r := r.(map[string]any); r["name"] == dialect {
			return r
		}
	}
	t.Fatalf("no dialect %s", dialect)
	return nil
}

// A roundTrip is a tool, what to export for it, and the file with its requests.
type roundTrip struct{ tool, export, file string }

// roundTrips are those of the tools whose files have requests.
func roundTrips() []roundTrip {
	return []roundTrip{{"vllm", "vllm=v.json", "v.json"}, {"aiperf", "aiperf=.", "profile_export.jsonl"}}
}

// limitsOfExports are limits that some requests meet.
const limitsOfExports = "ttft:300 tpot:12 e2el:900"

// Law: what a run is written as, and read back, says in the dialect of the tool
// what the run said, to the last digit: for requests that end in every way, and
// answers cut in every way.
func TestExportsSayWhatTheRunSaid(t *testing.T) {
	inFolder(t, map[string]string{"s.toml": small})
	rapid.Check(t, func(t *rapid.T) {
		settings := drawnExports(t)
		for _, x := range roundTrips() {
			args := append([]string{"run", "s.toml", "--dialect", x.tool, "--goodput", limitsOfExports, "--export", x.export}, settings...)
			want := figures(t, x.tool, args...)
			got := figures(t, x.tool, "analyze", x.file, "--dialect", x.tool, "--goodput", limitsOfExports)
			if diff := cmp.Diff(want, got); diff != "" {
				t.Fatalf("%s: - run, + what it was written as\n%s", strings.Join(args, " "), diff)
			}
		}
	})
}

// TestExportsPrintTheSame holds the same of what is printed for people, of the
// default scenario as a chat server would stream it.
func TestExportsPrintTheSame(t *testing.T) {
	t.Chdir(t.TempDir())
	for _, x := range roundTrips() {
		_, want, _ := strings.Cut(ok(t, "run", "--set", fewRequests, "--set", "stream_interval=4", "--set", "role_chunk=first_token", "--set", "done_delay=3ms",
			"--dialect", x.tool, "--goodput", limitsOfExports, "--export", x.export), "\nTTFT, ms")
		_, got, _ := strings.Cut(ok(t, "analyze", x.file, "--dialect", x.tool, "--goodput", limitsOfExports), "\nTTFT, ms")
		if diff := cmp.Diff(want, got); diff != "" || want == "" {
			t.Errorf("%s: - run, + what it was written as\n%s", x.tool, diff)
		}
	}
}

// ofThisBuild matches what changes with the program or with any key of scenarios.
var ofThisBuild = regexp.MustCompile(`("aiperf_version": "servesim |"benchmark_id": ")[^"]*`)

// TestExportGoldens holds each file of a small run with requests that end in some
// ways. What Parquet files hold, package publish reads back, and package perfetto
// timelines.
func TestExportGoldens(t *testing.T) {
	files := map[string]string{}
	t.Run("in a folder", func(t *testing.T) {
		inFolder(t, map[string]string{"s.toml": small})
		args := []string{
			"run", "s.toml", "--set", "requests=6", "--set", "output={dist=\"uniform\", min=1, max=5}", "--set", "timeout=\"70ms\"", "--goodput", "ttft:300",
			"--set", "rate_per_s=40", "--set", "stream_interval=2",
		}
		plain := do(t, args...)
		args = append(args, "--export-start", "2026-01-31T12:00:00.25Z", "--export-interval", "300ms")
		for _, f := range publish.Formats() {
			path := f.Name + ".out"
			if f.Folder {
				path = "."
			}
			args = append(args, "--export", f.Name+"="+path)
			for _, path := range f.Files(path) {
				files[path] = ""
			}
		}
		if with := do(t, args...); with != plain {
			t.Errorf("--export changes what run prints: %s", cmp.Diff(plain.stdout+plain.stderr, with.stdout+with.stderr))
		}
		for path := range files {
			text, err := os.ReadFile(path)
			if err != nil {
				t.Fatal(err)
			}
			files[path] = string(text)
		}
	})
	for path, text := range files {
		if !strings.HasPrefix(path, "parquet") && !strings.HasPrefix(path, "perfetto") {
			golden(t, filepath.Join("export", path), ofThisBuild.ReplaceAllString(text, "$1…"))
		}
	}
}
