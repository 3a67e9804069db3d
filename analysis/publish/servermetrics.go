package publish

import "servesim/sim/observe"

// The buckets of vLLM's metrics, in seconds (vllm-project/vllm
// vllm/v1/metrics/loggers.py, PrometheusStatLogger).
const (
	firstTokenBuckets = "0.001 0.005 0.01 0.02 0.04 0.06 0.08 0.1 0.25 0.5 0.75 1 2.5 5 7.5 10 20 40 80 160 640 2560"
	perTokenBuckets   = "0.01 0.025 0.05 0.075 0.1 0.15 0.2 0.3 0.4 0.5 0.75 1 2.5 5 7.5 10 20 40 80"
	requestBuckets    = "0.3 0.5 0.8 1 1.5 2 2.5 5 10 15 20 30 40 50 60 120 240 480 960 1920 7680"
)

// iterationBuckets are those of the tokens of a step.
func iterationBuckets() []int64 {
	return []int64{1, 8, 16, 32, 64, 128, 256, 512, 1024, 2048, 4096, 8192, 16384}
}

// The counters, in the order in which they are written.
const (
	preemptions = iota
	promptTokens
	generationTokens
	finishedStop
	finishedLength
	finishedAbort
	counters
)

// server is what vLLM's server of one engine would have told Prometheus.
type server struct {
	counts [counters][]int64 // what came in each interval
	// gauges are the values at the end of each interval: running, waiting, blocks.
	gauges [3][]int64

	firstToken, perToken, requestPerToken         *histogram
	e2e, queue, inference, prefill, decode        *histogram
	prompt, generation, wanted, params, iteration *histogram
}

// newServer returns the metrics of an engine that takes requests of up to so many
// tokens.
func newServer(maxModelLen int64) *server {
	lengths := oneTwoFive(maxModelLen)
	return &server{
		firstToken:      times("vllm:time_to_first_token_seconds", "Time to first token in seconds.", firstTokenBuckets),
		perToken:        times("vllm:inter_token_latency_seconds", "Inter-token latency in seconds.", perTokenBuckets),
		requestPerToken: times("vllm:request_time_per_output_token_seconds", "Time per output token of a request in seconds.", perTokenBuckets),
		e2e:             times("vllm:e2e_request_latency_seconds", "End-to-end latency of a request in seconds.", requestBuckets),
		queue:           times("vllm:request_queue_time_seconds", "Time a request spent WAITING.", requestBuckets),
		inference:       times("vllm:request_inference_time_seconds", "Time a request spent RUNNING.", requestBuckets),
		prefill:         times("vllm:request_prefill_time_seconds", "Time a request spent in PREFILL.", requestBuckets),
		decode:          times("vllm:request_decode_time_seconds", "Time a request spent in DECODE.", requestBuckets),
		prompt:          tokens("vllm:request_prompt_tokens", "Number of prompt tokens of a request.", lengths),
		generation:      tokens("vllm:request_generation_tokens", "Number of generated tokens of a request.", lengths),
		wanted:          tokens("vllm:request_max_num_generation_tokens", "Number of tokens that a request may generate.", lengths),
		params:          tokens("vllm:request_params_max_tokens", "The max_tokens parameter of a request.", lengths),
		iteration:       tokens("vllm:iteration_tokens_total", "Number of tokens of an engine step.", iterationBuckets()),
	}
}

// histograms lists them in the order in which they are written.
func (s *server) histograms() []*histogram {
	old := *s.perToken
	old.name, old.help = "vllm:time_per_output_token_seconds", "Time per output token in seconds. DEPRECATED: vllm:inter_token_latency_seconds is the same."
	return []*histogram{
		s.prompt, s.generation, s.iteration, s.wanted, s.params, s.firstToken, s.perToken, &old, s.requestPerToken,
		s.e2e, s.queue, s.inference, s.prefill, s.decode,
	}
}

// count adds n to a counter in interval k.
func (s *server) count(which, k int, n int64) { *at(&s.counts[which], k) += n }

// request takes in a request that has ended. of gives the interval of an instant.
func (s *server) request(r *observe.Request, of func(sim int64) int) {
	if r.First != observe.Never {
		k := of(int64(r.First))
		s.firstToken.add(k, int64(r.First.Sub(r.Joined())), 1)
		s.count(promptTokens, k, int64(r.Prompt))
		s.count(generationTokens, k, 1)
	}
	k := of(int64(r.End))
	switch r.Outcome {
	case observe.Completed:
	case observe.TimedOut, observe.Cancelled:
		s.count(finishedAbort, k, 1)
		return
	default:
		return
	}
	// The scheduler ends a request by its number of tokens, asked for or possible.
	s.count(finishedLength, k, 1)
	s.e2e.add(k, int64(r.Last.Sub(r.Joined())), 1)
	s.queue.add(k, int64(r.Scheduled.Sub(r.Joined())), 1)
	s.inference.add(k, int64(r.Last.Sub(r.Scheduled)), 1)
	s.prefill.add(k, int64(r.First.Sub(r.Scheduled)), 1)
	s.decode.add(k, int64(r.Last.Sub(r.First)), 1)
	s.prompt.add(k, int64(r.Prompt), 1)
	s.generation.add(k, int64(r.Output), 1)
	s.wanted.add(k, int64(r.Wanted), 1)
	s.params.add(k, int64(r.Wanted), 1)
	if n := int64(r.Output - 1); n > 0 {
		s.requestPerToken.add(k, int64(r.Last.Sub(r.First))/n, 1)
	}
}
