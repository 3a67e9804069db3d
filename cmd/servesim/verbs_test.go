package main

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"servesim/sim/observe"
)

// TestVerbsPassWhatTheyWereAsked checks flags without running anything.
func TestVerbsPassWhatTheyWereAsked(t *testing.T) {
	var run *runOptions
	cmd := newRun(env{}, func(_ context.Context, o *runOptions) error { run = o; return nil })
	cmd.SetArgs([]string{"a.toml", "--json", "--records", "r", "--percentiles", "50", "--gpu", "b200", "--set", "seed=4"})
	if err := cmd.Execute(); err != nil {
		t.Fatal(err)
	}
	if run.source.Path != "a.toml" || !run.form.json || run.print || run.records != "r" || run.percentiles != "50" {
		t.Errorf("run was asked for %+v", run)
	}
	if s := run.source.Settings; len(s) != 2 || s[0].Key != "hardware.gpu" || s[0].Value != "b200" || s[1].Key != "seed" || s[1].Value != int64(4) {
		t.Errorf("settings %+v", run.source.Settings)
	}
	var compare *compareOptions
	cmd = newCompare(env{}, func(_ context.Context, o *compareOptions) error { compare = o; return nil })
	cmd.SetArgs([]string{"--vary", "gpu=h100,b200", "--vary", "seed=1,2"})
	if err := cmd.Execute(); err != nil {
		t.Fatal(err)
	}
	want := "gpu=h100+seed=1|gpu=h100+seed=2|gpu=b200+seed=1|gpu=b200+seed=2"
	if got := strings.Join(compare.labels, "|"); got != want {
		t.Errorf("labels %s, want %s", got, want)
	}
}

// TestFileLabels holds that no two columns have the same head.
func TestFileLabels(t *testing.T) {
	for paths, want := range map[string]string{
		"x.toml y.toml":            "x y",
		"a/x.toml b/y.toml":        "x y",
		"a/x.toml b/x.toml y.toml": "a/x b/x y",
		"x.toml x.toml":            "x (1) x (2)",
	} {
		if got := strings.Join(fileLabels(strings.Fields(paths)), " "); got != want {
			t.Errorf("%s: %s, want %s", paths, got, want)
		}
	}
}

// TestWorkloadLine by hand.
func TestWorkloadLine(t *testing.T) {
	inFolder(t, map[string]string{"s.toml": small, "t.csv": azure,
		"loop.toml": changed(`arrival = { process = "poisson", rate_per_s = 4 }`, `closed_loop = { users = 3, think_time = { dist = "exponential", mean = "2s" } }`),
		"one.toml":  changed(`arrival = { process = "poisson", rate_per_s = 4 }`, `closed_loop = { users = 1 }`),
		"steps.toml": changed(`arrival = { process = "poisson", rate_per_s = 4 }`,
			`arrival = { process = "piecewise", window = "1s", rates_per_s = [1, 2], repeat = true }`),
		"azure.toml": changed(`requests = 20
arrival = { process = "poisson", rate_per_s = 4 }
prompt = { dist = "constant", value = 1000 }
output = { dist = "constant", value = 20 }
`, "preset = \"azure-chat\"\nrequests = 1\nrate_per_s = 1000\n"),
	})
	for args, want := range map[string]string{
		"s.toml":               "Workload    poisson arrivals at 4 requests/s, 20 requests\n",
		"loop.toml":            "Workload    closed loop of 3 users, think time dist = \"exponential\" mean = \"2s\", 20 requests\n",
		"one.toml":             "Workload    closed loop of 1 user, no think time, 20 requests\n",
		"steps.toml":           "Workload    piecewise arrivals at 1.500 requests/s in the mean, 20 requests\n",
		"azure.toml":           "Workload    azure-chat: piecewise arrivals at 1,000 requests/s in the mean, 1 request\n",
		"s.toml --trace t.csv": "Trace       t.csv (azure): 3 rows, 3 requests over 4.542 s (0.661 requests/s), 1,649 prompt and 208 output tokens\n",
	} {
		if out := ok(t, append([]string{"run"}, strings.Fields(args)...)...); !strings.Contains(unfolded(out), want) {
			t.Errorf("%s lacks %s:\n%s", args, want, out)
		}
	}
}

func TestExitCodes(t *testing.T) {
	for want, err := range map[int]error{
		exitOK:     nil,
		exitFailed: errors.New("disk full"),
		exitUsage:  usagef("wrong"),
		exitSLO:    errMissedSLO,
	} {
		if got := (env{stderr: &bytes.Buffer{}}).report(err); got != want {
			t.Errorf("exit %d for %v, want %d", got, err, want)
		}
	}
	inFolder(t, map[string]string{"s.toml": small})
	o := do(t, "run", "s.toml", "--goodput", "ttft:0.001", "--set", "min_goodput=0.5")
	if o.code != exitSLO || o.stdout == "" || !strings.Contains(o.stderr, "slo.min_goodput") {
		t.Errorf("exit %d, stderr %q", o.code, o.stderr)
	}
	o = do(t, "run", "s.toml", "--goodput", "ttft:1000000", "--set", "min_goodput=1")
	if o.code != exitOK {
		t.Errorf("exit %d, stderr %q", o.code, o.stderr)
	}
}

// failing is a disk that is full.
type failing struct{}

func (failing) Write([]byte) (int, error) { return 0, errors.New("no space left on device") }

func TestFullDisk(t *testing.T) {
	inFolder(t, map[string]string{"s.toml": small})
	for _, args := range [][]string{{"run", "s.toml"}, {"run", "s.toml", "--json"}, {"run", "--print"}, {"compare", "s.toml", "--vary", "seed=1,2"}, {"list", "models"}, {"version"}} {
		var stderr bytes.Buffer
		code := Main(t.Context(), env{stdout: failing{}, stderr: &stderr}, args)
		if code != exitFailed || !strings.Contains(stderr.String(), "no space left on device") {
			t.Errorf("%q: exit %d, stderr %q", args, code, &stderr)
		}
	}
}

// TestRejectsAreCounted holds that a request which can never run is counted
// with its reason, and the others run.
func TestRejectsAreCounted(t *testing.T) {
	trace := azure + "2023-11-16 18:15:52,9000,10\n"
	inFolder(t, map[string]string{"s.toml": small, "t.csv": trace})
	for _, c := range []struct{ set, why string }{
		{"max_model_len=8192", "max_model_len"},
		{"num_gpu_blocks_override=200", "blocks"}, // 199 blocks of 16 tokens hold 3,184
	} {
		out := ok(t, "run", "s.toml", "--trace", "t.csv", "--set", c.set)
		if !strings.Contains(out, "4: 3 completed, 1 rejected") || !strings.Contains(out, "1 rejected: ") || !strings.Contains(out, c.why) {
			t.Errorf("%s:\n%s", c.set, out)
		}
	}
}

// TestEveryRowIsAccountedFor holds that dropped and changed rows are printed.
func TestEveryRowIsAccountedFor(t *testing.T) {
	inFolder(t, map[string]string{"s.toml": small, "t.csv": azure + "2023-11-16 18:15:52,0,10\n"})
	out := ok(t, "run", "s.toml", "--trace", "t.csv", "--set", "zero_tokens=drop", "--set", "max_output=50")
	for _, want := range []string{"4 rows, 3 requests", "1 row dropped: 0 ContextTokens", "clip: outputs cut: 2", "clip: output tokens cut off: 64"} {
		if !strings.Contains(out, want) {
			t.Errorf("the output lacks %q:\n%s", want, out)
		}
	}
}

// TestTraceFromStdin reads the trace from the standard input.
func TestTraceFromStdin(t *testing.T) {
	inFolder(t, map[string]string{"s.toml": small})
	var out, stderr bytes.Buffer
	e := env{stdin: strings.NewReader(azure), stdout: &out, stderr: &stderr}
	if code := Main(t.Context(), e, []string{"run", "s.toml", "--trace", "-"}); code != exitOK || !strings.Contains(out.String(), "3 rows, 3 requests") {
		t.Errorf("exit %d, stderr %q, stdout %s", code, &stderr, &out)
	}
}

func TestTraceIsFromTheScenariosFolder(t *testing.T) {
	inFolder(t, nil)
	if err := os.Mkdir("sub", 0o755); err != nil {
		t.Fatal(err)
	}
	for name, text := range map[string]string{"s.toml": changed("requests = 20\n", "trace = \"t.csv\"\n"), "t.csv": azure} {
		text, _, _ := strings.Cut(text, "arrival = {")
		if name == "s.toml" {
			text += small[strings.Index(small, "[engine]"):]
		}
		if err := os.WriteFile(filepath.Join("sub", name), []byte(text), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	if out := ok(t, "run", "sub/s.toml"); !strings.Contains(out, "3 rows, 3 requests") {
		t.Error(out)
	}
}

func TestJSONIsWhole(t *testing.T) {
	inFolder(t, map[string]string{"s.toml": small, "t.csv": azure})
	for _, args := range [][]string{
		{"run", "s.toml", "--json", "--trace", "t.csv"},
		{"compare", "s.toml", "--json", "--vary", "seed=1,2"},
	} {
		var v map[string]any
		if err := json.Unmarshal([]byte(ok(t, args...)), &v); err != nil {
			t.Errorf("%q: %v", args, err)
		}
		if v["schema"] != 1.0 || v["input"] == nil && v["inputs"] == nil {
			t.Errorf("%q: schema %v, input %v, inputs %v", args, v["schema"], v["input"], v["inputs"])
		}
	}
}

func TestComparedRunsSeeTheSameArrivals(t *testing.T) {
	inFolder(t, map[string]string{"a.toml": small, "b.toml": changed("vllm@0.20", "vllm@0.8-v0")})
	out := ok(t, "compare", "a.toml", "b.toml")
	if strings.Contains(out, "arrived at different instants") || !strings.Contains(out, "The same request in b minus in a") {
		t.Error(out)
	}
}

func TestCompletion(t *testing.T) {
	for args, want := range map[string]string{
		"run --policy ":                           "vllm@0.20",
		"run --gpu ":                              "b200",
		"run --model ":                            "llama-3.1-8b",
		"run --format ":                           "mooncake",
		"run --set engine.max":                    "engine.max_num_seqs=",
		"list ":                                   "presets",
		"run --set policy=":                       "policy=vllm@0.20",
		"run --set engine.policy=vllm@m":          "engine.policy=vllm@main",
		"run --set preset=azure-c":                "preset=azure-chat",
		"run --set enable_chunked_prefill=":       "enable_chunked_prefill=false",
		"compare --vary gpu=":                     "gpu=b200",
		"compare --vary gpu=h100,b":               "gpu=h100,b200",
		"compare --vary gpu=h100,engine.policy=v": "gpu=h100,engine.policy=vllm@0.20",
		"compare --vary gpu=h100+hardware.t":      "gpu=h100+hardware.tensor_parallel_size=",
		"compare --vary engine.max":               "engine.max_num_seqs=",
		"run --dialect ":                          "all",
		"analyze --dialect vllm,ll":               "vllm,llmperf",
		"conform --policy ":                       "vllm@0.8-v0",
	} {
		words := strings.Split(args, " ")
		o := do(t, append([]string{"__complete"}, words...)...)
		if !strings.Contains(o.stdout, want+"\n") {
			t.Errorf("completing %q gives %q, want %q in it", args, o.stdout, want)
		}
	}
}

// TestProgressShowsOnlyWhatLasts holds the bar back until a run has lasted.
func TestProgressShowsOnlyWhatLasts(t *testing.T) {
	var quick, slow bytes.Buffer
	for out, ago := range map[*bytes.Buffer]time.Duration{&quick: 0, &slow: 2 * showAfter} {
		p := newProgress(out, "simulating", 4*checkEvery)
		p.out.began = p.out.began.Add(-ago)
		for range 2 * checkEvery {
			if err := p.Request(&observe.Request{}); err != nil {
				t.Fatal(err)
			}
		}
		p.finish()
	}
	if quick.Len() > 0 || !strings.Contains(slow.String(), "simulating") {
		t.Errorf("a quick run shows %q, a slow one %q", &quick, &slow)
	}
}

// TestNameSaysWhatRan holds that a scenario whose workload a trace replaced goes
// by the trace's name, unless it's told another.
func TestNameSaysWhatRan(t *testing.T) {
	inFolder(t, map[string]string{"s.toml": small, "t.csv": azure})
	for want, args := range map[string][]string{
		"small, seed 3": {"s.toml"},
		"t.csv, seed 3": {"s.toml", "--trace", "./t.csv"},
		"mine, seed 3":  {"s.toml", "--trace", "t.csv", "--set", "scenario.name=mine"},
	} {
		if out := ok(t, append([]string{"run"}, args...)...); !strings.HasPrefix(out, "Scenario    "+want+"\n") {
			t.Errorf("%q: %s", args, out)
		}
	}
	var out bytes.Buffer
	e := env{stdin: strings.NewReader(azure), stdout: &out, stderr: &out}
	if Main(t.Context(), e, []string{"run", "s.toml", "--trace", "-"}); !strings.HasPrefix(out.String(), "Scenario    standard input, seed 3\n") {
		t.Error(out.String())
	}
}

// TestPrefixHashesAreCautionedAbout holds that a run of a trace with prefix hashes,
// by an engine whose prefix cache is not modelled, says that nothing is cached, as
// text and in JSON, and no other run does.
func TestPrefixHashesAreCautionedAbout(t *testing.T) {
	const hashed = `{"timestamp": 0, "input_length": 600, "output_length": 5, "hash_ids": [1, 2]}` + "\n"
	const bare = `{"timestamp": 9, "input_length": 600, "output_length": 5}` + "\n"
	inFolder(t, map[string]string{"s.toml": small, "h.jsonl": hashed + bare + bare, "b.jsonl": bare})
	const want = "the prefix cache of vLLM's V0 engine is not modelled: prompt tokens that the real engine would find in its cache are computed; 1 of 3 requests, 33.3 %, carry prefix hashes"
	for _, c := range []struct {
		trace, policy string
		caution       bool
	}{{"h.jsonl", "vllm@0.8-v0", true}, {"b.jsonl", "vllm@0.8-v0", false}, {"h.jsonl", "vllm@0.20", false}} {
		args := []string{"run", "s.toml", "--trace", c.trace, "--set", "engine.policy=" + c.policy}
		if out := ok(t, args...); strings.Contains(unfolded(out), "Caution     "+want+"\n") != c.caution {
			t.Errorf("%v: %s", c, out)
		}
		var v struct{ Input struct{ Cautions []string } }
		if err := json.Unmarshal([]byte(ok(t, append(args, "--json")...)), &v); err != nil {
			t.Fatal(err)
		}
		if slices.Contains(v.Input.Cautions, want) != c.caution {
			t.Errorf("%v: cautions %q", c, v.Input.Cautions)
		}
	}
}

// TestOverloadIsWarnedOf holds that the default scenario warns of overload exactly
// where its budget can't carry it, however much longer than its arrivals it lasts.
func TestOverloadIsWarnedOf(t *testing.T) {
	for budget, want := range map[string]bool{"1": true, "2": true, "4": true, "64": true, "512": false, "8192": false} {
		out := ok(t, "run", "--set", "requests=2000", "--set", "max_num_batched_tokens="+budget)
		if strings.Contains(out, "Warning     overload: ") != want {
			t.Errorf("budget %s: overload %v, want %v:\n%s", budget, !want, want, out)
		}
	}
}
