package export

import (
	"errors"
	"strings"

	"servesim/sim"
	"servesim/sim/observe"
)

// Samples of each format: a call of 4 tokens at 1 s after the first, whose first
// token comes after 0.5 s and the others 0.1, 0.2 and 0.3 s after each other, and
// one that failed, as far as the tool has them.

const vllmSample = `{"date": "20260101-120000", "endpoint_type": "openai", "backend": "openai", "label": null, "model_id": "m", "tokenizer_id": "m", ` +
	`"num_prompts": 3, "request_rate": "inf", "burstiness": 1.0, "max_concurrency": null, "duration": 3.5, "completed": 2, "failed": 1, ` +
	`"total_input_tokens": 30, "total_output_tokens": 5, "request_throughput": 0.5, "request_goodput": null, "output_throughput": 1.4, "total_token_throughput": 10.0, ` +
	`"input_lens": [10, 20, 30], "output_lens": [1, 4, 0], "ttfts": [0.25, 0.5, 0.0], "itls": [[], [0.1, 0.2, 0.3], []], ` +
	`"latencies": [0.25, 1.1, 0.0], "start_times": [27536.660701067, 27537.660701067, 27537.7], "queue_times": [0.0, 0.125, 0.0], ` +
	`"generated_texts": ["a", "b \"c\"\\", ""], "errors": ["", "", "Traceback:\n  x\nTimeoutError: slow"], ` +
	`"max_output_tokens_per_s": 4.0, "max_concurrent_requests": 2, "rtfx": NaN, "mean_ttft_ms": 375.0, "median_ttft_ms": 375.0, "p99_ttft_ms": 497.5}`

const sglangSample = `{"tag": null, "backend": "sglang-oai", "dataset_name": "random", "request_rate": Infinity, "max_concurrency": 8, "sharegpt_output_len": null, ` +
	`"random_input_len": 1024, "random_output_len": 128, "random_range_ratio": 0.0, "server_info": {"a": [1, {"b": null}]}, "duration": 3.5, "completed": 2, ` +
	`"mean_ttft_ms": 375.0, "input_lens": [10, 20, 30], "output_lens": [1, 4, 0], "ttfts": [0.25, 0.5, 0.0], "itls": [[], [0.1, 0.2, 0.3], []], ` +
	`"generated_texts": ["a", "b", ""], "errors": ["", "", "Timeout"]}` + "\n"

const genaiPerfSample = `{"experiments":[{"experiment":{"mode":"concurrency","value":2},"requests":[` +
	`{"timestamp":1700000000000000000,"request_inputs":{"payload":"{}"},"response_timestamps":[1700000000250000000,1700000000260000000],"response_outputs":[` +
	`{"response":"data: {\"choices\":[{\"delta\":{\"content\":\"a\"}}],\"usage\":{\"prompt_tokens\":10,\"completion_tokens\":1}}\n\n"},{"response":"data: [DONE]\n\n"}]},` +
	`{"timestamp":1700000001000000000,"request_inputs":{"payload":"{}"},"response_timestamps":[1700000001400000000,1700000001500000000,1700000001600000000,1700000001800000000,1700000002100000000,1700000002110000000,1700000002120000000],"response_outputs":[` +
	`{"response":"data: {\"choices\":[{\"delta\":{\"role\":\"assistant\",\"content\":\"\"}}]}\n\n"},` +
	`{"response":"data: {\"choices\":[{\"delta\":{\"content\":\"b\"}}]}\n\n"},{"response":"data: {\"choices\":[{\"delta\":{\"content\":\"c\"}}]}\n\n"},` +
	`{"response":"data: {\"choices\":[{\"delta\":{\"content\":\"d\"}}]}\n\n"},{"response":"data: {\"choices\":[{\"delta\":{\"content\":\"e\"},\"finish_reason\":\"stop\"}]}\n\n"},` +
	`{"response":"data: {\"choices\":[],\"usage\":{\"prompt_tokens\":20,\"completion_tokens\":4}}\n\n"},{"response":"data: [DONE]\n\n"}]},` +
	`{"timestamp":1700000001100000000,"request_inputs":{"payload":"{}"},"response_timestamps":[],"response_outputs":[]}` +
	`],"window_boundaries":[1700000000000000000,1700000003000000000]}],"version":"1","service_kind":"openai","endpoint":"v1/chat/completions"}`

const aiperfSample = `{"metadata":{"session_num":0,"x_request_id":"r0","x_correlation_id":"c0","conversation_id":"s0","turn_index":0,"request_start_ns":1759813207532900363,` +
	`"request_ack_ns":null,"request_end_ns":1759813207782900363,"worker_id":"w","record_processor_id":"p","benchmark_phase":"profiling","was_cancelled":false,"cancellation_time_ns":null},` +
	`"metrics":{"input_sequence_length":{"value":10,"unit":"tokens"},"time_to_first_token":{"value":250.0,"unit":"ms"},"request_latency":{"value":250.0,"unit":"ms"},` +
	`"output_token_count":{"value":1,"unit":"tokens"},"output_sequence_length":{"value":1,"unit":"tokens"}},"error":null}` + "\n" +
	`{"metadata":{"session_num":1,"x_request_id":"r1","conversation_id":"s0","turn_index":1,"request_start_ns":1759813208532900363,` +
	`"request_end_ns":1759813209632900363,"worker_id":"w","record_processor_id":"p","benchmark_phase":"profiling"},` +
	`"metrics":{"input_sequence_length":{"value":20,"unit":"tokens"},"time_to_first_token":{"value":500.00000000000006,"unit":"ms"},"request_latency":{"value":1100.0,"unit":"ms"},` +
	`"inter_chunk_latency":{"value":[100.0,200.0,299.99999999999994],"unit":"ms"},"output_sequence_length":{"value":4,"unit":"tokens"}}}` + "\n" +
	`{"metadata":{"session_num":2,"x_request_id":"r2","request_start_ns":1759813208632900363,"request_end_ns":1759813208732900363,"worker_id":"w","record_processor_id":"p",` +
	`"benchmark_phase":"profiling","was_cancelled":true,"cancellation_time_ns":1759813208732900363},"metrics":{"error_isl":{"value":30,"unit":"tokens"}},` +
	`"error":{"code":499,"type":"RequestCancellationError","message":"Request was cancelled"}}` + "\n" +
	`{"metadata":{"session_num":3,"request_start_ns":1759813200000000000,"request_end_ns":1759813200100000000,"worker_id":"w","record_processor_id":"p","benchmark_phase":"warmup"},"metrics":{}}` + "\n"

const llmperfSample = `[{"error_code": null, "error_msg": "", "inter_token_latency_s": 0.22, "ttft_s": 0.5, "end_to_end_latency_s": 1.1, "request_output_throughput_token_per_s": 4.5, ` +
	`"number_total_tokens": 25, "number_output_tokens": 5, "number_input_tokens": 20}, ` +
	`{"error_code": 429, "error_msg": "Too many", "inter_token_latency_s": 0, "ttft_s": 0, "end_to_end_latency_s": 0, "request_output_throughput_token_per_s": NaN, ` +
	`"number_total_tokens": 0, "number_output_tokens": 0, "number_input_tokens": 30}]`

const guidellmSample = `{"metadata": {"version": 2}, "config": {}, "benchmarks": [{"type_": "generative_benchmark", "config": {"strategy": {"type_": "constant", "rate": 2.0}}, "metrics": {}, "requests": {` +
	`"successful": [{"type_": "generative_request_stats", "request_id": "g1", "output": "bcde", "info": {"request_id": "g1", "conversation_id": "s0", "turn_index": 1, "status": "completed", "timings": ` +
	`{"targeted_start": 1787267980.75, "queued": 1787267980.0, "resolve_start": 1787267980.9, "request_start": 1787267981.0, "first_request_iteration": 1787267981.4, ` +
	`"first_token_iteration": 1787267981.5, "first_output_token_iteration": 1787267981.5, "last_token_iteration": 1787267982.1, "last_request_iteration": 1787267982.2, ` +
	`"request_iterations": 6, "token_iterations": 4, "request_end": 1787267982.2, "resolve_end": 1787267982.3}, "error": null}, ` +
	`"input_metrics": {"text_tokens": 20, "cached_tokens": 16, "total_tokens": 20}, "output_metrics": {"text_tokens": 4, "total_tokens": 4}, "prompt_tokens": 20, "output_tokens": 4}], ` +
	`"incomplete": [], "errored": [{"request_id": "g2", "info": {"status": "errored", "timings": {"targeted_start": 1787267981.1, "request_start": 1787267981.1, "resolve_end": 1787267981.2}, "error": "HTTP 500"}, ` +
	`"input_metrics": {"text_tokens": 30}, "output_metrics": {}}], "total": null}}]}`

const inferencePerfSample = `[{"start_time": 27536.660701067, "end_time": 27537.8, "request": "{}", "response": "x", "info": {"request_metrics": {"text": {"input_tokens": 20}}, ` +
	`"response_metrics": {"output_tokens": 4, "server_usage": {"prompt_tokens": 21, "completion_tokens": 4, "prompt_tokens_details": {"cached_tokens": 16}}, "response_chunks": ["{}", "{}", "{}"], ` +
	`"chunk_times": [27537.160701067, 27537.260701067, 27537.760701067], "output_token_times": [27537.160701067, 27537.260701067, 27537.260701067, 27537.760701067]}, ` +
	`"extra_info": {}, "lora_adapter": null, "labels": {}, "input_tokens": 20}, "error": null}, ` +
	`{"start_time": 27536.7, "end_time": 27536.9, "request": "{}", "response": null, "info": {"request_metrics": {"text": {"input_tokens": 30}}, "response_metrics": null}, ` +
	`"error": {"error_type": "TimeoutError", "error_msg": "slow"}}]`

const llmservingsimSample = `{"request_id": "bench-0", "input_toks": 20, "output_toks": 4, "arrival_time": 1787267980.0827403, "queued_ts": 27536.660701067, "scheduled_ts": 27536.660721646, "first_token_ts": 27537.160701067, "last_token_ts": 27537.760701067}` + "\n" +
	`{"request_id": "bench-1", "input_toks": 10, "output_toks": 1, "arrival_time": 1787267980.3478317, "queued_ts": 27537.0, "scheduled_ts": 27537.0, "first_token_ts": 27537.25, "last_token_ts": 27537.25}` + "\n" +
	`{"request_id": "bench-2", "input_toks": 10, "output_toks": 1, "arrival_time": null, "queued_ts": null, "scheduled_ts": null, "first_token_ts": null, "last_token_ts": null}` + "\n"

// samples returns a file of each format, by its name.
func samples() map[string]string {
	return map[string]string{
		"vllm": vllmSample, "sglang": sglangSample, "genai-perf": genaiPerfSample, "aiperf": aiperfSample, "llmperf": llmperfSample,
		"guidellm": guidellmSample, "inference-perf": inferencePerfSample, "llmservingsim": llmservingsimSample, "servesim-records": recordsSample(false),
	}
}

// altered returns the sample of a format with old replaced, once.
func altered(format, old, with string) string {
	text := samples()[format]
	if !strings.Contains(text, old) {
		panic(format + " has no " + old)
	}
	return strings.Replace(text, old, with, 1)
}

// recordsSample returns servesim's records of the call of 4 tokens.
func recordsSample(requestsOnly bool) string {
	var b strings.Builder
	w, err := observe.NewWriter(&b, observe.Header{Model: "m", Profile: "p", Policy: "vllm", RequestsOnly: requestsOnly})
	if err != nil {
		panic(err)
	}
	at := sim.Time(0)
	for i, d := range []sim.Duration{500, 100, 200, 300} {
		s := &observe.StepRun{Start: at, Steps: 1, First: d * sim.Millisecond, Serial: int64(i), Decodes: 1, DecodeKV: 20, Running: 1, BlocksUsed: 2}
		if i == 0 {
			s.Decodes, s.DecodeKV, s.Chunks = 0, 0, []observe.Chunk{{Tokens: 20}}
		} else {
			s.Gaps = []observe.Gaps{{Seqs: 1, Steps: 1, First: s.First}}
		}
		at = at.Add(s.First)
		if !requestsOnly {
			err = errors.Join(err, w.Step(s))
		}
	}
	r := &observe.Request{
		First: sim.Time(500 * sim.Millisecond), Last: at, End: at, Prompt: 20, Wanted: 4, Output: 4, Computed: 23,
		MaxGap: 300 * sim.Millisecond, Made: []observe.Span{{Step: 0, Steps: 4}}, Queued: 0,
	}
	if err := errors.Join(err, w.Request(r), w.Close()); err != nil {
		panic(err)
	}
	return b.String()
}
