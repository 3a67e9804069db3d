package dialect

import (
	"fmt"
	"math"
	"testing"

	"servesim/analysis"
	"servesim/analysis/transcript"
	"servesim/sim"
	"servesim/sim/observe"
)

const ms = sim.Millisecond

// answer is a completed call, sent at a time, whose chunks of k tokens each come
// evenly from wait after it to wait+decode; all without a tail.
func answer(id int64, sent, wait, decode sim.Duration, prompt, tokens, k int32) *transcript.Call {
	c := &transcript.Call{
		ID: id, Scheduled: sim.Time(sent), Sent: sim.Time(sent), Prompt: prompt, Output: tokens, Wanted: tokens,
		Outcome: observe.Completed,
	}
	n := int64((tokens + k - 1) / k)
	for i := range n {
		at := sent + wait
		if n > 1 {
			at += decode * sim.Duration(i) / sim.Duration(n-1)
		}
		c.Chunks = append(c.Chunks, transcript.Chunk{At: sim.Time(at), Tokens: min(k, tokens-int32(i)*k)})
	}
	c.Closed = c.Chunks[n-1].At
	return c
}

// one is the call of the first worked example: 100 tokens in 700 ms after 500 ms.
func one(k int32) *transcript.Call { return answer(1, 0, 500*ms, 700*ms, 200, 100, k) }

// three are the calls of the second: one like the first, one of a single token
// and one that fails.
func three() []*transcript.Call {
	failed := &transcript.Call{
		ID: 3, Scheduled: sim.Time(200 * ms), Sent: sim.Time(200 * ms), Closed: sim.Time(2200 * ms),
		Prompt: 300, Output: 0, Wanted: 100, Outcome: observe.TimedOut,
	}
	return []*transcript.Call{one(1), answer(2, 100*ms, 300*ms, 0, 100, 1, 1), failed}
}

// measured returns what a dialect, as change changes it, says of calls.
func measured(t *testing.T, name string, calls []*transcript.Call, o Options, change func(*Dialect)) *Result {
	t.Helper()
	d, err := Find(name)
	if err != nil {
		t.Fatal(err)
	}
	if change != nil {
		change(d)
	}
	o.Facts = transcript.Everything()
	s := New([]*Dialect{d}, o)
	for _, c := range calls {
		if err := s.Call(c); err != nil {
			t.Fatal(err)
		}
	}
	return &s.Results()[0]
}

// A cell is one number of a worked example.
type cell struct {
	dialect string
	calls   []*transcript.Call
	change  func(*Dialect)
	// what is the key of a metric with a statistic, such as "itl mean", or the key
	// of a rate.
	what string
	want string // as printf prints it with verb
	verb string
}

// number returns what r says of what.
func number(t *testing.T, r *Result, what string) float64 {
	t.Helper()
	var key, stat string
	if n, _ := fmt.Sscan(what, &key, &stat); n == 1 {
		v, ok := r.Rate(key)
		if !ok || v.Need != "" {
			t.Fatalf("%s has no rate %s: %v", r.Dialect.Name, key, v)
		}
		return v.Value
	}
	v, ok := r.Key(key)
	if !ok || v.Need != "" || !v.OK {
		t.Fatalf("%s has no %s: %+v", r.Dialect.Name, key, v)
	}
	unit := v.Metric.Unit
	switch stat {
	case "mean":
		return unit.Of(v.Mean)
	case "std":
		return unit.Of(v.Deviation)
	case "n":
		return float64(v.Calls)
	}
	for _, q := range v.Quantiles {
		if q.P.String() == stat {
			if q.Unbounded {
				return math.Inf(1)
			}
			return unit.Of(q.Value)
		}
	}
	t.Fatalf("%s %s: no statistic %s", r.Dialect.Name, key, stat)
	return 0
}

// check holds every cell against what its dialect computes.
func check(t *testing.T, cells []cell) {
	ps, err := analysis.ParsePercentiles("50,90,99,99.9")
	if err != nil {
		t.Fatal(err)
	}
	for _, c := range cells {
		t.Run(c.dialect+" "+c.what+" "+c.want, func(t *testing.T) {
			r := measured(t, c.dialect, c.calls, Options{Percentiles: ps}, c.change)
			if got := fmt.Sprintf(c.verb, number(t, r, c.what)); got != c.want {
				t.Errorf("%s, want %s", got, c.want)
			}
		})
	}
}

// chunksBesides adds empty chunks to a call: k of the kinds role, finish.
func chunksBesides(c *transcript.Call, k int) []*transcript.Call {
	role := transcript.Chunk{At: c.Chunks[0].At, Kind: transcript.Role}
	c.Chunks = append([]transcript.Chunk{role}, c.Chunks...)
	if k == 2 {
		c.Chunks = append(c.Chunks, transcript.Chunk{At: c.Closed, Kind: transcript.Finish})
	}
	return []*transcript.Call{c}
}

// withoutBOS makes LLMPerf's tokenizer count as the engine does.
func withoutBOS(d *Dialect) {
	for i := range d.Metrics {
		d.Metrics[i].Count.Extra = 0
	}
	for i := range d.Rates {
		d.Rates[i].Count.Extra = 0
	}
}

// The worked example of one request: TTFT 500 ms, 100 tokens, 700 ms decode,
// one token a chunk. Every figure can be had on paper: 700/99 = 7.07,
// 1200/100 = 12, 100/1.2 = 83.33, 1000·99/700 = 141.43.
func TestOneRequest(t *testing.T) {
	calls := []*transcript.Call{one(1)}
	role, finish := chunksBesides(one(1), 1), chunksBesides(one(1), 2)
	check(t, []cell{
		{"vllm", calls, nil, "itl mean", "7.07", "%.2f"},
		{"vllm", calls, nil, "tpot mean", "7.07", "%.2f"},
		{"vllm", calls, nil, "e2el mean", "1200.00", "%.2f"},
		{"vllm", calls, nil, "output_throughput", "83.33", "%.2f"},
		{"vllm", calls, nil, "request_throughput", "0.833", "%.3f"},
		{"sglang", calls, nil, "itl mean", "7.07", "%.2f"},
		{"sglang", calls, nil, "tpot mean", "7.07", "%.2f"},
		{"sglang", calls, nil, "e2e_latency mean", "1200.00", "%.2f"},
		{"sglang", calls, nil, "output_throughput", "83.33", "%.2f"},
		{"sglang", calls, nil, "concurrency", "1.00", "%.2f"},
		{"genai-perf", calls, nil, "inter_token_latency mean", "7.070707", "%.6f"}, // 7,070,707 ns, no less and no more
		{"genai-perf", calls, nil, "request_latency mean", "1200.00", "%.2f"},
		{"genai-perf", calls, nil, "output_token_throughput_per_user mean", "141.43", "%.2f"},
		{"genai-perf", calls, nil, "output_token_throughput", "83.33", "%.2f"},
		{"aiperf", calls, nil, "inter_token_latency mean", "7.07", "%.2f"},
		{"aiperf", calls, nil, "inter_chunk_latency mean", "7.07", "%.2f"},
		{"aiperf", calls, nil, "request_latency mean", "1200.00", "%.2f"},
		{"aiperf", calls, nil, "output_token_throughput_per_user mean", "141.43", "%.2f"},
		{"aiperf", calls, nil, "e2e_output_token_throughput mean", "83.33", "%.2f"},
		{"aiperf", calls, nil, "output_token_throughput", "83.33", "%.2f"},
		{"llmperf", calls, nil, "inter_token_latency_s mean", "0.01200", "%.5f"},
		{"llmperf", role, nil, "inter_token_latency_s mean", "0.01188", "%.5f"},
		{"llmperf", finish, nil, "inter_token_latency_s mean", "0.01176", "%.5f"},
		{"llmperf", calls, nil, "end_to_end_latency_s mean", "1.200", "%.3f"},
		{"llmperf", calls, withoutBOS, "request_output_throughput_token_per_s mean", "83.33", "%.2f"},
		{"llmperf", calls, nil, "request_output_throughput_token_per_s mean", "84.17", "%.2f"},
		{"llmperf", calls, withoutBOS, "mean_output_throughput_token_per_s", "83.33", "%.2f"},
		{"llmperf", calls, nil, "mean_output_throughput_token_per_s", "84.17", "%.2f"},
		{"guidellm", calls, nil, "inter_token_latency_ms mean", "7.07", "%.2f"},
		{"guidellm", calls, nil, "time_per_output_token_ms mean", "12.00", "%.2f"},
		{"guidellm", calls, nil, "request_latency mean", "1.200", "%.3f"},
		{"guidellm", calls, nil, "request.output_tokens_per_second mean", "83.33", "%.2f"},
		{"guidellm", calls, nil, "output_tokens_per_second", "83.33", "%.2f"},
		{"inference-perf", calls, nil, "inter_token_latency mean", "0.00707", "%.5f"},
		{"inference-perf", calls, nil, "time_per_output_token mean", "0.00707", "%.5f"},
		{"inference-perf", calls, nil, "normalized_time_per_output_token mean", "0.0120", "%.4f"},
		{"inference-perf", calls, nil, "request_latency mean", "1.2", "%.1f"},
		{"inference-perf", calls, nil, "output_tokens_per_sec", "83.33", "%.2f"},
		{"mlperf", calls, nil, "result_time_per_output_token_ns mean", "7070707", "%.0f"},
		{"mlperf", calls, nil, "result_latency_ns mean", "1200000000", "%.0f"},
		{"mlperf", calls, nil, "result_completed_tokens_per_second", "83.33", "%.2f"},
		{"mlperf", calls, nil, "result_completed_samples_per_sec", "0", "%g"},
		{"mlperf-endpoints", calls, nil, "tpot mean", "7070707.07", "%.2f"},
		{"mlperf-endpoints", calls, nil, "latency mean", "1200000000", "%.0f"},
		{"mlperf-endpoints", calls, nil, "tps_per_user", "141.4", "%.1f"},
		{"mlperf-endpoints", calls, nil, "tps", "83.33", "%.2f"},
		{"nim", calls, nil, "itl mean", "7.07", "%.2f"},
		{"nim", calls, nil, "tpot mean", "7.07", "%.2f"},
		{"nim", calls, nil, "e2e_latency mean", "1200", "%.0f"},
		{"nim", calls, nil, "tps_per_user mean", "83.33", "%.2f"},
		{"nim", calls, nil, "tps", "83.33", "%.2f"},
		{"distserve", calls, nil, "tpot mean", "0.00707", "%.5f"},
		{"distserve", calls, nil, "latency mean", "1.2", "%.1f"},
	})
}

// SGLang's TPOT and E2E run to the line that ends the stream: 99 ms of tail are
// 1 ms a token.
func TestTailOfTheStream(t *testing.T) {
	c := one(1)
	c.Closed += sim.Time(99 * ms)
	c.Chunks = append(c.Chunks, transcript.Chunk{At: c.Closed, Kind: transcript.Done})
	calls := []*transcript.Call{c}
	check(t, []cell{
		{"sglang", calls, nil, "tpot mean", "8.07", "%.2f"},
		{"sglang", calls, nil, "e2e_latency mean", "1299", "%.0f"},
		{"vllm", calls, nil, "tpot mean", "7.07", "%.2f"},
		{"vllm", calls, nil, "e2el mean", "1200", "%.0f"},
		{"llmperf", calls, nil, "inter_token_latency_s mean", "0.0120", "%.4f"}, // which doesn't count the line
		{"llmperf", calls, nil, "end_to_end_latency_s mean", "1.299", "%.3f"},
	})
}

// The variant in which the same tokens come in 25 chunks of 4.
func TestChunksOfFour(t *testing.T) {
	calls := []*transcript.Call{one(4)}
	noUsage := one(4)
	noUsage.Output = transcript.Unknown
	unknown := []*transcript.Call{noUsage}
	perChunkUsage := func(d *Dialect) {
		for i := range d.Metrics {
			if d.Metrics[i].Key == "inter_token_latency" {
				d.Metrics[i].Over = TokensAfterFirst
			}
		}
	}
	check(t, []cell{
		{"vllm", calls, nil, "itl mean", "29.17", "%.2f"},
		{"vllm", calls, nil, "tpot mean", "7.07", "%.2f"},
		{"sglang", calls, nil, "itl mean", "7.29", "%.2f"},
		{"inference-perf", calls, nil, "inter_token_latency mean", "0.00707", "%.5f"},
		{"inference-perf", calls, nil, "inter_token_latency p50", "0", "%g"},
		{"llmperf", calls, nil, "inter_token_latency_s mean", "0.0480", "%.4f"},
		{"genai-perf", calls, nil, "inter_token_latency mean", "7.07", "%.2f"},
		{"aiperf", calls, nil, "inter_token_latency mean", "7.07", "%.2f"},
		{"aiperf", calls, perChunkUsage, "inter_token_latency mean", "7.29", "%.2f"},
		{"mlperf-endpoints", calls, nil, "tpot mean", "7291666.67", "%.2f"},
		{"guidellm", calls, nil, "time_per_output_token_ms mean", "12.00", "%.2f"},
		{"guidellm", calls, nil, "inter_token_latency_ms mean", "7.07", "%.2f"},
		{"guidellm", unknown, nil, "time_per_output_token_ms mean", "48.0", "%.1f"},
		{"guidellm", unknown, nil, "inter_token_latency_ms mean", "29.17", "%.2f"},
	})
}

// The worked example of three requests, of which one has a single token and one
// fails.
func TestThreeRequests(t *testing.T) {
	calls := three()
	noRecord := func(d *Dialect) { d.Rates[0].Whose = Completed }
	ttft := func(name, key, verb string, mean, p50, p99 string) []cell {
		return []cell{
			{name, calls, nil, key + " mean", mean, verb},
			{name, calls, nil, key + " p50", p50, verb},
			{name, calls, nil, key + " p99", p99, verb},
		}
	}
	var cells []cell
	for _, rows := range [][]cell{
		ttft("vllm", "ttft", "%.0f", "400", "400", "498"),
		ttft("sglang", "ttft", "%.0f", "400", "400", "498"),
		ttft("genai-perf", "time_to_first_token", "%.0f", "400", "400", "498"),
		ttft("aiperf", "time_to_first_token", "%.0f", "400", "400", "498"),
		ttft("llmperf", "ttft_s", "%.3f", "0.400", "0.400", "0.498"),
		ttft("guidellm", "time_to_first_token_ms", "%.0f", "400", "300", "500"),
		ttft("inference-perf", "time_to_first_token", "%.1f", "0.5", "0.5", "0.5"),
		ttft("mlperf", "result_first_token_latency_ns", "%.0f", "400000000", "500000000", "500000000"),
		ttft("mlperf-endpoints", "ttft", "%.0f", "400000000", "300000000", "500000000"),
	} {
		cells = append(cells, rows...)
	}
	check(t, append(cells, []cell{
		{"vllm", calls, nil, "ttft n", "2", "%.0f"},
		{"vllm", calls, nil, "request_throughput", "0.909", "%.3f"},
		{"vllm", calls, nil, "output_throughput", "45.91", "%.2f"},
		{"vllm", calls, nil, "total_token_throughput", "182.27", "%.2f"},
		{"vllm", calls, nil, "tpot mean", "7.07", "%.2f"},
		{"vllm", calls, nil, "tpot n", "1", "%.0f"},
		{"sglang", calls, nil, "ttft n", "2", "%.0f"},
		{"sglang", calls, nil, "request_throughput", "0.909", "%.3f"},
		{"sglang", calls, nil, "output_throughput", "45.91", "%.2f"},
		{"sglang", calls, nil, "total_throughput", "182.27", "%.2f"},
		{"sglang", calls, nil, "tpot mean", "7.07", "%.2f"},
		{"sglang", calls, nil, "concurrency", "0.682", "%.3f"},
		{"genai-perf", calls, nil, "request_latency n", "2", "%.0f"}, // its request_count
		{"genai-perf", calls, nil, "request_throughput", "2.50", "%.2f"},
		{"genai-perf", calls, noRecord, "request_throughput", "1.67", "%.2f"},
		{"genai-perf", calls, nil, "output_token_throughput", "84.17", "%.2f"},
		{"genai-perf", calls, nil, "inter_token_latency mean", "7.07", "%.2f"},
		{"aiperf", calls, nil, "request_latency n", "2", "%.0f"},
		{"aiperf", calls, nil, "request_throughput", "1.667", "%.3f"},
		{"aiperf", calls, nil, "output_token_throughput", "84.17", "%.2f"},
		{"aiperf", calls, nil, "total_token_throughput", "334.17", "%.2f"},
		{"aiperf", calls, nil, "adj_time_to_first_token p50", "500", "%.0f"},
		{"aiperf", calls, nil, "adj_time_to_first_token p90", "+Inf", "%.0f"},
		{"aiperf", calls, nil, "inter_token_latency mean", "7.07", "%.2f"},
		{"llmperf", calls, nil, "ttft_s n", "2", "%.0f"},
		{"llmperf", calls, nil, "num_completed_requests_per_min", "54.55", "%.2f"},
		{"llmperf", calls, withoutBOS, "mean_output_throughput_token_per_s", "45.91", "%.2f"},
		{"llmperf", calls, nil, "mean_output_throughput_token_per_s", "46.82", "%.2f"},
		{"llmperf", calls, nil, "ttft_s std", "0.1414", "%.4f"},
		{"llmperf", calls, nil, "inter_token_latency_s mean", "0.156", "%.3f"},
		{"guidellm", calls, nil, "request_latency n", "2", "%.0f"},
		{"guidellm", calls, nil, "requests_per_second", "0.909", "%.3f"},
		{"guidellm", calls, nil, "output_tokens_per_second", "45.91", "%.2f"},
		{"guidellm", calls, nil, "tokens_per_second", "182.27", "%.2f"},
		{"guidellm", calls, nil, "time_per_output_token_ms mean", "14.85", "%.2f"},
		{"guidellm", calls, nil, "time_per_output_token_ms p50", "12", "%.0f"},
		{"guidellm", calls, nil, "time_per_output_token_ms p99", "12", "%.0f"},
		{"guidellm", calls, nil, "time_per_output_token_ms p99.9", "300", "%.0f"},
		{"guidellm", calls, nil, "inter_token_latency_ms mean", "7.07", "%.2f"},
		{"inference-perf", calls, nil, "request_latency n", "2", "%.0f"},
		{"inference-perf", calls, nil, "time_to_first_token n", "1", "%.0f"},
		{"inference-perf", calls, nil, "requests_per_sec", "0.909", "%.3f"},
		{"inference-perf", calls, nil, "output_tokens_per_sec", "45.91", "%.2f"},
		{"inference-perf", calls, nil, "total_tokens_per_sec", "182.27", "%.2f"},
		{"inference-perf", calls, nil, "time_per_output_token mean", "0.00707", "%.5f"},
		{"inference-perf", calls, nil, "normalized_time_per_output_token mean", "0.156", "%.3f"},
		{"mlperf-endpoints", calls, nil, "latency n", "2", "%.0f"},
		{"mlperf-endpoints", calls, nil, "qps", "0.909", "%.3f"},
		{"mlperf-endpoints", calls, nil, "tps", "45.91", "%.2f"},
		{"mlperf-endpoints", calls, nil, "tpot mean", "7070707.07", "%.2f"},
		{"mlperf-endpoints", calls, nil, "tpot n", "1", "%.0f"},
		{"distserve", calls, nil, "tpot mean", "0.00354", "%.5f"}, // (7.07 + 0)/2
		{"blis", calls, nil, "responses_per_sec", "0.909", "%.3f"},
		{"blis", calls, nil, "tokens_per_sec", "45.91", "%.2f"},
		{"blis", calls, nil, "itl_ms p99", "7.00", "%.2f"}, // between 0 and 7.07
	}...))
	if r := measured(t, "mlperf", calls, Options{}, nil); r.Invalid == "" {
		t.Error("a sample of one token leaves an MLPerf run valid")
	}
}
