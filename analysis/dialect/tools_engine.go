package dialect

import "servesim/analysis"

// servesim is the dialect of package analysis: what its Report says, computed
// from calls. Where every token is a chunk of its own they are equal.
func servesim() *Dialect {
	r := roles{start: Sent, first: FirstMade, last: LastMade, end: LastText, among: Text}
	every := r.pauses(PerChunk)
	every.Failed = In
	tpot := r.perToken(LastMade)
	worst := Measure{Kind: Worst, Among: Text, LeastTokens: 2}
	return &Dialect{
		Name: "servesim", Tool: "servesim", Version: "this one",
		Metrics: []Metric{
			{Key: "ttft", Label: "TTFT", Name: TTFT, Unit: Milliseconds, Measure: r.wait()},
			{Key: "tpot", Label: "TPOT", Name: TPOT, Unit: Milliseconds, Measure: tpot},
			{Key: "itl", Label: "ITL", Name: ITL, Unit: Milliseconds, Measure: every},
			{Key: "max_gap", Label: "worst gap", Unit: Milliseconds, Measure: worst},
			{Key: "e2e", Label: "E2E", Name: E2E, Unit: Milliseconds, Measure: r.whole()},
		},
		Rates: []Rate{
			r.rate("requests_per_s", "requests/s", Requests, Calls),
			r.rate("output_tokens_per_s", "output tokens/s", OutputTokens, Calls),
			r.rate("tokens_per_s", "tokens/s", AllTokens, Calls),
		},
		Percentiles: "50,90,99", DDoF: -1, Empty: OmittedEmpty,
		Goodput: Goodput{
			Rule: Joint, AbsentGood: true, Scopes: true, Of: Every, Window: Calls,
			Form: "--set slo.goodput='%s'", Sep: " ", Prints: PrintsRate | PrintsShare,
			Keys: []GoodKey{
				{Objective: analysis.TTFT, Form: "ttft:%s", Unit: Milliseconds, Measure: r.wait()},
				{Objective: analysis.TPOT, Form: "tpot:%s", Unit: Milliseconds, Measure: tpot},
				{Objective: analysis.E2EL, Form: "e2el:%s", Unit: Milliseconds, Measure: r.whole()},
				{Objective: analysis.MaxGap, Form: "maxgap:%s", Unit: Milliseconds, Measure: worst},
			},
		},
		Failures: "not in latencies but in ITL as far as they came; in the window and in the denominator of goodput",
		Notes:    []string{"TTFT leaves out the way of the answer, which E2E has"},
	}
}

// vllm is `vllm bench serve`, of vllm/benchmarks/serve.py and
// lib/endpoint_request_func.py.
func vllm() *Dialect {
	r := roles{start: Sent, first: FirstChoice, last: LastChoice, end: LastChoice, among: Choices}
	chunked := func(key, label string, a Amount) Rate {
		x := r.rate(key, label, a, Wall)
		x.Whose = Chunked
		return x
	}
	together := chunked("max_concurrent_requests", "Peak concurrent requests", PeakCalls)
	together.Unit = AtOnce
	return &Dialect{
		Name: "vllm", Tool: "vllm bench serve", Version: "main of August 2026, 009e6d4a",
		Metrics: []Metric{
			{Key: "ttft", Label: "TTFT (ms)", Name: TTFT, Unit: Milliseconds, Measure: r.wait()},
			{Key: "tpot", Label: "TPOT (ms)", Name: TPOT, Unit: Milliseconds, Measure: r.perToken(LastChoice)},
			{Key: "itl", Label: "ITL (ms)", Name: ITL, Unit: Milliseconds, Measure: r.pauses(PerChunk)},
			{Key: "e2el", Label: "E2EL (ms)", Name: E2E, Unit: Milliseconds, Measure: r.whole()},
		},
		Rates: []Rate{
			chunked("request_throughput", "Request throughput (req/s)", Requests),
			chunked("output_throughput", "Output token throughput (tok/s)", OutputTokens),
			chunked("total_token_throughput", "Total token throughput (tok/s)", AllTokens),
			chunked("max_output_tokens_per_s", "Peak output token throughput (tok/s)", PeakChunks),
			together,
		},
		Percentiles: "50,99", Empty: ZeroEmpty,
		Goodput: Goodput{
			Rule: Joint, AbsentGood: true, Of: Chunked, Window: Wall,
			Form: "--goodput %s", Sep: " ", Prints: PrintsRate,
			Keys: []GoodKey{
				{Objective: analysis.TTFT, Form: "ttft:%s", Unit: Milliseconds, Measure: r.wait()},
				{Objective: analysis.TPOT, Form: "tpot:%s", Unit: Milliseconds, Measure: r.perToken(LastChoice)},
				{Objective: analysis.E2EL, Form: "e2el:%s", Unit: Milliseconds, Measure: r.whole()},
			},
			Note: "answers of one token pass tpot; failed calls aren't looked at",
		},
		Failures: "not in latencies; in the window; a call that ends without a chunk is one",
		Notes:    []string{"a first chunk without text, such as a role, ends TTFT", "e2el is printed only if asked for", "the peak of output tokens counts chunks, whatever they carry"},
	}
}

// sglang is SGLang's bench_serving against its native /generate, of
// python/sglang/benchmark/serving.py.
func sglang() *Dialect {
	r := roles{
		start: Sent, first: FirstText, last: LastText, end: LastLine, among: Text,
		count: Count{Else: Requested},
	}
	wait := r.wait()
	wait.AbsentZero = true
	concurrency := r.rate("concurrency", "Concurrency", Latency, Wall)
	concurrency.Unit = AtOnce
	return &Dialect{
		Name: "sglang", Tool: "sglang.bench_serving", Version: "main of August 2026, 00f9ec47, native backend",
		Metrics: []Metric{
			{Key: "ttft", Label: "TTFT (ms)", Name: TTFT, Unit: Milliseconds, Measure: wait},
			{Key: "tpot", Label: "TPOT (ms)", Name: TPOT, Unit: Milliseconds, Measure: r.perToken(LastLine)},
			{Key: "itl", Label: "ITL (ms)", Name: ITL, Unit: Milliseconds, Measure: r.pauses(Even)},
			{Key: "e2e_latency", Label: "E2E Latency (ms)", Name: E2E, Unit: Milliseconds, Measure: r.whole()},
		},
		Rates: []Rate{
			r.rate("request_throughput", "Request throughput (req/s)", Requests, Wall),
			r.rate("input_throughput", "Input token throughput (tok/s)", PromptTokens, Wall),
			r.rate("output_throughput", "Output token throughput (tok/s)", OutputTokens, Wall),
			r.rate("total_throughput", "Total token throughput (tok/s)", AllTokens, Wall),
			concurrency,
		},
		Percentiles: "50,90,95,99", Empty: ZeroEmpty,
		Failures: "not in latencies; in the window",
		Notes: []string{
			"E2E and TPOT run to the last line of the stream, its end mark included",
			"the real window is some ms longer: it ends after a call to the server",
		},
	}
}
