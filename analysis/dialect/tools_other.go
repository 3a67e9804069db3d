package dialect

import "servesim/analysis"

// mlperf is MLPerf Inference's load generator, of loadgen/results.cc, and the
// limits of its submission checker.
func mlperf() *Dialect {
	r := roles{start: Scheduled, first: FirstText, last: Closed, end: Closed, among: Text, round: DownToNanosecond}
	tpot := r.perToken(Closed)
	tpot.Short = Illegal
	samples := r.rate("result_completed_samples_per_sec", "Completed samples per second", Requests, LastIssued)
	samples.Whose = CompletedLessOne
	issued := r.rate("result_scheduled_samples_per_sec", "Scheduled samples per second", Requests, Issuing)
	issued.Whose, issued.Name = EveryLessOne, ""
	return &Dialect{
		Name: "mlperf", Tool: "MLPerf loadgen", Version: "6.0.17, b66003e1, scenario Server",
		Metrics: []Metric{
			{Key: "result_first_token_latency_ns", Label: "First Token latency (ns)", Name: TTFT, Unit: Nanoseconds, Measure: r.wait()},
			{Key: "result_time_per_output_token_ns", Label: "Time to Output Token (ns)", Name: TPOT, Unit: Nanoseconds, Measure: tpot},
			{Key: "result_latency_ns", Label: "latency (ns)", Name: E2E, Unit: Nanoseconds, Measure: r.whole()},
		},
		Rates: []Rate{
			samples, issued,
			r.rate("result_completed_tokens_per_second", "Completed tokens per second", OutputTokens, LastIssued),
		},
		Estimator: analysis.FloorIndex, Percentiles: "50,90,95,97,99,99.9", DDoF: -1, Empty: OmittedEmpty,
		Goodput: Goodput{
			Rule: Marginal, Of: Completed, Window: LastIssued,
			Form: "%s", Sep: ", ",
			Keys: []GoodKey{
				{Objective: analysis.TTFT, Form: "ttft_latency = %s", Unit: Milliseconds, Measure: r.wait()},
				{Objective: analysis.TPOT, Form: "tpot_latency = %s", Unit: Milliseconds, Measure: tpot},
			},
			Note: "P99 of each apart, below its limit; the margin that early stopping asks for is not in it",
		},
		Failures: "none can be told of: it knows completed samples only",
		Notes:    []string{"a sample of one token is an error, so the run is invalid", "times run from the schedule, not from the send"},
	}
}

// mlperfEndpoints is MLPerf Endpoints, of async_utils/services/metrics_aggregator
// and metrics/report.py.
func mlperfEndpoints() *Dialect {
	r := roles{start: Sent, first: FirstText, last: Closed, end: Closed, among: Text}
	tpot := r.perToken(Closed)
	tpot.Over = TokensAfterFirst
	p90, _ := analysis.ParsePercentile("90")
	return &Dialect{
		Name: "mlperf-endpoints", Tool: "MLPerf Endpoints", Version: "draft rules 1.0, ea332753",
		Metrics: []Metric{
			{Key: "ttft", Label: "TTFT (ns)", Name: TTFT, Unit: Nanoseconds, Measure: r.wait()},
			{Key: "tpot", Label: "TPOT (ns)", Name: TPOT, Unit: Nanoseconds, Measure: tpot},
			{Key: "latency", Label: "Latency (ns)", Name: E2E, Unit: Nanoseconds, Measure: r.whole()},
		},
		Rates: []Rate{
			r.rate("qps", "QPS", Requests, Wall),
			r.rate("tps", "system_tps", OutputTokens, Wall),
			{Key: "tps_per_user", Label: "tps_per_user", Unit: PerSecond, Amount: PerUser, Of: p90},
		},
		Estimator: analysis.InverseCDF, Percentiles: "50,90,95,99", Empty: OmittedEmpty,
		Failures: "counted; not in latencies, in the window",
		Notes: []string{
			"TPOT is divided by the tokens after the first chunk, not by N - 1",
			"the real percentiles come from an HDR histogram, which rounds them",
		},
	}
}

// bentoml is what BentoML's handbook of LLM inference says.
func bentoml() *Dialect {
	r := roles{start: Sent, first: FirstText, last: LastText, end: LastText, among: Text}
	return &Dialect{
		Name: "bentoml", Tool: "BentoML LLM inference handbook", Version: "of 2025", FromDocs: true,
		Metrics: []Metric{
			{Key: "ttft", Label: "Time to First Token", Name: TTFT, Unit: Milliseconds, Measure: r.wait()},
			{Key: "tpot", Label: "Time per Output Token", Name: TPOT, Unit: Milliseconds, Measure: r.perToken(LastText)},
			{Key: "itl", Label: "Inter-Token Latency", Name: ITL, Unit: Milliseconds, Measure: r.pauses(PerChunk)},
			{Key: "e2el", Label: "End-to-End Latency", Name: E2E, Unit: Milliseconds, Measure: r.whole()},
		},
		Percentiles: "50,95,99", DDoF: -1, Empty: OmittedEmpty,
		Goodput: Goodput{
			Rule: Joint, AbsentGood: true, Of: Completed, Window: Wall,
			Form: "%s", Sep: ", ", Prints: PrintsRate,
			Keys: []GoodKey{
				{Objective: analysis.TTFT, Form: "TTFT <= %s ms", Unit: Milliseconds, Measure: r.wait()},
				{Objective: analysis.TPOT, Form: "TPOT <= %s ms", Unit: Milliseconds, Measure: r.perToken(LastText)},
				{Objective: analysis.E2EL, Form: "E2EL <= %s ms", Unit: Milliseconds, Measure: r.whole()},
			},
			Note: "what short answers and failed calls count isn't said",
		},
		Failures: "not said; left out here",
	}
}

// distServe is DistServe's evaluation, of evaluation/2-benchmark-serving/structs.py.
func distServe() *Dialect {
	r := roles{start: Sent, first: FirstText, last: LastText, end: LastText, among: Text}
	tpot := r.perToken(LastText)
	tpot.Short = AsZero
	return &Dialect{
		Name: "distserve", Tool: "DistServe", Version: "main of 2024, 82831f1",
		Metrics: []Metric{
			{Key: "ttft", Label: "TTFT", Name: TTFT, Unit: Seconds, Measure: r.wait()},
			{Key: "tpot", Label: "TPOT", Name: TPOT, Unit: Seconds, Measure: tpot},
			{Key: "latency", Label: "latency", Name: E2E, Unit: Seconds, Measure: r.whole()},
		},
		Percentiles: "50,90,99", DDoF: -1, Empty: NaNEmpty,
		Goodput: Goodput{
			Rule: Joint, Of: Completed, Window: Wall,
			Form: "%s", Sep: ", ", Prints: PrintsShare,
			Keys: []GoodKey{
				{Objective: analysis.TTFT, Form: "ttft <= %s", Unit: Seconds, Measure: r.wait()},
				{Objective: analysis.TPOT, Form: "tpot <= %s", Unit: Seconds, Measure: tpot},
			},
			Note: "its goodput is the highest rate per GPU with a share of 90 % or more, which one run can't say",
		},
		Failures: "none: its client ends at the first error; left out here",
	}
}

// blis is the inference-sim simulator, of cmd/goodput.go.
func blis() *Dialect {
	r := roles{start: Sent, first: FirstText, last: LastText, end: LastText, among: Text}
	itl := r.perToken(LastText)
	itl.Short = AsZero
	return &Dialect{
		Name: "blis", Tool: "BLIS (inference-sim)", Version: "main of August 2026, f90a1e3a",
		Metrics: []Metric{
			{Key: "ttft_ms", Label: "ttft_ms", Name: TTFT, Unit: Milliseconds, Measure: r.wait()},
			{Key: "itl_ms", Label: "itl_ms", Name: ITL, Unit: Milliseconds, Measure: itl},
			{Key: "e2e_ms", Label: "e2e_ms", Name: E2E, Unit: Milliseconds, Measure: r.whole()},
		},
		Rates: []Rate{
			r.rate("responses_per_sec", "responses_per_sec", Requests, Wall),
			r.rate("tokens_per_sec", "tokens_per_sec", OutputTokens, Wall),
		},
		Percentiles: "90,95,99", DDoF: -1, Empty: ZeroEmpty,
		Goodput: Goodput{
			Rule: Joint, Of: Every, Window: Wall,
			Form: "%s", Sep: " ", Prints: PrintsRate | PrintsShare,
			Keys: []GoodKey{
				{Objective: analysis.TTFT, Form: "--slo-ttft default=%sms", Unit: Milliseconds, Measure: r.wait()},
				{Objective: analysis.TPOT, Form: "--slo-itl default=%sms", Unit: Milliseconds, Measure: itl},
				{Objective: analysis.E2EL, Form: "--slo-e2e default=%sms", Unit: Milliseconds, Measure: r.whole()},
			},
		},
		Failures: "not in latencies; in the denominator of the share",
	}
}

// vidur is the Vidur simulator, of vidur/metrics.
func vidur() *Dialect {
	r := roles{start: Sent, first: FirstText, last: LastText, end: LastText, among: Text}
	return &Dialect{
		Name: "vidur", Tool: "Vidur", Version: "main of 2025, 7d47513",
		Metrics: []Metric{
			{Key: "prefill_e2e_time", Label: "prefill_e2e_time", Name: TTFT, Unit: Seconds, Measure: r.wait()},
			{Key: "request_e2e_time", Label: "request_e2e_time", Name: E2E, Unit: Seconds, Measure: r.whole()},
			{Key: "request_e2e_time_normalized", Label: "request_e2e_time_normalized", Unit: Seconds, Measure: r.perAny(LastText)},
		},
		Percentiles: "50,90,99", DDoF: -1, Empty: OmittedEmpty,
		Failures: "none: it simulates requests that complete; left out here",
		Notes:    []string{"the real percentiles come from a sketch within 0.1 %"},
	}
}

// All returns every dialect, servesim's own first.
func All() []*Dialect {
	return []*Dialect{
		servesim(), vllm(), sglang(), genaiPerf(), aiperf(), llmperf(), guidellm(), inferencePerf(),
		mlperf(), mlperfEndpoints(), nim(), anyscale(), bentoml(), distServe(), blis(), vidur(),
	}
}
