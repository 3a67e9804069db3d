package main

import (
	"bytes"
	"context"
	"encoding/json"
	"io"
	"os"
	"strings"
	"testing"

	"servesim/analysis/export"
)

// aiperf is a profile export of AIPerf with a call of one token, one of four, one
// that failed, and one of the warm-up.
const aiperf = `{"metadata":{"session_num":0,"x_request_id":"r0","request_start_ns":1759813207532900363,"request_end_ns":1759813207782900363,"benchmark_phase":"profiling"},"metrics":{"input_sequence_length":{"value":10,"unit":"tokens"},"time_to_first_token":{"value":250.0,"unit":"ms"},"request_latency":{"value":250.0,"unit":"ms"},"output_sequence_length":{"value":1,"unit":"tokens"}}}
{"metadata":{"session_num":1,"x_request_id":"r1","request_start_ns":1759813208532900363,"request_end_ns":1759813209632900363,"benchmark_phase":"profiling"},"metrics":{"input_sequence_length":{"value":20,"unit":"tokens"},"time_to_first_token":{"value":500.0,"unit":"ms"},"request_latency":{"value":1100.0,"unit":"ms"},"inter_chunk_latency":{"value":[100.0,200.0,300.0],"unit":"ms"},"output_sequence_length":{"value":4,"unit":"tokens"}}}
{"metadata":{"session_num":2,"x_request_id":"r2","request_start_ns":1759813208632900363,"request_end_ns":1759813210732900363,"benchmark_phase":"profiling"},"metrics":{},"error":{"code":500,"type":"E","message":"slow"}}
{"metadata":{"session_num":3,"request_start_ns":1759813200000000000,"request_end_ns":1759813200100000000,"benchmark_phase":"warmup"},"metrics":{}}
`

// sglang is a line of SGLang's benchmark with one call, whose sending isn't told.
const sglang = `{"backend":"sglang-oai","dataset_name":"random","request_rate":Infinity,"sharegpt_output_len":null,"input_lens":[20],"output_lens":[4],"ttfts":[0.5],"itls":[[0.1,0.2,0.3]],"errors":[""]}
`

func TestAnalyzePrintsWhatAFileGives(t *testing.T) {
	inThere := map[string]string{"profile_export.jsonl": aiperf, "sglang.jsonl": sglang}
	var out string
	t.Run("in a folder", func(t *testing.T) {
		inFolder(t, inThere)
		out = ok(t, "analyze", "profile_export.jsonl", "sglang.jsonl", "--goodput", "ttft:300 tpot:500")
	})
	golden(t, "analyze.txt", out)
}

func TestAnalyzeReadsStdin(t *testing.T) {
	var out, err bytes.Buffer
	if code := Main(t.Context(), env{stdin: strings.NewReader(aiperf), stdout: &out, stderr: &err}, []string{"analyze", "-", "--dialect", "all"}); code != exitOK {
		t.Fatalf("exit %d: %s", code, &err)
	}
	for _, want := range []string{"File        standard input: AIPerf's", "llmperf ", "mlperf-endpoints "} {
		if !strings.Contains(out.String(), want) {
			t.Errorf("no %q in %s", want, &out)
		}
	}
}

// analysed is what a test looks at of analyze --json.
type analysed struct {
	Runs []struct {
		Format   string
		Answered int64
		Facts    struct{ Clock, Gaps bool }
		Dialects struct {
			Results []struct {
				Name    string
				Metrics []struct {
					Key         string
					Mean        int64 `json:"mean_ps"`
					Needs       string
					Percentiles map[string]struct {
						Value int64 `json:"value_ps"`
					}
				}
			}
		}
	}
}

// TestRecordsSayWhatTheRunSaid analyses the records of a run: to the picosecond,
// the figures are those that the run printed.
func TestRecordsSayWhatTheRunSaid(t *testing.T) {
	inFolder(t, map[string]string{"s.toml": small})
	var run struct {
		Latencies map[string]struct {
			Mean        int64 `json:"mean_ps"`
			Percentiles map[string]struct {
				Value int64 `json:"value_ps"`
			}
		} `json:"latency"`
	}
	out := ok(t, "run", "s.toml", "--json", "--records", "r.jsonl")
	if err := json.Unmarshal([]byte(out), &run); err != nil {
		t.Fatal(err)
	}
	var a analysed
	if err := json.Unmarshal([]byte(ok(t, "analyze", "r.jsonl", "--json")), &a); err != nil {
		t.Fatal(err)
	}
	if len(a.Runs) != 1 || a.Runs[0].Format != "servesim-records" || !a.Runs[0].Facts.Gaps {
		t.Fatalf("%+v", a)
	}
	same := 0
	for _, m := range a.Runs[0].Dialects.Results[0].Metrics {
		said, known := run.Latencies[m.Key]
		if !known {
			continue
		}
		same++
		if said.Mean != m.Mean || said.Percentiles["p99"] != m.Percentiles["p99"] {
			t.Errorf("%s: the run said %+v, its records %+v", m.Key, said, m)
		}
	}
	if same < 3 {
		t.Errorf("%d metrics compared: %+v of %s", same, a, out)
	}
}

// TestLongReadingsShowProgress reads a file as on a terminal, twice: at once, and
// as if it had begun long ago.
func TestLongReadingsShowProgress(t *testing.T) {
	inFolder(t, map[string]string{"a.jsonl": aiperf})
	for _, late := range []bool{false, true} {
		var stderr bytes.Buffer
		r := newReading(t.Context(), env{stderr: &stderr, tty: true}, "a.jsonl", 2)
		if late {
			r.quiet.began = r.quiet.began.Add(-2 * showAfter)
		}
		for range 2 {
			f, err := r.open()
			if err != nil {
				t.Fatal(err)
			}
			if text, err := io.ReadAll(f); err != nil || string(text) != aiperf {
				t.Errorf("%s, %v", text, err)
			}
			if err := f.Close(); err != nil {
				t.Error(err)
			}
		}
		r.finish()
		if shown := strings.Contains(stderr.String(), "reading a.jsonl"); shown != late {
			t.Errorf("late %v: %q", late, &stderr)
		}
	}
}

// TestAnalyzeIsInterrupted cancels an analysis before it begins.
func TestAnalyzeIsInterrupted(t *testing.T) {
	inFolder(t, map[string]string{"a.jsonl": aiperf})
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	var out, err bytes.Buffer
	if code := Main(ctx, env{stdin: strings.NewReader(""), stdout: &out, stderr: &err}, []string{"analyze", "a.jsonl"}); code != exitFailed || out.Len() > 0 || !strings.Contains(err.String(), "interrupted") {
		t.Errorf("exit %d: %s%s", code, &out, &err)
	}
}

func TestAnalyzeFaults(t *testing.T) {
	inFolder(t, map[string]string{"a.jsonl": strings.Replace(aiperf, "1100.0", "1.1", 1), "b.json": "{}", "c.jsonl": aiperf})
	for _, c := range []struct {
		args []string
		want string
	}{
		{[]string{"a.jsonl", "b.json"}, "servesim: a.jsonl:2: metrics.request_latency: found 0.0011 s, want at least time_to_first_token and inter_chunk_latency together, 1.1 s; the parts seem to be in units a thousand times smaller\nservesim: b.json:1: found an object without keys, want a file of one of these tools:\n"},
		{[]string{"missing.json"}, "servesim: open missing.json: no such file or directory\n"},
		{[]string{"c.jsonl", "--dialect", "vlm"}, "servesim: --dialect: unknown dialect \"vlm\"; the dialects are "},
		{[]string{"c.jsonl", "--goodput", "goodput >= 99%"}, "servesim: --goodput \"goodput >= 99%\": a share of good requests needs limits that make one good, such as ttft <= 500ms"},
		{[]string{"c.jsonl", "--slo", "tihgt"}, "servesim: --slo: no preset of limits is called \"tihgt\""},
		{[]string{"c.jsonl", "--goodput", "tft:1"}, "servesim: --goodput: "},
		{[]string{"c.jsonl", "--percentiles", "x"}, "servesim: --percentiles: "},
		{nil, "servesim: requires at least 1 arg(s), only received 0"},
	} {
		o := do(t, append([]string{"analyze"}, c.args...)...)
		if o.code != exitUsage || o.stdout != "" || !strings.HasPrefix(o.stderr, c.want) {
			t.Errorf("%q: exit %d\n%s%s\nwant %s", c.args, o.code, o.stdout, o.stderr, c.want)
		}
	}
}

// TestExportsAreReplayed runs a scenario on the arrivals and lengths of an export,
// and refuses one without arrivals.
func TestExportsAreReplayed(t *testing.T) {
	inFolder(t, map[string]string{"s.toml": small, "a.jsonl": aiperf, "g.jsonl": sglang})
	out := unfolded(ok(t, "run", "s.toml", "--trace", "a.jsonl"))
	for _, want := range []string{
		"Trace       a.jsonl (aiperf): 3 rows, 2 requests over 1.000 s (2 requests/s), 30 prompt and 5 output tokens " +
			"1 row dropped: the call failed, so how long its answer would have been isn't known 1 more: records of the warm-up, left out\n",
	} {
		if !strings.Contains(out, want) {
			t.Errorf("no %q in %s", want, out)
		}
	}
	if o := do(t, "run", "s.toml", "--trace", "g.jsonl"); o.code != exitUsage || !strings.Contains(o.stderr, "g.jsonl: found no instants at which calls were sent") {
		t.Errorf("%+v", o)
	}
	if o := do(t, "run", "a.jsonl"); o.code != exitUsage || !strings.Contains(o.stderr, "looks like a trace, not a scenario; replay it with --trace a.jsonl") {
		t.Errorf("%+v", o)
	}
}

// TestMeasuredRunsAnalyse analyses the measured runs in the shared folder.
func TestMeasuredRunsAnalyse(t *testing.T) {
	const path = "../../../shared/traces/llmservingsim/RTXPRO6000-Qwen3-32B/requests.jsonl"
	if _, err := os.Stat(path); err != nil {
		t.Skipf("%s is not here", path)
	}
	out := ok(t, "analyze", path)
	for _, want := range []string{"Calls       300: 300 answered, 0 failed\n", "Lacks       ITL of every gap", "vllm      300 "} {
		if !strings.Contains(out, want) {
			t.Errorf("no %q in %s", want, out)
		}
	}
}

// TestExportsAreDocumented holds that the page about exports has every format.
func TestExportsAreDocumented(t *testing.T) {
	page, err := os.ReadFile("../../docs/exports.md")
	if err != nil {
		t.Fatal(err)
	}
	for _, f := range export.Formats() {
		if n := strings.Count(string(page), "| "+f.Name+" |"); n != 2 {
			t.Errorf("%s has %d rows, want one in each table", f.Name, n)
		}
	}
}
