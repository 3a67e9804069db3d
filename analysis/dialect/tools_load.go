package dialect

import "servesim/analysis"

// llmperf is Ray's LLMPerf, of src/llmperf/ray_clients and
// token_benchmark_ray.py.
func llmperf() *Dialect {
	r := roles{
		start: Sent, first: FirstVisible, last: LastVisible, end: Closed, among: Visible,
		count: Count{From: Retokenized, Extra: 1},
	}
	minute := r.rate("num_completed_requests_per_min", "Completed Requests Per Minute", Requests, Wall)
	minute.Unit = PerMinute
	return &Dialect{
		Name: "llmperf", Tool: "LLMPerf", Version: "main of December 2024, f1d6bed",
		Metrics: []Metric{
			{Key: "ttft_s", Label: "ttft_s", Name: TTFT, Unit: Seconds, Measure: r.wait()},
			{Key: "inter_token_latency_s", Label: "inter_token_latency_s", Name: ITL, Unit: Seconds, Measure: Measure{From: Sent, To: LastVisible, Over: Messages}},
			{Key: "end_to_end_latency_s", Label: "end_to_end_latency_s", Name: E2E, Unit: Seconds, Measure: r.whole()},
			{Key: "request_output_throughput_token_per_s", Label: "request_output_throughput_token_per_s", Name: UserRate, Unit: PerSecond, Measure: speed(r.perAny(Closed))},
		},
		Rates: []Rate{
			minute,
			r.rate("mean_output_throughput_token_per_s", "Overall Output Throughput", OutputTokens, Wall),
		},
		Percentiles: "25,50,75,90,95,99", DDoF: 1, Empty: NaNEmpty,
		Failures: "lost: the thread that meets one ends; in the window here",
		Notes: []string{
			"ITL includes TTFT and is divided by the messages of the stream, empty ones too",
			"its tokenizer begins every text with a token of its own, so an answer of N tokens has N + 1",
		},
	}
}

// anyscale is what the documentation of Anyscale, LLMPerf's makers, says.
func anyscale() *Dialect {
	r := roles{start: Sent, first: FirstText, last: LastText, end: Closed, among: Text}
	return &Dialect{
		Name: "anyscale", Tool: "Anyscale documentation", Version: "of 2025", FromDocs: true,
		Metrics: []Metric{
			{Key: "ttft", Label: "Time to first token", Name: TTFT, Unit: Milliseconds, Measure: r.wait()},
			{Key: "itl", Label: "Inter-token latency", Name: ITL, Unit: Milliseconds, Measure: r.perAny(Closed)},
			{Key: "e2e_latency", Label: "End-to-end latency", Name: E2E, Unit: Milliseconds, Measure: r.whole()},
			{Key: "throughput", Label: "Output tokens per second of a request", Name: UserRate, Unit: PerSecond, Measure: speed(r.perAny(Closed))},
		},
		Percentiles: "50,90,99", DDoF: -1, Empty: OmittedEmpty,
		Failures: "not said; left out here",
		Notes:    []string{"ITL includes TTFT"},
	}
}

// guidellm is GuideLLM, of src/guidellm/schemas and benchmark/schemas.
func guidellm() *Dialect {
	r := roles{
		start: Sent, first: FirstText, last: LastText, end: Closed, among: Text,
		count: Count{Else: ChunkCount},
	}
	wait, tpot, itl := r.wait(), r.perAny(LastText), r.perToken(LastText)
	wait.AbsentZero = true
	tpot.Weighted, itl.Weighted = true, true
	return &Dialect{
		Name: "guidellm", Tool: "GuideLLM", Version: "main of August 2026, ee7a7745",
		Metrics: []Metric{
			{Key: "time_to_first_token_ms", Label: "TTFT (ms)", Name: TTFT, Unit: Milliseconds, Measure: wait},
			{Key: "time_per_output_token_ms", Label: "TPOT (ms)", Name: TPOT, Unit: Milliseconds, Measure: tpot},
			{Key: "inter_token_latency_ms", Label: "ITL (ms)", Name: ITL, Unit: Milliseconds, Measure: itl},
			{Key: "request_latency", Label: "Request Latency (sec)", Name: E2E, Unit: Seconds, Measure: r.whole()},
			{Key: "request.output_tokens_per_second", Label: "output_tokens_per_second of a request", Name: UserRate, Unit: PerSecond, Measure: speed(r.perAny(Closed))},
		},
		Rates: []Rate{
			r.rate("requests_per_second", "Requests/sec", Requests, Calls),
			r.rate("prompt_tokens_per_second", "Input tokens/sec", PromptTokens, Calls),
			r.rate("output_tokens_per_second", "Output tokens/sec", OutputTokens, Calls),
			r.rate("tokens_per_second", "Total tokens/sec", AllTokens, Calls),
		},
		Estimator: analysis.InverseCDF, Percentiles: "0.1,1,5,10,25,50,75,90,95,99,99.9", Empty: ZeroEmpty,
		Failures: "in a group of their own, errored; these are the figures of the group successful, whose window they stretch",
		Notes: []string{
			"TPOT includes TTFT; ITL is what others call TPOT; both weigh a call by its tokens",
			"no warm-up or cool-down is cut off",
		},
	}
}

// inferencePerf is Kubernetes' inference-perf, of inference_perf/reportgen/base.py.
func inferencePerf() *Dialect {
	r := roles{
		start: Sent, first: FirstVisible, last: LastVisible, end: Closed, among: Visible,
		count: Count{From: Retokenized},
	}
	wait, normal, gaps := r.wait(), r.perAny(Closed), r.pauses(Burst)
	wait.LeastTokens, wait.Count = 2, r.count
	normal.Short = AsZero
	tpot := r.perToken(LastVisible)
	return &Dialect{
		Name: "inference-perf", Tool: "inference-perf", Version: "main of August 2026, 7de5ef2",
		Metrics: []Metric{
			{Key: "time_to_first_token", Label: "time_to_first_token", Name: TTFT, Unit: Seconds, Measure: wait},
			{Key: "time_per_output_token", Label: "time_per_output_token", Name: TPOT, Unit: Seconds, Measure: tpot},
			{Key: "normalized_time_per_output_token", Label: "normalized_time_per_output_token", Unit: Seconds, Measure: normal},
			{Key: "inter_token_latency", Label: "inter_token_latency", Name: ITL, Unit: Seconds, Measure: gaps},
			{Key: "request_latency", Label: "request_latency", Name: E2E, Unit: Seconds, Measure: r.whole()},
		},
		Rates: []Rate{
			r.rate("requests_per_sec", "requests_per_sec", Requests, Calls),
			r.rate("input_tokens_per_sec", "input_tokens_per_sec", PromptTokens, Calls),
			r.rate("output_tokens_per_sec", "output_tokens_per_sec", OutputTokens, Calls),
			r.rate("total_tokens_per_sec", "total_tokens_per_sec", AllTokens, Calls),
		},
		Percentiles: "0.1,1,5,10,25,50,75,90,95,99,99.9", DDoF: -1, Empty: NullEmpty,
		Goodput: Goodput{
			Rule: Joint, Of: Completed, Window: Successes,
			Form: "report.goodput.constraints: {%s}", Sep: ", ", Prints: PrintsRate | PrintsShare | PrintsTokens,
			Keys: []GoodKey{
				{Objective: analysis.TTFT, Form: "ttft: %s", Unit: Seconds, Measure: wait},
				{Objective: analysis.TPOT, Form: "tpot: %s", Unit: Seconds, Measure: tpot},
				{Objective: analysis.E2EL, Form: "request_latency: %s", Unit: Seconds, Measure: r.whole()},
			},
			Note: "a call without one of the metrics isn't good; the share is of successes, the rates are over their own span",
		},
		Failures: "in a block of their own; in the window of throughput, not in that of goodput",
		Notes:    []string{"an answer of one token has no TTFT", "reasoning isn't content"},
	}
}
