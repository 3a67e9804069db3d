package export

import (
	"bytes"
	"compress/gzip"
	"fmt"
	"io"
	"os"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"servesim/analysis/transcript"
	"servesim/sim"
	"servesim/sim/observe"
)

// textSource is a Source of text.
func textSource(name, text string) Source {
	return Source{Name: name, Open: func() (io.ReadCloser, error) { return io.NopCloser(strings.NewReader(text)), nil }}
}

// fileSource is a Source of a file in ../shared, without which t is skipped.
func fileSource(t testing.TB, path string) Source {
	t.Helper()
	path = "../../../shared/" + path
	if _, err := os.Stat(path); err != nil {
		t.Skipf("%s is not here", path)
	}
	return Source{Name: path, Open: func() (io.ReadCloser, error) { return os.Open(path) }}
}

// keeper keeps copies of the calls that it is given.
type keeper []transcript.Call

func (k *keeper) Call(c *transcript.Call) error {
	if err := c.Check(); err != nil {
		return err
	}
	one := *c
	one.Chunks = append([]transcript.Chunk(nil), c.Chunks...)
	*k = append(*k, one)
	return nil
}

// readAll reads a source and returns the calls of its runs.
func readAll(src Source) (*File, [][]transcript.Call, error) {
	f, err := Read(src)
	if err != nil {
		return nil, nil, err
	}
	keepers := make([]keeper, len(f.Runs))
	n := 0
	err = f.Replay(func(*Run) (transcript.Sink, error) { n++; return &keepers[n-1], nil })
	var calls [][]transcript.Call
	for _, k := range keepers {
		calls = append(calls, k)
	}
	return f, calls, err
}

// TestEveryFormatHasTheSameCall reads the sample of each format: all of them have
// a call of 20 prompt and 4 output tokens, sent at a known instant if the format
// has one, whose first token came after 0.5 s and the last after 1.1 s.
func TestEveryFormatHasTheSameCall(t *testing.T) {
	all := transcript.Facts{Clock: true, Schedule: true, First: true, Gaps: true, Prompts: true, Outputs: true, Failures: true, Cached: true}
	without := func(edit func(*transcript.Facts)) transcript.Facts { f := all; edit(&f); return f }
	facts := map[string]transcript.Facts{
		"vllm": without(func(f *transcript.Facts) { f.Cached, f.Wall = false, 3500*sim.Millisecond }),
		"sglang": without(func(f *transcript.Facts) {
			f.Clock, f.Schedule, f.Cached, f.Wall = false, false, false, 3500*sim.Millisecond
		}),
		"genai-perf":     without(func(f *transcript.Facts) { f.Schedule, f.Cached = false, false }),
		"aiperf":         without(func(f *transcript.Facts) { f.Schedule, f.Cached = false, false }),
		"llmperf":        {First: true, Prompts: true, Outputs: true},
		"guidellm":       without(func(f *transcript.Facts) { f.Gaps = false }),
		"inference-perf": without(func(f *transcript.Facts) { f.Schedule = false }),
		"llmservingsim":  without(func(f *transcript.Facts) { f.Schedule, f.Gaps, f.Cached = false, false, false }),

		"servesim-records": all,
	}
	for _, format := range Formats() {
		t.Run(format.Name, func(t *testing.T) {
			text, ok := samples()[format.Name]
			if !ok {
				t.Fatal("there is no sample; add one")
			}
			f, calls, err := readAll(textSource("f", text))
			if err != nil || f.Format.Name != format.Name || len(f.Runs) != 1 {
				t.Fatalf("%+v, %v", f, err)
			}
			if diff := cmp.Diff(facts[format.Name], f.Runs[0].Facts); diff != "" {
				t.Errorf("facts: %s", diff)
			}
			if n := int64(len(calls[0])); n != f.Runs[0].Calls {
				t.Errorf("%d calls, but %d are told", n, f.Runs[0].Calls)
			}
			checkCall(t, f.Runs[0], find(t, calls[0]))
		})
	}
}

// find returns the call of 4 tokens.
func find(t *testing.T, calls []transcript.Call) *transcript.Call {
	for i := range calls {
		if c := &calls[i]; c.Output == 4 && c.Outcome == observe.Completed {
			return c
		}
	}
	t.Fatalf("no call has 4 tokens: %+v", calls)
	return nil
}

// checkCall checks the instants of the call that all samples have.
func checkCall(t *testing.T, run *Run, c *transcript.Call) {
	var texts []transcript.Chunk
	for _, k := range c.Chunks {
		if k.Text() {
			texts = append(texts, k)
		}
	}
	n := len(texts)
	first, last := texts[0].At.Sub(c.Sent), texts[n-1].At.Sub(c.Sent)
	// What a tool writes as a float64 is right to a hundredth of a nanosecond.
	near := func(d, want sim.Duration) bool { return max(d-want, want-d) <= 10*sim.Picosecond }
	if !near(first, 500*sim.Millisecond) || !near(last, 1100*sim.Millisecond) {
		t.Errorf("first text after %v, last after %v; want 0.5 s and 1.1 s", first, last)
	}
	if run.Facts.Gaps != (n > 2) {
		t.Errorf("%d chunks with text, and Gaps is %v", n, run.Facts.Gaps)
	}
	if c.Prompt < 20 || c.Prompt > 21 || c.Closed < texts[n-1].At {
		t.Errorf("%+v", c)
	}
	tokens := int32(0)
	for _, k := range texts {
		tokens += k.Tokens
	}
	if tokens != 4 {
		t.Errorf("its chunks have %d tokens", tokens)
	}
}

// TestCompressedFilesAreUnwrapped reads a sample in gzip.
func TestCompressedFilesAreUnwrapped(t *testing.T) {
	var b bytes.Buffer
	z := gzip.NewWriter(&b)
	io.WriteString(z, aiperfSample)
	z.Close()
	f, calls, err := readAll(textSource("f.gz", b.String()))
	if err != nil || f.Compression != "gzip" || len(calls[0]) != 3 {
		t.Errorf("%+v, %v", f, err)
	}
}

// TestAppendedRunsAreApart reads what vLLM's --append-result and SGLang's output
// file hold after two runs.
func TestAppendedRunsAreApart(t *testing.T) {
	for _, format := range []string{"vllm", "sglang"} {
		text := samples()[format]
		f, calls, err := readAll(textSource("f", strings.TrimSuffix(text, "\n")+"\n"+text))
		if err != nil || len(f.Runs) != 2 {
			t.Fatalf("%s: %+v, %v", format, f, err)
		}
		if diff := cmp.Diff(calls[0], calls[1]); diff != "" {
			t.Errorf("%s: the same run twice, read differently: %s", format, diff)
		}
	}
}

// TestMissingArraysAreSaidNotInvented reads a result of vLLM from before 2026.
func TestMissingArraysAreSaidNotInvented(t *testing.T) {
	text := altered("vllm", `"start_times": [27536.660701067, 27537.660701067, 27537.7], "queue_times": [0.0, 0.125, 0.0], `, "")
	f, _, err := readAll(textSource("f", text))
	if err != nil || f.Runs[0].Facts.Clock || f.Runs[0].Facts.Schedule || len(f.Runs[0].Notes) != 1 {
		t.Errorf("%+v, %v", f.Runs[0], err)
	}
}

// TestWhatAFileSaysOtherwise reads a result of vLLM whose mean isn't that of its
// values, and one with a call that has neither an error nor an answer.
func TestWhatAFileSaysOtherwise(t *testing.T) {
	f, _, err := readAll(textSource("f", altered("vllm", `"mean_ttft_ms": 375.0`, `"mean_ttft_ms": 380.0`)))
	if err != nil || len(f.Runs[0].Notes) != 1 || f.Runs[0].Notes[0] != "the file says mean_ttft_ms 380, its ttfts give 375" {
		t.Errorf("%+v, %v", f.Runs[0], err)
	}
	f, _, err = readAll(textSource("f", altered("vllm", `"Traceback:\n  x\nTimeoutError: slow"`, `""`)))
	if err != nil || f.Runs[0].Completed != 2 || len(f.Runs[0].Counts) != 1 || f.Runs[0].Counts[0] != (Count{"calls without an error but without output, taken as failed", 1}) {
		t.Errorf("%+v, %v", f.Runs[0], err)
	}
}

// TestOneCallWithoutGapsTakesThemAll reads a record of AIPerf without gaps beside
// one with them: gaps of a part of the calls would be a part of the truth.
func TestOneCallWithoutGapsTakesThemAll(t *testing.T) {
	text := altered("aiperf", `"time_to_first_token":{"value":250.0,"unit":"ms"}`, `"time_to_first_token":{"value":150.0,"unit":"ms"}`)
	text = strings.Replace(text, `"output_sequence_length":{"value":1,`, `"output_sequence_length":{"value":2,`, 1)
	f, calls, err := readAll(textSource("f", text))
	if err != nil || f.Runs[0].Facts.Gaps {
		t.Fatalf("%+v, %v", f, err)
	}
	if got := f.Runs[0].Support()[3]; got.Lack != "the instants of the tokens between the first and the last are not in the file for 1 of 2 answers" {
		t.Errorf("%+v", got)
	}
	want := []transcript.Chunk{{At: sim.Time(1500 * sim.Millisecond), Tokens: 1}, {At: sim.Time(2100 * sim.Millisecond), Tokens: 3}}
	if diff := cmp.Diff(want, find(t, calls[0]).Chunks); diff != "" {
		t.Error(diff)
	}
}

// TestEmptyAnswersTakeNothingAway reads a record of inference-perf without chunks,
// for its answer had no token: the other calls' instants are no worse for it.
func TestEmptyAnswersTakeNothingAway(t *testing.T) {
	empty := `{"start_time": 27537.0, "end_time": 27537.1, "info": {"input_tokens": 5, "response_metrics": {"output_tokens": 0, "chunk_times": []}}, "error": null}`
	f, _, err := readAll(textSource("f", strings.TrimSuffix(inferencePerfSample, "]")+", "+empty+"]"))
	if err != nil || f.Runs[0].Completed != 2 || !f.Runs[0].Facts.First || !f.Runs[0].Facts.Gaps {
		t.Errorf("%+v, %v", f, err)
	}
}

// TestErrorsAreCounted reads a run with more kinds of errors than are told apart.
func TestErrorsAreCounted(t *testing.T) {
	lines := []string{}
	for i, code := range []string{"1", "2", "3", "4", "5", "6", "7", "1", "8", "9", "8", "10"} {
		lines = append(lines, fmt.Sprintf(`{"error_code": %s, "ttft_s": 0, "end_to_end_latency_s": 0, "number_output_tokens": 0, "number_input_tokens": %d}`, code, i))
	}
	f, err := Read(textSource("f", "["+strings.Join(lines, ",")+"]"))
	if err != nil {
		t.Fatal(err)
	}
	got := f.Runs[0].Errors
	if len(got) != mostErrors || got[0] != (Count{"error 1", 2}) || got[7] != (Count{"other errors", 4}) {
		t.Errorf("%+v", got)
	}
}

// TestOldRecordsOfInferencePerf reads a record as older versions wrote it.
func TestOldRecordsOfInferencePerf(t *testing.T) {
	_, calls, err := readAll(textSource("f", `[{"start_time": 100.0, "end_time": 102.0, "request": "{}", "info": {"input_tokens": 20, "output_tokens": 4, "output_token_times": [100.5, 100.6, 100.8, 101.1]}}]`))
	if err != nil {
		t.Fatal(err)
	}
	if c := find(t, calls[0]); len(c.Chunks) != 4 || c.Chunks[0].At != sim.Time(500*sim.Millisecond) || c.Chunks[3].Tokens != 1 || c.Prompt != 20 {
		t.Errorf("%+v", c)
	}
}

// TestReasoningBeforeTheAnswer reads a record of AIPerf whose first token of the
// answer proper is its third.
func TestReasoningBeforeTheAnswer(t *testing.T) {
	_, calls, err := readAll(textSource("f", altered("aiperf", `"inter_chunk_latency"`, `"time_to_first_output_token":{"value":800.0,"unit":"ms"},"inter_chunk_latency"`)))
	if err != nil {
		t.Fatal(err)
	}
	for i, k := range find(t, calls[0]).Chunks {
		if (k.Kind == transcript.Reasoning) != (i < 2) {
			t.Errorf("chunk %d: %+v", i, k)
		}
	}
}

// TestCutOffCompressedFile reads half of a gzip file.
func TestCutOffCompressedFile(t *testing.T) {
	var b bytes.Buffer
	z := gzip.NewWriter(&b)
	for range 5000 {
		io.WriteString(z, llmperfSample)
	}
	z.Close()
	_, _, err := readAll(textSource("f.gz", b.String()[:b.Len()/2]))
	if err == nil || !strings.Contains(err.Error(), "of the compressed file: unexpected EOF; the file is cut off: copy or download it again") {
		t.Error(err)
	}
}

// TestNativeGapsAreOfTokens reads a result of SGLang's native API, in which each gap
// is that of a token: what has none came with the first.
func TestNativeGapsAreOfTokens(t *testing.T) {
	text := strings.Replace(altered("sglang", `"sglang-oai"`, `"sglang"`), `[1, 4, 0]`, `[1, 6, 0]`, 1)
	_, calls, err := readAll(textSource("f", text))
	if err != nil {
		t.Fatal(err)
	}
	var tokens []int32
	for _, k := range calls[0][1].Chunks {
		tokens = append(tokens, k.Tokens)
	}
	if diff := cmp.Diff([]int32{3, 1, 1, 1}, tokens); diff != "" {
		t.Error(diff)
	}
}

// TestRecordsWithoutStepsHaveNoGaps reads servesim's records without the steps.
func TestRecordsWithoutStepsHaveNoGaps(t *testing.T) {
	f, calls, err := readAll(textSource("f", recordsSample(true)))
	if err != nil || f.Runs[0].Facts.Gaps || len(f.Runs[0].Notes) != 1 {
		t.Fatalf("%+v, %v", f, err)
	}
	checkCall(t, f.Runs[0], find(t, calls[0]))
}

// TestTextsWithoutUsageHaveNoTokens reads GenAI-Perf's texts from an engine that
// didn't tell its usage, and a message that was cut in two on its way.
func TestTextsWithoutUsageHaveNoTokens(t *testing.T) {
	text := strings.ReplaceAll(genaiPerfSample, `,\"usage\":{\"prompt_tokens\":10,\"completion_tokens\":1}`, "")
	text = strings.ReplaceAll(text, `,\"usage\":{\"prompt_tokens\":20,\"completion_tokens\":4}`, "")
	text = strings.Replace(text, `{\"content\":\"c\"}}]}\n\n"},{"response":"data: `, `{\"cont"},{"response":"ent\":\"c\"}}]}\n\ndata: `, 1)
	f, calls, err := readAll(textSource("f", text))
	if err != nil || f.Runs[0].Facts.Outputs || f.Runs[0].Facts.Prompts {
		t.Fatalf("%+v, %v", f.Runs[0], err)
	}
	texts := 0
	for _, k := range calls[0][1].Chunks {
		if k.Text() {
			texts++
		}
	}
	if texts != 4 {
		t.Errorf("%d chunks with text, want 4: %+v", texts, calls[0][1].Chunks)
	}
}
