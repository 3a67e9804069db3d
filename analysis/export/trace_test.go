package export

import (
	"io"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"servesim/sim"
	"servesim/sim/workload"
)

// readTraceText reads text as a trace.
func readTraceText(text string) ([]workload.Request, workload.Report, error) {
	t, err := workload.Read(strings.NewReader(text), "f", workload.Options{Foreign: Traces()})
	if err != nil {
		return nil, workload.Report{}, err
	}
	var all []workload.Request
	for {
		r, err := t.Next()
		if err == io.EOF {
			return all, t.Report(), nil
		}
		if err != nil {
			return all, t.Report(), err
		}
		all = append(all, r)
	}
}

// TestExportsAreTraces reads the samples of the formats that say when calls were
// sent as traces.
func TestExportsAreTraces(t *testing.T) {
	ms := func(n int64) sim.Time { return sim.Time(n) * sim.Time(sim.Millisecond) }
	want := map[string][]workload.Request{
		"vllm":             {{Prompt: 10, Output: 1, Line: 1}, {ID: 1, Arrival: ms(875), Prompt: 20, Output: 4, Line: 1}},
		"genai-perf":       {{Prompt: 10, Output: 1, Line: 1}, {ID: 1, Arrival: ms(1000), Prompt: 20, Output: 4, Line: 1}},
		"aiperf":           {{Name: "r0", Prompt: 10, Output: 1, Session: 1, Line: 1}, {ID: 1, Name: "r1", Arrival: ms(1000), Prompt: 20, Output: 4, Session: 2, Line: 2}},
		"guidellm":         {{Name: "g1", Prompt: 20, Output: 4, Session: 1, Line: 1}},
		"inference-perf":   {{Prompt: 21, Output: 4, Line: 1}},
		"servesim-records": {{Prompt: 20, Output: 4, Line: 1}},

		"llmservingsim": {{Name: "bench-0", Prompt: 20, Output: 4, Line: 1}, {ID: 1, Name: "bench-1", Arrival: sim.Time(265091400000), Prompt: 10, Output: 1, Line: 2}},
	}
	for name, requests := range want {
		got, report, err := readTraceText(samples()[name])
		if err != nil || report.Format != name {
			t.Errorf("%s: %v %v", name, report.Format, err)
			continue
		}
		if diff := cmp.Diff(requests, got); diff != "" {
			t.Errorf("%s: %s", name, diff)
		}
		dropped := int64(0)
		for _, d := range report.Dropped {
			dropped += d.N
		}
		if report.Rows != report.Kept+dropped {
			t.Errorf("%s: %+v", name, report)
		}
	}
}

// TestFailedRequestsAreReplayed reads servesim's records of a request that timed
// out: what it asked for is known, so it is a request of the trace.
func TestFailedRequestsAreReplayed(t *testing.T) {
	text := altered("servesim-records", `"outcome":"completed"`, `"outcome":"timed_out"`)
	got, report, err := readTraceText(text)
	if err != nil || len(got) != 1 || got[0].Output != 4 || report.Dropped != nil {
		t.Errorf("%+v %+v %v", got, report, err)
	}
}

// TestRecordsOutOfOrderAreSorted reads AIPerf's records, which are in the order in
// which calls ended.
func TestRecordsOutOfOrderAreSorted(t *testing.T) {
	lines := strings.SplitAfter(aiperfSample, "\n")
	got, report, err := readTraceText(lines[1] + lines[0])
	if err != nil || report.OutOfOrder != 1 || got[0].Name != "r0" || got[1].Arrival != sim.Time(sim.Second) {
		t.Errorf("%+v %+v %v", got, report, err)
	}
}

func TestExportsThatAreNoTraces(t *testing.T) {
	noUsage := strings.ReplaceAll(strings.ReplaceAll(genaiPerfSample, "prompt_tokens", "p"), "completion_tokens", "c")
	noUsage = strings.ReplaceAll(noUsage, "usage", "u")
	for _, c := range []struct{ name, text, want string }{
		{"no arrivals", sglangSample, "f: found no instants at which calls were sent, want them: without arrivals there is nothing to replay; draw arrivals instead, with lengths as in this file (see servesim list presets)"},
		{"two runs", vllmSample + "\n" + vllmSample, "f: found more than one run, want one: a trace has one beginning; take one run out of the file, as with jq"},
		{"no lengths", noUsage, "f: found no request: 3 read, 2 dropped (the file doesn't tell the prompt's number of tokens), 1 dropped (the call failed, so how long its answer would have been isn't known), want at least one request"},
		{"faults", strings.ReplaceAll(llmservingsimSample, `"input_toks": `, `"input_toks": -`), "f:1: input_toks: found \"-20\", want a whole number from 0 to 2147483647\nf:2: input_toks: found \"-10\", want a whole number from 0 to 2147483647\nf:3: input_toks: found \"-10\", want a whole number from 0 to 2147483647"},
	} {
		if _, _, err := readTraceText(c.text); err == nil || err.Error() != c.want {
			t.Errorf("%s: %v\nwant %s", c.name, err, c.want)
		}
	}
}

// TestNamedFormatsMustFit reads a file as the format that it is and as another.
func TestNamedFormatsMustFit(t *testing.T) {
	for format, want := range map[string]string{
		"aiperf":  "",
		"llmperf": "f:1: found a file of another format, want the format llmperf (end_to_end_latency_s, number_output_tokens); leave the format out: the content tells it",
		"aiprf":   `f: workload.format: found "aiprf", want azure, mooncake, `,
	} {
		_, err := workload.Read(strings.NewReader(aiperfSample), "f", workload.Options{Format: format, Foreign: Traces()})
		if want == "" && err != nil || want != "" && (err == nil || !strings.HasPrefix(err.Error(), want)) {
			t.Errorf("%s: %v", format, err)
		}
	}
}

// TestMeasuredRunsAreTraces reads the arrivals and lengths of measured runs.
func TestMeasuredRunsAreTraces(t *testing.T) {
	for _, name := range measuredRuns() {
		in, err := fileSource(t, "traces/llmservingsim/"+name+"/requests.jsonl").Open()
		if err != nil {
			t.Fatal(err)
		}
		defer in.Close()
		data, err := io.ReadAll(in)
		if err != nil {
			t.Fatal(err)
		}
		got, report, err := readTraceText(string(data))
		if err != nil || len(got) != 300 || report.Span < 28*sim.Second || report.Span > 30*sim.Second {
			t.Errorf("%s: %d requests, %+v, %v", name, len(got), report, err)
		}
	}
}
