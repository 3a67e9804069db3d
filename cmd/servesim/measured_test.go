package main

import (
	"encoding/json"
	"fmt"
	"os"
	"reflect"
	"strings"
	"testing"
)

// reported is what a test looks at of a report in JSON: latencies and goodput with
// their intervals, verdicts.
type reported struct {
	Latency    map[string]map[string]any
	Goodput    map[string]any
	Verdicts   []map[string]any
	Saturation map[string]any
	Requests   map[string]any
	ByClass    []any `json:"by_class"`
	ByOutput   []any `json:"by_output_tokens"`
	Warnings   []any
}

// limitsOfMeasured are limits on requests and on the run, some of which are missed.
const limitsOfMeasured = "ttft <= 200ms, tpot <= 14ms, max_gap <= 40ms, ttft p99 <= 700ms, itl p99 <= 12ms, e2e p50 <= 1ms, goodput >= 50%"

// measuredReport returns the report of the one run of a file, and the exit code.
func measuredReport(t *testing.T, args ...string) (reported, int) {
	t.Helper()
	o := do(t, append([]string{"analyze", "--json"}, args...)...)
	var a struct{ Runs []struct{ Report reported } }
	if err := json.Unmarshal([]byte(o.stdout), &a); err != nil || len(a.Runs) != 1 {
		t.Fatalf("%v: %d runs; %s", err, len(a.Runs), o.stderr)
	}
	return a.Runs[0].Report, o.code
}

// TestRecordsReportWhatTheRunDid holds that of the records of a run analyze reports
// what the run did, to the last digit.
func TestRecordsReportWhatTheRunDid(t *testing.T) {
	inFolder(t, nil)
	for _, sets := range [][]string{
		{"requests=1500", "rate_per_s=4"},
		{"requests=600", "rate_per_s=40"},
		{"requests=900", "rate_per_s=2", "client.timeout=3s"},
		{"requests=60", "rate_per_s=2"},
	} {
		args := []string{"run", "--json", "--records", "r.jsonl", "--goodput", limitsOfMeasured}
		for _, s := range sets {
			args = append(args, "--set", s)
		}
		o := do(t, args...)
		var want reported
		if err := json.Unmarshal([]byte(o.stdout), &want); err != nil {
			t.Fatalf("%v: %v, %s", sets, err, o.stderr)
		}
		if len(want.Latency) != 8 || len(want.Verdicts) != 4 || want.Goodput == nil {
			t.Fatalf("%v: %+v", sets, want)
		}
		got, code := measuredReport(t, "r.jsonl", "--goodput", limitsOfMeasured)
		if code != o.code || code != exitSLO || !reflect.DeepEqual(got, want) {
			t.Errorf("%v: exit %d and %d\nrecords %v\nrun     %v", sets, code, o.code, got, want)
		}
	}
}

// TestVLLMsResultReportsWhatTheRunDid holds that of a run written as vLLM's result,
// whose answers come at once, as is the default, analyze reports the same figures, goodput and
// verdicts, and the same intervals, but for what ended in one step and comes in another
// order. Those of ITL rest on other batches: a run's own go by runs of steps.
func TestVLLMsResultReportsWhatTheRunDid(t *testing.T) {
	inFolder(t, nil)
	for _, sets := range [][]string{{"requests=1500", "rate_per_s=4"}, {"requests=2000", "rate_per_s=1", "seed=7"}} {
		args := []string{"run", "--json", "--export", "vllm=v.json", "--goodput", limitsOfMeasured}
		for _, s := range sets {
			args = append(args, "--set", s)
		}
		o := do(t, args...)
		var want reported
		if err := json.Unmarshal([]byte(o.stdout), &want); err != nil {
			t.Fatalf("%v: %v, %s", sets, err, o.stderr)
		}
		got, code := measuredReport(t, "v.json", "--goodput", limitsOfMeasured)
		if code != o.code {
			t.Errorf("%v: exit %d and %d", sets, code, o.code)
		}
		for _, key := range []string{"ttft", "tpot", "itl", "max_gap", "e2e"} {
			nearlySame(t, fmt.Sprint(sets, key), got.Latency[key], want.Latency[key], key == "itl")
		}
		for _, part := range []string{"network", "queue", "prefill"} {
			if got.Latency[part] != nil {
				t.Errorf("%v: the client saw %s: %v", sets, part, got.Latency[part])
			}
		}
		nearlySame(t, fmt.Sprint(sets, "goodput"), got.Goodput, want.Goodput, false)
		if !reflect.DeepEqual(got.Verdicts, want.Verdicts) {
			t.Errorf("%v: verdicts\n%v, want\n%v", sets, got.Verdicts, want.Verdicts)
		}
	}
}

// nearlySame compares two objects, in which the ends of intervals may differ by a
// thousandth of their width; alone leaves intervals out.
func nearlySame(t *testing.T, what string, got, want map[string]any, alone bool) {
	t.Helper()
	for key, w := range want {
		g := got[key]
		inner, is := w.(map[string]any)
		switch lo, hi, ok := ends(inner); {
		case key == "definition", alone && strings.HasSuffix(key, "interval"):
		case ok:
			glo, ghi, _ := ends(g.(map[string]any))
			if slack := (hi - lo) / 1000; max(lo-glo, glo-lo) > slack || max(hi-ghi, ghi-hi) > slack {
				t.Errorf("%s.%s: %v to %v, want %v to %v", what, key, glo, ghi, lo, hi)
			}
		case is:
			nearlySame(t, what+"."+key, g.(map[string]any), inner, alone)
		case !reflect.DeepEqual(g, w):
			t.Errorf("%s.%s: %v, want %v", what, key, g, w)
		}
	}
}

// ends returns the ends of an interval; ok is false if o is none.
func ends(o map[string]any) (lo, hi float64, ok bool) {
	for _, unit := range []string{"", "_ps"} {
		if lo, ok = o["lo"+unit].(float64); ok {
			hi, ok = o["hi"+unit].(float64)
			return lo, hi, ok
		}
	}
	return 0, 0, false
}

// TestFilesWithoutClocksHaveNoLoad holds that a file that doesn't say when calls were
// sent has latencies, goodput and verdicts, and neither rates nor a load.
func TestFilesWithoutClocksHaveNoLoad(t *testing.T) {
	inFolder(t, map[string]string{"g.jsonl": sglang})
	out := ok(t, "analyze", "g.jsonl", "--goodput", "ttft:600 max_gap:400, ttft p99 <= 1s")
	for _, want := range []string{
		"Throughput  not known: nothing says when calls were sent\n", "Load        not known: nothing says when calls were sent\n",
		"Goodput     1 of 1 requests (100.0 %), failed ones included, met every limit\n", "  ttft p99 <= 1s   PASS",
	} {
		if !strings.Contains(out, want) {
			t.Errorf("no %q in %s", want, out)
		}
	}
	r, code := measuredReport(t, "g.jsonl", "--goodput", "ttft p99 <= 400ms")
	if code != exitSLO || r.Saturation["state"] != "unknown" || r.Requests["preemptions"] != nil {
		t.Errorf("exit %d, %+v", code, r)
	}
}

// TestMeasuredRunsAreJudged analyses the measured runs in the shared folder, which
// know each answer's first and last token.
func TestMeasuredRunsAreJudged(t *testing.T) {
	const folder = "../../../shared/traces/llmservingsim/"
	list, err := os.ReadDir(folder)
	if err != nil {
		t.Skipf("%s is not here", folder)
	}
	runs := 0
	for _, f := range list {
		path := folder + f.Name() + "/requests.jsonl"
		if _, err := os.Stat(path); err != nil {
			continue
		}
		runs++
		o := do(t, "analyze", path, "--goodput", "e2e <= 60s, ttft p99 <= 1ms, itl p99 <= 50ms")
		for _, want := range []string{"\nGoodput     ", " of 300 requests (", "  ttft p99 <= 1ms  FAIL", "Not judged  itl p99 <= 50ms: the source doesn't say when each token came"} {
			if !strings.Contains(unfolded(o.stdout), want) {
				t.Errorf("%s: no %q in %s", f.Name(), want, o.stdout)
			}
		}
		_, report, _ := strings.Cut(o.stdout, "\nRequests ")
		report, _, _ = strings.Cut(report, "\nTTFT, ms")
		if o.code != exitSLO || strings.Contains(report, "\nITL ") || strings.Contains(report, "worst gap") {
			t.Errorf("%s: exit %d\n%s", f.Name(), o.code, report)
		}
		interval := strings.Contains(report, "interval of the share: ")
		if withheld := strings.Contains(report, "Intervals   withheld"); interval == withheld {
			t.Errorf("%s: interval %v, withheld %v\n%s", f.Name(), interval, withheld, report)
		}
	}
	if runs != 4 {
		t.Errorf("%d runs, want 4", runs)
	}
}
