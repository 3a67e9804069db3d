package validate

// A peer is an accuracy figure that another simulator, or someone about it,
// publishes.
type peer struct{ tool, claim, of, source string }

const peersHead = `The figures are as printed there. They are of other runs, other metrics and other hardware, so
they do not compare number by number; the third column says what each is of. None of the tools
publishes figures for B200 or for 4-bit weights.
`

// peers lists the published figures.
func peers() []peer {
	return []peer{
		{"Vidur", "less than 9 % error in latency", "A100 and H100, vLLM of 2023, a profile for each model, GPU and TP", "arXiv 2405.05465"},
		{"BLIS, trained physics", "median error: E2E mean 6.7 %, P90 7.5 %, P99 9.2 %; TTFT mean 17.6 %, P90 21.3 %, P99 29.0 %; ITL 7.1 %", "36 runs, vLLM 0.15.1, open loop, FP16, prompts almost wholly prefix-cached; FP8 runs left out", "inference-sim, how-blis-learns-latency.md at f90a1e3a"},
		{"BLIS, evolved", "median error: E2E mean 17.2 %, P99 29.2 %, TTFT 12.4 %, ITL 19.9 %", "15 of its own training runs; computed from its records", "sim-to-real, results_trainval/error_records.csv"},
		{"BLIS, roofline", "median error: E2E 49 %, TTFT 279 %, ITL 54 %", "the same 15 runs; computed from its records", "as above"},
		{"AIConfigurator", "mean error of TTFT 26.4 %, 18.0 % with a queue factor", "its vLLM corpus of aggregated serving; no headline figure end to end", "ai-dynamo/aiconfigurator at 095f58a5"},
		{"AIConfigurator, measured by BLIS", "median error: E2E 11.8 %, ITL 25.4 %, TTFT 653 %", "9 runs, version 0.9.0; computed from their records", "sim-to-real, results_trainval/error_records.csv"},
		{"LLMServingSim 2.0", "TPOT mean within 1.7 %, latency mean within 2.2 %, TTFT -13.6 to +1.3 %", "4 runs on RTX PRO 6000 and RTX 4090, layer profiles of the same GPU; KV blocks of one matched by hand", "docs/validation.md at 5daddb21"},
		{"LLMServingSim, measured by BLIS", "median error: E2E 18.8 %, P99 22.9 %, TTFT 72.5 %, ITL 21.8 %", "32 H100 runs; computed from their records", "sim-to-real, llmservingsim_error_records_matched.csv"},
		{"Vidur, measured by BLIS", "median error of TTFT above 1000 %; on 4 runs E2E 2.4 %, P99 32.6 %", "11 % of the runs could be simulated", "sim-to-real, figure_captions.md"},
		{"LLM-Optimizer, measured by BLIS", "median error about 65 %; E2E 39 %, ITL 56 %", "analytical", "as above"},
	}
}
