package dialect

import "servesim/analysis"

// ninePercentiles are those of GenAI-Perf and AIPerf.
const ninePercentiles = "1,5,10,25,50,75,90,95,99"

// genaiPerf is NVIDIA's GenAI-Perf, of genai_perf/profile_data_parser and metrics.
func genaiPerf() *Dialect {
	r := roles{
		start: Sent, first: FirstVisible, last: LastVisible, end: LastVisible, among: Visible,
		count: Count{From: Retokenized}, round: ToNanosecond,
	}
	itl := r.perToken(LastVisible)
	itl.LeastChunks, itl.Among = 2, Visible
	all := r.rate("request_throughput", "Request Throughput (per sec)", Requests, Valid)
	all.Whose = Every
	return &Dialect{
		Name: "genai-perf", Tool: "GenAI-Perf", Version: "main of December 2025, 263c5f6e",
		Metrics: []Metric{
			{Key: "time_to_first_token", Label: "Time To First Token (ms)", Name: TTFT, Unit: Milliseconds, Measure: r.wait()},
			{Key: "time_to_second_token", Label: "Time To Second Token (ms)", Unit: Milliseconds, Measure: Measure{From: FirstVisible, To: SecondVisible}},
			{Key: "inter_token_latency", Label: "Inter Token Latency (ms)", Name: ITL, Unit: Milliseconds, Measure: itl},
			{Key: "request_latency", Label: "Request Latency (ms)", Name: E2E, Unit: Milliseconds, Measure: r.whole()},
			{Key: "output_token_throughput_per_user", Label: "Output Token Throughput Per User (tokens/sec/user)", Name: UserRate, Unit: PerSecond, Measure: speed(itl)},
		},
		Rates: []Rate{all, r.rate("output_token_throughput", "Output Token Throughput (per sec)", OutputTokens, Valid)},

		Percentiles: ninePercentiles, Empty: OmittedEmpty,
		Goodput: Goodput{
			Rule: Zipped, Of: Completed, Window: Valid,
			Form: "--goodput %s", Sep: " ", Prints: PrintsRate,
			Keys: []GoodKey{
				{Objective: analysis.TTFT, Form: "time_to_first_token:%s", Unit: Milliseconds, Measure: r.wait()},
				{Objective: analysis.TPOT, Form: "inter_token_latency:%s", Unit: Milliseconds, Measure: itl},
				{Objective: analysis.E2EL, Form: "request_latency:%s", Unit: Milliseconds, Measure: r.whole()},
			},
			Note: "the lists of metrics are put side by side as they are: where a short answer has no ITL, what follows is matched with another call's",
		},
		Failures: "not in latencies nor in the window, but counted in the request rate if they left a record, as is assumed",
		Notes:    []string{"reasoning isn't content: TTFT ends with the first visible text", "ITL is what others call TPOT"},
	}
}

// aiperf is NVIDIA's AIPerf, of aiperf/metrics/types.
func aiperf() *Dialect {
	r := roles{start: Sent, first: FirstText, last: LastText, end: LastText, among: Text}
	itl := r.perToken(LastText)
	nearest := analysis.Nearest
	adjusted := func(key, label string, m Measure) Metric {
		m.Failed = Infinite
		return Metric{Key: key, Label: label, Unit: Milliseconds, Measure: m, Estimator: &nearest}
	}
	return &Dialect{
		Name: "aiperf", Tool: "AIPerf", Version: "0.1.1, db4f6397; adj_*, e2e_*, prefill and total rates of 0.11 to 0.14",
		Metrics: []Metric{
			{Key: "time_to_first_token", Label: "Time to First Token (ms)", Name: TTFT, Unit: Milliseconds, Measure: r.wait()},
			{Key: "time_to_second_token", Label: "Time to Second Token (ms)", Unit: Milliseconds, Measure: Measure{From: FirstText, To: SecondText}},
			{Key: "inter_token_latency", Label: "Inter Token Latency (ms)", Name: ITL, Unit: Milliseconds, Measure: itl},
			{Key: "inter_chunk_latency", Label: "Inter Chunk Latency (ms)", Unit: Milliseconds, Measure: r.pauses(PerChunk)},
			{Key: "request_latency", Label: "Request Latency (ms)", Name: E2E, Unit: Milliseconds, Measure: r.whole()},
			{Key: "output_token_throughput_per_user", Label: "Output Token Throughput Per User (tokens/sec/user)", Name: UserRate, Unit: PerSecond, Measure: speed(itl)},
			{Key: "e2e_output_token_throughput", Label: "E2E Output Token Throughput (tokens/sec)", Unit: PerSecond, Measure: speed(r.perAny(LastText))},
			{Key: "prefill_throughput", Label: "Prefill Throughput (tokens/sec)", Unit: PerSecond, Measure: Measure{Kind: Speed, From: Sent, To: FirstText, Over: Inputs}},
			adjusted("adj_time_to_first_token", "Adjusted Time to First Token (ms)", r.wait()),
			adjusted("adj_inter_token_latency", "Adjusted Inter Token Latency (ms)", itl),
			adjusted("adj_request_latency", "Adjusted Request Latency (ms)", r.whole()),
		},
		Rates: []Rate{
			r.rate("request_throughput", "Request Throughput (requests/sec)", Requests, Valid),
			r.rate("output_token_throughput", "Output Token Throughput (tokens/sec)", OutputTokens, Valid),
			r.rate("total_token_throughput", "Total Token Throughput (tokens/sec)", AllTokens, Valid),
		},
		Percentiles: ninePercentiles, Empty: OmittedEmpty,
		Goodput: Goodput{
			Rule: Joint, Of: Every, Window: Valid,
			Form: "--goodput \"%s\"", Sep: " ", Prints: PrintsRate | PrintsShare,
			Keys: []GoodKey{
				{Objective: analysis.TTFT, Form: "time_to_first_token:%s", Unit: Milliseconds, Measure: r.wait()},
				{Objective: analysis.TPOT, Form: "inter_token_latency:%s", Unit: Milliseconds, Measure: itl},
				{Objective: analysis.E2EL, Form: "request_latency:%s", Unit: Milliseconds, Measure: r.whole()},
			},
			Note: "a call without one of the metrics isn't good; the fraction is of valid calls and errors",
		},
		Failures: "not in latencies, rates or the window; infinite in adj_*; in the denominator of the fraction of good calls",
		Notes:    []string{"ITL is what others call TPOT; Inter Chunk Latency is what vLLM calls ITL"},
	}
}

// nim is what the documentation of NVIDIA NIM says about benchmarking.
func nim() *Dialect {
	r := roles{start: Sent, first: FirstText, last: LastText, end: LastText, among: Text}
	return &Dialect{
		Name: "nim", Tool: "NVIDIA NIM documentation", Version: "2.0.0", FromDocs: true,
		Metrics: []Metric{
			{Key: "ttft", Label: "Time to First Token", Name: TTFT, Unit: Milliseconds, Measure: r.wait()},
			{Key: "tpot", Label: "Time Per Output Token", Name: TPOT, Unit: Milliseconds, Measure: r.perToken(LastText)},
			{Key: "itl", Label: "Inter-token Latency", Name: ITL, Unit: Milliseconds, Measure: r.perToken(LastText)},
			{Key: "e2e_latency", Label: "End-to-End Request Latency", Name: E2E, Unit: Milliseconds, Measure: r.whole()},
			{Key: "tps_per_user", Label: "TPS per user", Name: UserRate, Unit: PerSecond, Measure: speed(r.perAny(LastText))},
		},
		Rates: []Rate{
			r.rate("rps", "Requests per Second", Requests, Valid),
			r.rate("tps", "Total TPS per system", OutputTokens, Valid),
		},
		Percentiles: "50,90,99", DDoF: -1, Empty: OmittedEmpty,
		Failures: "not said; left out here",
	}
}
