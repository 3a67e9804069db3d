package main

import (
	"bytes"
	"encoding/json"
	"os"
	"path/filepath"
	"servesim/scenario"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

// merging is small with two workloads merged with it: a trace, and a preset that
// has a rate of its own.
const merging = small + `
[[workload.merge]]
trace = "trace.csv"
class = "recorded"

[[workload.merge]]
preset = "azure-code"
requests = 10
rate_per_s = 5.0
`

// merged returns small with text after it, the members of a list of workloads.
func merged(text string) string { return small + text }

// A sent is what of a request a workload says.
type sent struct {
	Arrival int64  `json:"arrival_ps"`
	Prompt  int64  `json:"prompt_tokens"`
	Output  int64  `json:"output_tokens"`
	Class   string `json:"class"`
}

// sentIn returns the requests of a record file and how often each was sent.
func sentIn(t *testing.T, file string) map[sent]int {
	t.Helper()
	text, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	all := map[sent]int{}
	for line := range strings.Lines(string(text)) {
		r := struct {
			Type string `json:"type"`
			sent
		}{}
		if err := json.Unmarshal([]byte(line), &r); err != nil {
			t.Fatal(err)
		}
		if r.Type == "request" {
			all[r.sent]++
		}
	}
	return all
}

// outcomeWith runs servesim with stdin.
func outcomeWith(t *testing.T, stdin string, args ...string) outcome {
	t.Helper()
	var out, err bytes.Buffer
	code := Main(t.Context(), env{stdin: strings.NewReader(stdin), stdout: &out, stderr: &err}, args)
	return outcome{code, out.String(), err.String()}
}

// TestMergedLines by hand: each part has a line with its counts, and every row
// and draw is one of the requests.
func TestMergedLines(t *testing.T) {
	inFolder(t, map[string]string{"s.toml": merging, "trace.csv": azure})
	out := unfolded(ok(t, "run", "s.toml"))
	for _, want := range []string{
		"Workload    poisson arrivals at 4 requests/s, 20 requests\n" +
			"merge[0]    trace.csv (azure): 3 rows, 3 requests over 4.542 s (0.661 requests/s), 1,649 prompt and 208 output tokens; class \"recorded\"\n" +
			"merge[1]    azure-code: on_off arrivals at 5 requests/s in the mean, 10 requests merge: requests of workload: 20 merge: requests of merge[0]: 3 merge: requests of merge[1]: 10\n",
		"Requests    33: 33 completed",
	} {
		if !strings.Contains(out, want) {
			t.Errorf("lacks %s:\n%s", want, out)
		}
	}
	var got struct {
		Input struct {
			Trace  *struct{}
			Merged []struct {
				Key, Class string
				Trace      *struct{ Rows, Kept int64 }
			}
			Transforms []scenario.InputCount
		}
	}
	if err := json.Unmarshal([]byte(ok(t, "run", "s.toml", "--json")), &got); err != nil {
		t.Fatal(err)
	}
	in := got.Input
	if m := in.Merged; in.Trace != nil || len(m) != 2 || m[0].Key != "workload.merge[0]" || m[0].Class != "recorded" || m[0].Trace.Kept != 3 || m[1].Trace != nil {
		t.Errorf("%+v", in)
	}
	if diff := cmp.Diff([]scenario.InputCount{{What: "merge: requests of workload", Count: 20}, {What: "merge: requests of merge[0]", Count: 3}, {What: "merge: requests of merge[1]", Count: 10}}, in.Transforms); diff != "" {
		t.Error(diff)
	}
}

// TestMergeKeepsDraws holds that no workload draws anything else because another
// is merged too, and that the class of one reaches its requests only.
func TestMergeKeepsDraws(t *testing.T) {
	chat := "[[workload.merge]]\npreset = \"azure-chat\"\nrequests = 15\nclass = \"chat\"\n"
	code := "[[workload.merge]]\npreset = \"azure-code\"\nrequests = 12\nclass = \"code\"\n"
	inFolder(t, map[string]string{"0.toml": small, "1.toml": merged(chat), "2.toml": merged(chat + code), "twice.toml": merged(chat + strings.Replace(chat, `"chat"`, `"again"`, 1))})
	runs := map[string]map[sent]int{}
	for _, name := range []string{"0", "1", "2", "twice"} {
		ok(t, "run", name+".toml", "--records", name+".jsonl")
		runs[name] = sentIn(t, name+".jsonl")
	}
	for name, want := range map[string]map[string]int{
		"0": {"": 20}, "1": {"": 20, "chat": 15}, "2": {"": 20, "chat": 15, "code": 12}, "twice": {"": 20, "chat": 15, "again": 15},
	} {
		got := map[string]int{}
		for r, n := range runs[name] {
			got[r.Class] += n
		}
		if diff := cmp.Diff(want, got); diff != "" {
			t.Errorf("%s: %s", name, diff)
		}
	}
	for _, c := range [][2]string{{"0", "1"}, {"1", "2"}, {"1", "twice"}} {
		for r, n := range runs[c[0]] {
			if runs[c[1]][r] != n {
				t.Errorf("%s.toml has %+v, and %s.toml doesn't", c[0], r, c[1])
			}
		}
	}
	for r := range runs["twice"] {
		if r.Class = "chat"; r.Arrival > 0 && runs["1"][r] == 0 {
			return // the second is drawn otherwise
		}
	}
	t.Error("the same description twice is drawn the same twice")
}

// TestMergedThenTransformed holds that transforms are of what was merged.
func TestMergedThenTransformed(t *testing.T) {
	inFolder(t, map[string]string{"s.toml": merging, "trace.csv": azure})
	out := unfolded(ok(t, "run", "s.toml", "--set", "limit=12", "--set", "class=all"))
	for _, want := range []string{"Transform   limit = 12, class = \"all\"", "limit: requests kept, of at most 12: 12", "Requests    12: 12 completed"} {
		if !strings.Contains(out, want) {
			t.Errorf("lacks %s:\n%s", want, out)
		}
	}
	out = unfolded(ok(t, "run", "s.toml", "--set", "transform.rate=2"))
	for _, want := range []string{"merge: requests of merge[0]: 3 ", "Requests    66: 66 completed"} {
		if !strings.Contains(out, want) {
			t.Errorf("lacks %s:\n%s", want, out)
		}
	}
}

// TestMergedPathsAreFromTheirFile holds that a trace of a list is found from the
// folder of the scenario, and that its folder doesn't change the hash.
func TestMergedPathsAreFromTheirFile(t *testing.T) {
	inFolder(t, map[string]string{"trace.csv": azure})
	for _, folder := range []string{"a", "b"} {
		must(os.Mkdir(folder, 0o755))
		must(os.WriteFile(filepath.Join(folder, "trace.csv"), []byte(azure), 0o644))
		must(os.WriteFile(filepath.Join(folder, "s.toml"), []byte(merging), 0o644))
	}
	hash := func(path string, sets ...scenario.Setting) string {
		p, err := scenario.Load(scenario.Source{Path: path, Settings: sets})
		if err != nil {
			t.Fatal(err)
		}
		if got, want := p.Scenario.Workload.Merge[0].Trace, filepath.Join(filepath.Dir(path), "trace.csv"); len(sets) == 0 && got != want {
			t.Errorf("the trace is at %s, want %s", got, want)
		}
		return p.Scenario.Hash()
	}
	if hash("a/s.toml") != hash("b/s.toml") {
		t.Error("the folder of the trace changes the hash")
	}
	inline := scenario.Setting{Key: "workload.merge", Value: scenario.TOMLValue(`[{ trace = "trace.csv" }]`), Text: "merge", Flag: "--set"}
	if hash("a/s.toml") == hash("a/s.toml", inline) {
		t.Error("another list has the same hash")
	}
}

func TestMergeFaults(t *testing.T) {
	loop := `closed_loop = { users = 3 }`
	drawn := "requests = 5\nprompt = { dist = \"constant\", value = 9 }\noutput = { dist = \"constant\", value = 9 }\n"
	list := func(text string) string { return merged("[[workload.merge]]\n" + text + "\n") }
	bad := "TIMESTAMP,ContextTokens,GeneratedTokens\n2023-11-16 18:15:46.68,374,0\n"
	for _, c := range []struct{ text, want string }{
		{list("preset = \"azure\""), "s.toml:20: workload.merge[0].preset: is \"azure\""},
		{list("preset = \"azure-chat\"\nrate_per_s = 0"), "s.toml:21: workload.merge[0].rate_per_s: is 0"},
		{list("preset = \"azure-chat\"\nrequest = 5"), `s.toml:21: workload.merge[0].request: unknown key; did you mean "requests"?`},
		{list("preset = \"azure-chat\"\nmerge = []"), "s.toml:21: workload.merge[0].merge: unknown key"},
		{list("class = \"a\""), "s.toml:19: workload.merge[0]: missing; give a trace, a preset"},
		{list("trace = \"t.csv\"\nrequests = 5"), "s.toml:21: workload.merge[0].requests: has no meaning beside trace"},
		{list("trace = \"t.csv\"\nformat = \"azur\""), "s.toml:21: workload.merge[0].format: "},
		{list("preset = \"azure-chat\"\nsort = true"), "s.toml:21: workload.merge[0].sort: says how to read a trace, but there is none"},
		{list("preset = \"azure-chat\"") + "[[workload.merge]]\nclass = 5\n", "s.toml:22: workload.merge[1].class: found 5; must be a string"},
		{list(drawn + loop), "s.toml:23: workload.merge[0].closed_loop: cannot be merged: users who wait for their answers have no arrival times"},
		{strings.Replace(list("preset = \"azure-chat\""), `arrival = { process = "poisson", rate_per_s = 4 }`, loop, 1), "s.toml:7: workload.closed_loop: cannot be merged"},
		{list("trace = \"-\"") + "[[workload.merge]]\ntrace = \"-\"\n", "s.toml:22: workload.merge[1].trace: is standard input, which can be read only once and which workload.merge[0].trace reads"},
		{list("trace = \"-\"") + "[transform]\nrate = 2\n", "s.toml:20: workload.merge[0].trace: is standard input, which can be read only once, and transform.rate reads"},
		{list("trace = \"t.csv\""), "t.csv:2: GeneratedTokens: found 0, want a whole number of tokens from 1 to 2147483647; workload.merge[0].zero_tokens=drop leaves"},
		{list("trace = \"t.csv\"\nzero_tokens = \"keep\""), `t.csv: workload.merge[0].zero_tokens: found "keep"`},
		{strings.Replace(small, "requests = 20", "requests = 20\nmerge = 5", 1), "s.toml:7: workload.merge: found 5; must be a list"},
		{strings.Replace(small, "requests = 20", "requests = 20\nmerge = [{ preset = \"azure-chat\" }, { preset = \"azure\" }]", 1), "s.toml:7: workload.merge[1].preset: is \"azure\""},
	} {
		inFolder(t, map[string]string{"s.toml": c.text, "t.csv": bad})
		o := outcomeWith(t, azure, "run", "s.toml")
		if o.code != exitUsage || o.stdout != "" || !strings.Contains(o.stderr, c.want) || strings.Count(o.stderr, "\n") != 1 {
			t.Errorf("exit %d, %s; want %s", o.code, o.stderr, c.want)
		}
	}
}

// TestMergedProgress holds that the bar is of all requests if all are counted, of
// the bytes of all traces if all are traces, and of nothing else.
func TestMergedProgress(t *testing.T) {
	drawn, trace := "{ preset = \"azure-chat\", requests = 5 }", `{ trace = "t.csv" }`
	inFolder(t, map[string]string{"s.toml": small, "t.csv": azure})
	for _, c := range []struct {
		trace, merge string
		total, bytes int64
	}{
		{"", "[" + drawn + ", " + drawn + "]", 30, 0},
		{"", "[" + trace + "]", -1, 0},
		{"t.csv", "[" + drawn + "]", -1, 0},
		{"t.csv", "[" + trace + ", " + trace + "]", -1, 3 * int64(len(azure))},
		{"t.csv", `[{ trace = "t.csv", sort = true }]`, -1, 0},
	} {
		in, s := opened(t, c.trace, "workload.merge="+c.merge)
		var bytes int64
		if run := newTracked(in, s); run != nil {
			_, bytes = run.read()
		}
		if in.Total != c.total || bytes != c.bytes {
			t.Errorf("%q with %s: of %d requests or %d bytes, want %d or %d", c.trace, c.merge, in.Total, bytes, c.total, c.bytes)
		}
	}
}

// TestRecordedTracesMerge replays two recorded traces at once: each row of both is
// a request that ends in an outcome.
func TestRecordedTracesMerge(t *testing.T) {
	conv, code := shared(t, "traces/azure/AzureLLMInferenceTrace_conv.csv"), shared(t, "traces/azure/AzureLLMInferenceTrace_code.csv")
	inFolder(t, map[string]string{"s.toml": small})
	out := unfolded(ok(t, "run", "s.toml", "--trace", conv, "--set", `workload.merge=[{ trace = "`+code+`", class = "code" }]`))
	for _, want := range []string{
		"19,366 rows, 19,366 requests", "8,819 rows, 8,819 requests", "merge: requests of workload: 19,366", "merge: requests of merge[0]: 8,819",
		"Requests    28,185: 28,185 completed",
	} {
		if !strings.Contains(out, want) {
			t.Errorf("lacks %s:\n%s", want, out)
		}
	}
}
