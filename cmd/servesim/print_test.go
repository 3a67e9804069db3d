package main

import (
	"os"
	"strings"
	"testing"

	"servesim/scenario"
	"servesim/sim/workload"

	"github.com/google/go-cmp/cmp"
)

// printed writes what args print to mine.toml.
func printed(t *testing.T, args ...string) {
	t.Helper()
	text := ok(t, append([]string{"run", "--print"}, args...)...)
	if err := os.WriteFile("mine.toml", []byte(text), 0o644); err != nil {
		t.Fatal(err)
	}
}

// quick makes a run of the default scenario short.
const quick = "--set requests=40"

// TestPrintedThenOverridden holds that overriding a printed scenario gives what
// overriding the one that was printed gives, in every byte.
func TestPrintedThenOverridden(t *testing.T) {
	inFolder(t, map[string]string{"s.toml": small})
	base := [][]string{strings.Fields(quick), {"s.toml"}}
	for _, p := range workload.Presets() {
		base = append(base, append(strings.Fields(quick), "--set", "preset="+p.Name, "--set", "rate_per_s=2"))
	}
	for _, p := range scenario.PolicyNames() {
		base = append(base, append(strings.Fields(quick), "--policy", p))
	}
	over := []string{
		"run --gpu b200",
		"run --set max_num_batched_tokens=512",
		"run --set enable_chunked_prefill=false",
		"run --set max_model_len=40000",
		"run --set host.engine=generic",
		"run --set network.request.value=3ms",
		"run --set block_size=32 --records r.jsonl",
		"compare --vary gpu=h100,b200",
		"compare --vary enable_chunked_prefill=false,true",
	}
	for i, b := range base {
		printed(t, b...)
		for j, line := range over {
			if testing.Short() && j%3 != i%3 {
				continue
			}
			words := strings.Split(line, " ")
			direct, from := append(words, b...), append([]string{words[0], "mine.toml"}, words[1:]...)
			a := do(t, direct...)
			recordA, _ := os.ReadFile("r.jsonl")
			b := do(t, from...)
			recordB, _ := os.ReadFile("r.jsonl")
			if a.code != exitOK && a.code != exitUsage || a.code != b.code || a.stdout != b.stdout || string(recordA) != string(recordB) {
				t.Errorf("%q: exit %d and %d, stderr %q and %q\n%s", direct, a.code, b.code, a.stderr, b.stderr, cmp.Diff(a.stdout, b.stdout))
			}
		}
	}
}

// TestPrintedPolicyIsReplaced holds that a printed scenario takes another version
// of the engine and its defaults.
func TestPrintedPolicyIsReplaced(t *testing.T) {
	inFolder(t, nil)
	names := scenario.PolicyNames()
	for i, from := range names {
		printed(t, append(strings.Fields(quick), "--policy", from)...)
		for j, to := range names {
			if testing.Short() && j != (i+1)%len(names) {
				continue
			}
			direct := ok(t, append([]string{"run", "--policy", to}, strings.Fields(quick)...)...)
			if diff := cmp.Diff(direct, ok(t, "run", "mine.toml", "--policy", to)); diff != "" {
				t.Errorf("from %s to %s: %s", from, to, diff)
			}
		}
	}
}

// TestPrintedWorkloadHasOneRate holds that the rate which is drawn is the only one
// printed.
func TestPrintedWorkloadHasOneRate(t *testing.T) {
	inFolder(t, nil)
	out := ok(t, "run", "--print", "--set", "rate_per_s=7.25")
	if strings.Count(out, "rate_per_s = 7.25") != 2 || strings.Count(out, "rate_per_s") != 2 {
		t.Errorf("want 7.25 requests/s as the rate and in the arrivals:\n%.600s", out)
	}
}

// TestPrintedEmptyClasses holds that a list that was emptied stays so.
func TestPrintedEmptyClasses(t *testing.T) {
	inFolder(t, nil)
	printed(t, "--set", "classes=[]", "--set", "requests=50")
	if diff := cmp.Diff(ok(t, "run", "--set", "classes=[]", "--set", "requests=50"), ok(t, "run", "mine.toml")); diff != "" {
		t.Error(diff)
	}
}
