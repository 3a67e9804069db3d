package export

import (
	"errors"
	"strings"
	"testing"

	"servesim/internal/infile"
)

// badFiles are files that can't be read, and the whole error of each; a want that
// ends in … is the beginning of one.
var badFiles = []struct{ name, text, want string }{
	{"empty", "", `f.json: found an empty file, want an export of a benchmark tool`},
	{"not JSON", "a,b\n1,2\n", `f.json:1: found text that is no JSON, want a file of one of these tools:…`},
	{"unknown keys", `{"a":1,"b":2}`, `f.json:1: found the keys a and b, want a file of one of these tools:…`},
	{"AIPerf's summary", `{"schema_version":"1.5","aiperf_version":"0.14","time_to_first_token":{}}`, `f.json:1: found AIPerf's summary, which has no requests, want its profile_export.jsonl; give that, from the same folder; --export-level summary leaves it out`},
	{"cut off", vllmSample[:900], `f.json:1: found the end of the file, want the end of a text that has none; the file is cut off: copy or write it again`},
	{"cut off in a line", aiperfSample[:len(aiperfSample)-500], `f.json:3: metadata: found the end of the file, want the end of a text that has none; the file is cut off: copy or write it again`},
	{"one bad line of three", strings.Replace(llmservingsimSample, `"output_toks": 1,`, `"output_toks": 1;`, 1), `f.json:2: found "; \"arrival_time\": 1787267980.3478317, \"q", want a comma or the end of the object`},
	{"two bad lines", strings.ReplaceAll(llmservingsimSample, `"output_toks": 1,`, `"output_toks": "one",`), `f.json:2: output_toks: found "\"one\"", want a number
f.json:3: output_toks: found "\"one\"", want a number`},
	{"without details", altered("vllm", vllmSample[strings.Index(vllmSample, `"input_lens"`):strings.Index(vllmSample, `"latencies"`)], ""), `f.json:1: found no input_lens, output_lens, ttfts and itls, want an element of each for every request; it was written without --save-detailed: run vllm bench serve with --save-result --save-detailed`},
	{"SGLang without details", altered("sglang", sglangSample[strings.Index(sglangSample, `, "input_lens"`):len(sglangSample)-2], ""), `f.json:1: found no input_lens, output_lens, ttfts, itls and errors, want an element of each for every request; it was written without --output-details: run sglang.bench_serving with it`},
	{"lengths differ", altered("vllm", `"ttfts": [0.25, 0.5, 0.0]`, `"ttfts": [0.25, 0.5]`), `f.json:1: found 3 input_lens but 2 ttfts, want arrays of one length, an element for every request`},
	{"NaN", altered("vllm", `"ttfts": [0.25, 0.5`, `"ttfts": [0.25, NaN`), `f.json:1: ttfts[1]: found "NaN", want a time in s, from 0 to 106 days; the tool writes it where it divided by 0 or had nothing to measure; leave the record out`},
	{"infinite gap", altered("sglang", `[0.1, 0.2, 0.3]`, `[0.1, Infinity, 0.3]`), `f.json:1: itls[1][1]: found "Infinity", want a time in s, from 0 to 106 days; the tool writes it where it divided by 0 or had nothing to measure; leave the record out`},
	{"negative gap", altered("vllm", `[0.1, 0.2, 0.3]`, `[0.1, -0.2, 0.3]`), `f.json:1: itls[1][1]: found "-0.2", want a time in s, from 0 to 106 days`},
	{"gaps in ms", altered("vllm", `[0.1, 0.2, 0.3]`, `[100, 200, 300]`), `f.json:1: latencies[1]: found 1.1 s, want at least its ttft and its itls together, 600.5 s; the parts seem to be in units a thousand times smaller`},
	{"all in ms", altered("vllm", `"ttfts": [0.25, 0.5, 0.0], "itls": [[], [0.1, 0.2, 0.3], []], "latencies": [0.25, 1.1, 0.0]`,
		`"ttfts": [250, 500, 0], "itls": [[], [100, 200, 300], []], "latencies": [250, 1100, 0]`), `f.json:1: latencies[0]: found 250 s, want at most the duration of the run, 3.5 s; vLLM writes latencies in s; these may be in ms
f.json:1: latencies[1]: found 1100 s, want at most the duration of the run, 3.5 s; vLLM writes latencies in s; these may be in ms
f.json:1: mean_ttft_ms: found 375 ms, want the mean of ttfts, 375000 ms; one of the two is in another unit than the tool writes`},
	{"SGLang in ms", altered("sglang", `"ttfts": [0.25, 0.5, 0.0], "itls": [[], [0.1, 0.2, 0.3], []]`, `"ttfts": [250, 500, 0], "itls": [[], [100, 200, 300], []]`), `f.json:1: itls[0]: found a call of 250 s, want at most the duration of the run, 3.5 s; SGLang writes ttfts and itls in s; these may be in ms
f.json:1: itls[1]: found a call of 1100 s, want at most the duration of the run, 3.5 s; SGLang writes ttfts and itls in s; these may be in ms
f.json:1: mean_ttft_ms: found 375 ms, want the mean of ttfts, 375000 ms; one of the two is in another unit than the tool writes`},
	{"text for a number", altered("vllm", `"output_lens": [1, 4, 0]`, `"output_lens": [1, "4", 0]`), `f.json:1: output_lens[1]: found "\"4\"", want a number`},
	{"half a token", altered("vllm", `"output_lens": [1, 4, 0]`, `"output_lens": [1, 4.5, 0]`), `f.json:1: output_lens[1]: found "4.5", want a whole number from 0 to 2147483647`},
	{"null in an array", altered("vllm", `"input_lens": [10, 20, 30]`, `"input_lens": [10, null, 30]`), `f.json:1: input_lens[1]: found "null", want a number`},
	{"clocks mixed", altered("vllm", `27537.660701067`, `1787267980.0827403`), `f.json:1: input_lens[1]: found a call sent at 1787267980.0827403 s, the first of the run at 27536.660701067 s, want instants of one clock, within 26 days; two clocks, or two units, are mixed`},
	{"unit unknown", altered("aiperf", `"time_to_first_token":{"value":250.0,"unit":"ms"}`, `"time_to_first_token":{"value":250.0,"unit":"fortnights"}`), `f.json:1: metrics.time_to_first_token.unit: found "fortnights", want a unit of time: ns, us, ms or sec`},
	{"a part in s", altered("aiperf", `"inter_chunk_latency":{"value":[100.0,200.0,299.99999999999994],"unit":"ms"}`, `"inter_chunk_latency":{"value":[0.1,0.2,0.3],"unit":"ms"}`), `f.json:2: metrics.inter_chunk_latency: found gaps that sum with time_to_first_token to 0.5006 s, want request_latency, 1.1 s; gaps are missing, or in another unit`},
	{"a part in us", altered("aiperf", `"request_latency":{"value":1100.0,"unit":"ms"}`, `"request_latency":{"value":1.1,"unit":"ms"}`), `f.json:2: metrics.request_latency: found 0.0011 s, want at least time_to_first_token and inter_chunk_latency together, 1.1 s; the parts seem to be in units a thousand times smaller`},
	{"negative time", altered("aiperf", `"value":500.00000000000006`, `"value":-500`), `f.json:2: metrics.time_to_first_token.value: found "-500", want a number from 0 to 9e18; a time below 0 is none`},
	{"the same id", altered("aiperf", `"x_request_id":"r1"`, `"x_request_id":"r0"`), `f.json:2: found the id "r0" again, which line 1 has, want an id of its own for each request`},
	{"ends before it starts", altered("aiperf", `"request_end_ns":1759813207782900363`, `"request_end_ns":1759813207`), `f.json:1: metadata.request_end_ns: found 1.759813207 s, want an instant at or after request_start_ns, 1759813207.532900363 s`},
	{"no latency", altered("aiperf", `"request_latency":{"value":1100.0,"unit":"ms"},`, ``), `f.json:2: metrics: found no request_latency, want it, in a record without an error`},
	{"no start", altered("aiperf", `"request_start_ns":1759813207532900363,`, ``), `f.json:1: metadata: found no request_start_ns, want the keys that make a record of this format`},
	{"no TTFT", altered("llmperf", `"ttft_s": 0.5, `, ``), `f.json:1: [0]: found no ttft_s, want the keys that make a record of this format`},
	{"LLMPerf in ms", altered("llmperf", `"ttft_s": 0.5`, `"ttft_s": 500`), `f.json:1: [0].end_to_end_latency_s: found 1.1 s, want at least its ttft_s, 500 s; the parts seem to be in units a thousand times smaller`},
	{"LLMPerf's E2E in ms", altered("llmperf", `"end_to_end_latency_s": 1.1`, `"end_to_end_latency_s": 1100`), `f.json:1: [0].end_to_end_latency_s: found 1100 s, want about its ttft_s, 0.5 s; one of them seems to be in units a thousand times smaller…`},
	{"LLMPerf's ITL in ms", altered("llmperf", `"inter_token_latency_s": 0.22`, `"inter_token_latency_s": 220`), `f.json:1: [0].inter_token_latency_s: found 220 s, want at most the whole call, 1.1 s; LLMPerf writes it in s; this may be in ms`},
	{"responses without instants", altered("genai-perf", `[1700000000250000000,1700000000260000000]`, `[1700000000250000000]`), `f.json:1: experiments[0].requests[0]: found 1 response_timestamps and 2 response_outputs, want one of each for every response`},
	{"instants out of order", altered("genai-perf", `1700000001500000000`, `1700000001300000000`), `f.json:1: experiments[0].requests[1].response_timestamps[1]: found 1700000001.3 s, want an instant at or after response_timestamps[0], 1700000001.4 s; a negative gap means two clocks, or damage`},
	{"before it was sent", altered("guidellm", `"first_token_iteration": 1787267981.5`, `"first_token_iteration": 1787267980.5`), `f.json:1: benchmarks[0].requests.successful[0].info.timings.first_token_iteration: found 1787267980.5 s, want an instant at or after when the call was sent, 1787267981 s; a negative gap means two clocks, or damage`},
	{"no timings", altered("guidellm", `"timings": {"targeted_start": 1787267981.1, "request_start": 1787267981.1, "resolve_end": 1787267981.2}, `, ``), `f.json:1: benchmarks[0].requests.errored[0].info: found no timings, want the keys that make a record of this format`},
	{"no requests", `{"metadata":{},"benchmarks":[{"metrics":{}}]}`, `f.json:1: benchmarks[0]: found a benchmark without requests, want its requests, with info.timings; GuideLLM before 0.4 wrote no such file; run it again with a later one`},
	{"the same request twice", altered("guidellm", `"request_id": "g2"`, `"request_id": "g1"`), `f.json:1: benchmarks[0].requests.errored[0]: found the id "g1" again, which line 1 has, want an id of its own for each request`},
	{"chunk after the end", altered("inference-perf", `"end_time": 27537.8`, `"end_time": 27537.5`), `f.json:1: [0].info.response_metrics.chunk_times: found a last chunk 1.1 s after start_time, want none after end_time, 0.839298933 s after it; two clocks are mixed`},
	{"tokens of no chunk", altered("inference-perf", `"output_token_times": [27537.160701067`, `"output_token_times": [27537.170701067`), `f.json:1: [0].info.response_metrics.output_token_times: found 4 instants that aren't all those of chunks, want for each token the instant of its chunk, in order`},
	{"inference-perf, clocks mixed", altered("inference-perf", `"start_time": 27536.7, "end_time": 27536.9`, `"start_time": 1787267980.7, "end_time": 1787267980.9`), `f.json:1: [1]: found a call sent at 1787267980.7 s, the first of the run at 27536.660701067 s, want instants of one clock, within 26 days; two clocks, or two units, are mixed`},
	{"an object for an array", altered("inference-perf", `"chunk_times": [27537.160701067, 27537.260701067, 27537.760701067]`, `"chunk_times": {"a": 1}`), `f.json:1: [0].info.response_metrics.chunk_times: found an object, want an array, in brackets`},
	{"first token before the queue", altered("llmservingsim", `"first_token_ts": 27537.160701067`, `"first_token_ts": 27535.160701067`), `f.json:1: first_token_ts: found 27535.160701067 s, want an instant at or after scheduled_ts, 27536.660721646 s; a negative gap means two clocks, or damage`},
	{"a token that takes time", altered("llmservingsim", `"last_token_ts": 27537.25`, `"last_token_ts": 27538.25`), `f.json:2: output_toks: found fewer than 2 tokens with a first and a last instant that differ by 1 s, want 2 or more`},
	{"a key twice", altered("llmservingsim", `"input_toks": 20,`, `"input_toks": 20, "input_toks": 21,`), `f.json:1: input_toks: found the key twice, want once`},
	{"one id for two", altered("llmservingsim", `bench-1`, `bench-0`), `f.json:2: found the id "bench-0" again, which line 1 has, want an id of its own for each request`},
	{"records cut off", strings.TrimSuffix(recordsSample(false), "}\n"), `f.json:7: the line has no end: the file was cut short`},
	{"records of another version", altered("servesim-records", `"schema":4`, `"schema":9`), `f.json:1: schema: found "9"; this version reads schemas 1 to 4`},
	{"a step that isn't there", altered("servesim-records", `"serial":1`, `"serial":2`), `f.json:3: replica 0, step at 500ms: 1 steps from number 2; number 1 is next`},
	{"a call of a year", altered("sglang", `"duration": 3.5, "completed": 2, "mean_ttft_ms": 375.0, "input_lens": [10, 20, 30], "output_lens": [1, 4, 0], "ttfts": [0.25, 0.5, 0.0], "itls": [[], [0.1, 0.2, 0.3], []]`,
		`"input_lens": [10, 20, 30], "output_lens": [1, 4, 0], "ttfts": [0.25, 0.5, 0.0], "itls": [[], [9e6, 9e6, 9e6], []]`), `f.json:1: input_lens[1]: found a call of 9223372.036854775807 s, want at most 26 days; times seem to be in smaller units than the tool writes`},
	{"no run", `{"experiments":[]}`, `f.json: found no run, want the records of at least one`},
}

func TestBadFiles(t *testing.T) {
	for _, c := range badFiles {
		t.Run(c.name, func(t *testing.T) {
			_, _, err := readAll(textSource("f.json", c.text))
			if err == nil {
				t.Fatal("no error")
			}
			var fault *infile.Fault
			if !errors.As(err, &fault) || fault.File != "f.json" {
				t.Errorf("%#v is no fault of the file", err)
			}
			got := err.Error()
			if want, begins := strings.CutSuffix(c.want, "…"); begins && strings.HasPrefix(got, want) || got == c.want {
				return
			}
			t.Errorf("got\n%s\nwant\n%s", got, c.want)
		})
	}
}
