package main

import (
	"bytes"
	"context"
	"encoding/json"
	"os"
	"runtime"
	"strings"
	"testing"
	"unicode/utf8"

	"servesim/report"
)

// explained runs explain and holds that no line is wider than text may be, and that
// neither the number of cores nor a terminal changes anything.
func explained(t *testing.T, args ...string) string {
	t.Helper()
	args = append([]string{"explain"}, args...)
	out := ok(t, args...)
	for line := range strings.Lines(out) {
		if n := utf8.RuneCountInString(line) - 1; n > report.Width {
			t.Errorf("%d columns: %s", n, line)
		}
	}
	defer runtime.GOMAXPROCS(runtime.GOMAXPROCS(1))
	var again, stderr bytes.Buffer
	code := Main(t.Context(), env{stdin: strings.NewReader(""), stdout: &again, stderr: &stderr, tty: true}, args)
	if code != exitOK || again.String() != out {
		t.Errorf("on a terminal and one core: exit %d, and it prints\n%s\nwant\n%s", code, &again, out)
	}
	return out
}

func TestExplainGoldens(t *testing.T) {
	for name, args := range map[string][]string{
		"explain.txt":       nil,
		"explain-lives.txt": {"--request", "100", "--worst", "itl,ttft", "-n", "1", "--set", "enable_chunked_prefill=false"},
		"explain-pair.txt":  {"--vary", "enable_chunked_prefill=false,max_num_batched_tokens=2048", "--replications", "5"},
		"explain-knobs.txt": {"--gradient", "--set", "requests=1000", "--replications", "5"},
	} {
		t.Run(name, func(t *testing.T) { golden(t, name, explained(t, args...)) })
	}
}

// TestExplainATrace holds that a trace, which has no seeds, is told of by one run of
// each, with the intervals from within it.
func TestExplainATrace(t *testing.T) {
	rows := "TIMESTAMP,ContextTokens,GeneratedTokens\n"
	for i := range 200 {
		rows += "2023-11-16 18:" + string(rune('1'+i/100)) + string(rune('0'+i/10%10)) + ":0" + string(rune('0'+i%10)) + ".0000000," + []string{"300", "9000"}[i/9%9/8] + ",40\n"
	}
	inFolder(t, map[string]string{"s.toml": small, "t.csv": rows})
	out := explained(t, "s.toml", "--trace", "t.csv", "--vary", "enable_chunked_prefill=false,max_num_batched_tokens=512")
	if !strings.Contains(out, "one run of each on the requests of the trace") || !strings.Contains(out, "From enable_chunked_prefill=false to max_num_batched_tokens=512") {
		t.Error(out)
	}
	if out := explained(t, "s.toml", "--trace", "t.csv", "--gradient"); !strings.Contains(unfolded(out), "One run of each on the requests of the trace") {
		t.Error(out)
	}
}

// TestExplainJSON holds that every question has an answer for programs.
func TestExplainJSON(t *testing.T) {
	inFolder(t, map[string]string{"s.toml": small})
	for kind, args := range map[string]string{
		"servesim-causes":   "s.toml",
		"servesim-lives":    "s.toml --request 3 --worst e2e -n 2",
		"servesim-pairs":    "s.toml --vary gpu=h100,b200 --replications 5",
		"servesim-gradient": "s.toml --gradient --replications 5",
		"servesim-regimes":  "s.toml --regimes --shares 5 --lengths 4000 --loads 50 --budgets 2048 --requests 100 --replications 5",
	} {
		var v struct {
			Schema int
			Kind   string
		}
		out := ok(t, append([]string{"explain", "--json"}, strings.Fields(args)...)...)
		if err := json.Unmarshal([]byte(out), &v); err != nil || v.Schema != 1 || v.Kind != kind {
			t.Errorf("%s: %v, %+v", args, err, v)
		}
	}
}

// TestExplainFromStdin reads a scenario once and simulates it often.
func TestExplainFromStdin(t *testing.T) {
	for _, args := range [][]string{{"--request", "3"}, {"--gradient", "--replications", "2"}, {"--vary", "max_num_seqs=4,8", "--replications", "2"}} {
		var out, stderr bytes.Buffer
		e := env{stdin: strings.NewReader(small), stdout: &out, stderr: &stderr}
		if code := Main(t.Context(), e, append([]string{"explain", "-"}, args...)); code != exitOK || !strings.HasPrefix(out.String(), "Scenario    small, seed 3\n") {
			t.Errorf("%q: exit %d, stderr %q, stdout %s", args, code, &stderr, &out)
		}
	}
}

func TestExplainFaults(t *testing.T) {
	inFolder(t, map[string]string{"s.toml": small, "other.toml": changed("seed = 3", "seed = 4"), "t.csv": azure})
	for args, want := range map[string]string{
		"--request 3 --request 123456":           "--request 123456: the run has no such request",
		"--request first":                        `"first"`,
		"--worst ttft,latency":                   `unknown metric "latency"; the metrics are ttft, tpot, itl`,
		"--worst ttft -n 0":                      "--number 0: from 1 to 100",
		"-n 3":                                   "--number changes nothing without --worst",
		"--gradient --regimes":                   "--gradient and --regimes are different questions",
		"--worst ttft --gradient":                "--worst and --gradient are different questions",
		"--vary seed=1,2 --gradient":             "--gradient and a pair are different questions",
		"--vary max_num_seqs=8,9 --request 3":    "--request and a pair are different questions",
		"--replications 10":                      "--replications changes nothing without --regimes, --gradient or a pair",
		"--gradient --replications 1":            "it takes 2 or more",
		"--loads 50 --markdown":                  "--loads changes nothing without --regimes",
		"--regimes --markdown --json":            "two forms of the same",
		"--regimes --shares 1,x --lengths 1k":    "--shares: \"x\": must be a number of per cent",
		"--regimes --lengths 1k":                 "--lengths: \"1k\": must be a whole number of tokens",
		"--regimes --replications 3":             "found 3 seeds; from 5",
		"--regimes --requests 5":                 "found 5 requests of a run",
		"--regimes --loads 150":                  "a load of 150 %",
		"--regimes --lengths 200000":             "don't fit max_model_len",
		"--regimes --trace t.csv":                "replays a trace or merges workloads",
		"--vary seed=1":                          "is one alternative",
		"--vary seed=1,2":                        "have other requests, in seed",
		"s.toml other.toml":                      "have other requests, in seed",
		"s.toml missing.toml":                    "missing.toml",
		"--vary policy=vllm@0.20,vllm@9":         `unknown engine version "vllm@9"`,
		"--gradient --set policy=vllm@9":         `unknown engine version "vllm@9"`,
		"--request 1 --set goodput=ttft:1 --set": "flag needs an argument",
	} {
		o := do(t, append([]string{"explain"}, strings.Fields(args)...)...)
		if o.code != exitUsage || o.stdout != "" || !strings.Contains(o.stderr, want) {
			t.Errorf("explain %s: exit %d, stdout %q, stderr %q; want %q", args, o.code, o.stdout, o.stderr, want)
		}
	}
}

// TestExplainCanBeInterrupted holds that a question of many runs ends when it is told
// to.
func TestExplainCanBeInterrupted(t *testing.T) {
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	for _, args := range [][]string{{"--gradient"}, {"--regimes"}, {"--request", "1"}, nil} {
		var out, stderr bytes.Buffer
		if code := Main(ctx, env{stdout: &out, stderr: &stderr}, append([]string{"explain"}, args...)); code != exitFailed || out.Len() > 0 {
			t.Errorf("%q: exit %d, stdout %q, stderr %q", args, code, &out, &stderr)
		}
	}
}

// TestChunkedPrefillDocIsFresh simulates one workload of the map in the manual again:
// its row must be there. With -update all of the manual is written anew, which takes
// a while.
func TestChunkedPrefillDocIsFresh(t *testing.T) {
	const path = "../../docs/chunked-prefill.md"
	if *update {
		goldenIn(t, "../../docs", "chunked-prefill.md", ok(t, "explain", "--regimes", "--markdown"))
		return
	}
	doc, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	part := ok(t, "explain", "--regimes", "--shares", "1", "--lengths", "16000", "--markdown")
	rows := 0
	for line := range strings.Lines(part) {
		row := strings.Join(strings.Fields(line), " ")
		if !strings.HasPrefix(row, "1 % 16,000 ") {
			continue
		}
		rows++
		if !strings.Contains(strings.Join(strings.Fields(string(doc)), " "), row) {
			t.Errorf("%s has no row %q; go test ./cmd/servesim -run ChunkedPrefillDoc -update writes it, CHANGELOG's Results says why", path, row)
		}
	}
	if rows != 2 {
		t.Errorf("%d rows were looked for, want 2:\n%s", rows, part)
	}
}
