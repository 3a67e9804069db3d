package main

import (
	"encoding/json"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"servesim/analysis/transcript"
	"servesim/sim"
	"servesim/sim/observe"
)

// fewRequests is a run that is over at once.
const fewRequests = "requests=200"

// TestRunDialects holds what the dialects of the first requests of the default
// scenario are: with a token a chunk, and as a chat server streams them.
func TestRunDialects(t *testing.T) {
	plain := ok(t, "run", "--set", fewRequests)
	both := ok(t, "run", "--set", fewRequests, "--dialect", "vllm,llmperf")
	if !strings.HasPrefix(both, plain) {
		t.Error("--dialect changes what run prints, rather than adding to it")
	}
	golden(t, "dialects.txt", strings.TrimPrefix(both, plain))
	chat := ok(t, "run", "--set", fewRequests, "--dialect", "all", "--set", "stream_interval=4",
		"--set", "role_chunk=accepted", "--set", "finish_chunk=true", "--set", "done_delay=3ms", "--set", "slo.goodput=ttft:500 tpot:12 e2el:4000")
	golden(t, "dialects_chat.txt", chat[strings.Index(chat, "\nTTFT, ms"):])
}

// TestDialectsInJSON holds that the member dialects has the same runs, exactly.
func TestDialectsInJSON(t *testing.T) {
	var top struct {
		Latency map[string]struct {
			Mean int64 `json:"mean_ps"`
		} `json:"latency"`
		Dialects struct {
			Results []struct {
				Name    string `json:"name"`
				Metrics []struct {
					Key  string `json:"key"`
					Mean int64  `json:"mean_ps"`
				} `json:"metrics"`
			} `json:"results"`
		} `json:"dialects"`
	}
	if err := json.Unmarshal([]byte(ok(t, "run", "--set", fewRequests, "--json", "--dialect", "servesim,vllm")), &top); err != nil {
		t.Fatal(err)
	}
	if len(top.Dialects.Results) != 2 || top.Dialects.Results[0].Name != "servesim" {
		t.Fatalf("dialects: %+v", top.Dialects)
	}
	for _, m := range top.Dialects.Results[0].Metrics {
		if want := top.Latency[m.Key].Mean; m.Mean != want {
			t.Errorf("servesim's %s has a mean of %d ps, the report %d", m.Key, m.Mean, want)
		}
	}
}

func TestDialectFaults(t *testing.T) {
	for _, c := range []struct {
		args []string
		want string
	}{
		{[]string{"run", "--dialect", "vlm"}, `unknown dialect "vlm"; the dialects are servesim, vllm,`},
		{[]string{"run", "--dialect", "vllm,vllm"}, `dialect "vllm" is listed twice`},
		{[]string{"run", "--dialect", ","}, "no dialect is listed"},
		{[]string{"run", "--print", "--dialect", "vllm"}, "--print runs nothing, so --dialect"},
		{[]string{"run", "--set", "stream_interval=0"}, "streaming.stream_interval: found 0; a chunk has 1 token or more"},
		{[]string{"run", "--set", "role_chunk=first"}, "the places are none, accepted, first_token"},
		{[]string{"run", "--set", "coalesce=-1ms"}, "streaming.coalesce: found -1ms; must be from 0s to"},
		{[]string{"run", "--set", "done_delay=30h"}, "streaming.done_delay: found"},
	} {
		if o := do(t, c.args...); o.code != exitUsage || !strings.Contains(o.stderr, c.want) || o.stdout != "" {
			t.Errorf("servesim %s: exit %d, stderr %q, want %q", strings.Join(c.args, " "), o.code, o.stderr, c.want)
		}
	}
}

// TestRecordsSayTheSame holds that the records of a run are in every dialect what
// the run was, to the last digit, however answers were cut into chunks.
func TestRecordsSayTheSame(t *testing.T) {
	file := filepath.Join(t.TempDir(), "records.jsonl")
	for _, how := range []string{"stream_interval=1", "streaming={stream_interval=4, coalesce=\"9ms\", role_chunk=\"accepted\", finish_chunk=true, usage_chunk=true, done_delay=\"1ms\"}"} {
		run := ok(t, "run", "--set", fewRequests, "--set", how, "--set", "slo.goodput=ttft:500 tpot:15", "--dialect", "all", "--records", file)
		read := ok(t, "analyze", file, "--dialect", "all", "--goodput", "ttft:500 tpot:15")
		begin := "\nTTFT, ms"
		want, got := run[strings.Index(run, begin):], read[strings.Index(read, begin):]
		if diff := cmp.Diff(want, got); diff != "" {
			t.Errorf("%s: - run, + its records:\n%s", how, diff)
		}
	}
}

// oneRequest is the example of a request of which tools say most different things:
// TTFT 500 ms, then 99 tokens in 700 ms, as even as picoseconds allow.
const oneRequest = "../../examples/one-request.jsonl"

// TestOneRequestInDialects holds what two tools make of it: 700 ms over 99 tokens,
// and 1,200 ms over 100.
func TestOneRequestInDialects(t *testing.T) {
	out := ok(t, "analyze", oneRequest, "--dialect", "genai-perf,llmperf")
	golden(t, "one_request.txt", out[strings.Index(out, "\nTTFT, ms"):])
	for _, want := range []string{"genai-perf  1  7.071", "llmperf     1  12.00"} {
		if !strings.Contains(out, want) {
			t.Errorf("there is no %q in\n%s", want, out)
		}
	}
}

// TestOneRequestIsTheExample holds that the example is what its comment says: 99
// steps of 7,070,707,070 ps and a remainder of 70 ps, one each in the last 70.
func TestOneRequestIsTheExample(t *testing.T) {
	var b strings.Builder
	w, err := observe.NewWriter(&b, observe.Header{Policy: "an example: 100 tokens, the first after 500 ms, the last 700 ms later", Streaming: transcript.Streaming{Interval: 1}.Record()})
	if err != nil {
		t.Fatal(err)
	}
	const gap = 7_070_707_070 * sim.Picosecond
	first := sim.Time(500 * sim.Millisecond)
	last := first.Add(700 * sim.Millisecond)
	wide := last.Add(-70 * (gap + 1))
	for _, err := range []error{
		w.Step(&observe.StepRun{Steps: 1, First: sim.Duration(first), Chunks: []observe.Chunk{{ID: 0, Tokens: 200}}, Running: 1, BlocksUsed: 13}),
		w.Step(&observe.StepRun{Serial: 1, Start: first, Steps: 29, First: gap, Base: gap, Decodes: 1, DecodeKV: 201, Running: 1, BlocksUsed: 15,
			Gaps: []observe.Gaps{{Seqs: 1, Steps: 29, First: gap}}}),
		w.Step(&observe.StepRun{Serial: 30, Start: wide, Steps: 70, First: gap + 1, Base: gap + 1, Decodes: 1, DecodeKV: 230, Running: 1, BlocksUsed: 19,
			Gaps: []observe.Gaps{{Seqs: 1, Steps: 70, First: gap + 1}}}),
		w.Request(&observe.Request{Name: "one", First: first, Last: last, End: last, Prompt: 200, Wanted: 100, Output: 100, Computed: 299,
			MaxGap: gap + 1, Made: []observe.Span{{Step: 0, Steps: 100}}}),
		w.Close(),
	} {
		if err != nil {
			t.Fatal(err)
		}
	}
	if *update {
		if err := os.WriteFile(filepath.FromSlash(oneRequest), []byte(b.String()), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	have, err := os.ReadFile(oneRequest)
	if err != nil || string(have) != b.String() {
		t.Errorf("%s, %v, isn't what go test -update writes:\n%s", oneRequest, err, b.String())
	}
}
