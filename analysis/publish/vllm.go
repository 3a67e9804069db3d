package publish

import (
	"bufio"
	"slices"
	"strconv"
	"time"

	"servesim/analysis"
	"servesim/analysis/dialect"
	"servesim/analysis/transcript"
	"servesim/sim"
)

// vllm writes the result of `vllm bench serve` (vllm-project/vllm
// vllm/benchmarks/serve.py, benchmark and main_async): one object whose lists have
// an element for each request, in the order in which they were sent.
type vllm struct {
	e        *Export
	out      *bufio.Writer
	detailed bool
	calls    ledger
	figures  *dialect.Sink
	at       []sim.Time
	packed   []byte
	prompts  int64
}

// vllmLacks says what is missing for the lists and the rates.
func vllmLacks(f transcript.Facts) string {
	switch {
	case !f.First || !f.Gaps:
		return "it needs the instant of each chunk, which the source doesn't have"
	case !f.Prompts || !f.Outputs:
		return "it needs the numbers of tokens, which the source doesn't have"
	case !f.Clock && f.Wall == 0:
		return "it needs when calls were sent, or how long the run took, which the source doesn't have"
	}
	return ""
}

// beginVLLM begins a result, with the lists of --save-detailed or without.
func beginVLLM(detailed bool) func(*Export) error {
	return func(e *Export) error {
		d, err := dialect.Find("vllm")
		if err != nil {
			return err
		}
		v := &vllm{e: e, detailed: detailed}
		if v.out, err = e.create(""); err != nil {
			return err
		}
		v.figures = dialect.New([]*dialect.Dialect{d}, dialect.Options{Facts: e.run.Facts, Goodput: e.run.Goodput, Percentiles: withMedian(v.asked())})
		e.Calls, e.finish = v, v.finish
		return nil
	}
}

// asked are the percentiles that are written, vLLM's default if none were asked for.
func (v *vllm) asked() []analysis.Percentile {
	if asked := v.e.run.Percentiles; len(asked) > 0 {
		return asked
	}
	return percentiles("99")
}

// percentiles are those of a list that is one.
func percentiles(list string) []analysis.Percentile {
	ps, _ := analysis.ParsePercentiles(list) // which a test has read
	return ps
}

// Call implements transcript.Sink.
func (v *vllm) Call(c *transcript.Call) error {
	if err := v.figures.Call(c); err != nil {
		return err
	}
	v.at = instants(c, (*transcript.Chunk).Choice, v.at)
	r := row{id: c.ID, sent: c.Sent, lag: c.Sent.Sub(c.Scheduled), prompt: max(c.Prompt, 0), chunks: int32(len(v.at)), failed: failure(c)}
	if r.failed == "" && len(v.at) == 0 {
		r.failed = "Never received a valid chunk to calculate TTFT. This response will be marked as failed!"
	}
	if len(v.at) > 0 {
		r.first = v.at[0].Sub(c.Sent)
	}
	if r.failed == "" {
		r.latency, r.output = v.at[len(v.at)-1].Sub(c.Sent), max(c.Output, 0)
		v.prompts += int64(r.prompt)
	}
	if v.detailed {
		v.packed = pack(v.at, v.packed)
		r.gaps = slices.Clone(v.packed)
	}
	v.calls.rows = append(v.calls.rows, r)
	return nil
}

// finish writes the object.
func (v *vllm) finish() error {
	v.calls.sort()
	o := &object{b: []byte{'{'}, sep: " ", col: " "}
	v.head(o)
	r := v.figures.Results()[0]
	v.totals(o, &r)
	if err := v.lists(o); err != nil {
		return err
	}
	for _, key := range []string{"max_output_tokens_per_s", "max_concurrent_requests"} {
		if x, ok := r.Rate(key); ok && x.Need == "" {
			if key == "max_concurrent_requests" {
				o.integer(key, int64(x.Value))
			} else {
				o.float(key, x.Value)
			}
		}
	}
	o.float("rtfx", 0)
	for i := range r.Values {
		distribution(o, &r.Values[i], v.asked())
	}
	_, err := v.out.Write(append(o.b, '}'))
	return err
}

// head writes what was asked for.
func (v *vllm) head(o *object) {
	run := v.e.run
	o.text("date", time.Unix(run.Begin.Sec, run.Begin.Ps/1000).UTC().Format("20060102-150405"))
	o.text("endpoint_type", backend)
	o.text("backend", backend)
	if run.Label == "" {
		o.raw("label", "null")
	} else {
		o.text("label", run.Label)
	}
	o.text("model_id", run.Model)
	o.text("tokenizer_id", run.Model)
	o.integer("num_prompts", int64(len(v.calls.rows)))
	if run.RequestRate > 0 {
		o.float("request_rate", run.RequestRate)
	} else {
		o.text("request_rate", "inf")
	}
	o.float("burstiness", run.Burstiness)
	o.raw("max_concurrency", "null")
}

// backend is what results call the system that was measured, so that nobody takes
// a simulated run for a measured one.
const backend = "servesim"

// totals writes the figures of the whole run.
func (v *vllm) totals(o *object, r *dialect.Result) {
	rate := func(key string) (x dialect.RateValue) {
		if got, ok := r.Rate(key); ok {
			x = *got
		}
		return x
	}
	requests, outputs := rate("request_throughput"), rate("output_throughput")
	o.key("duration")
	o.b = appendTime(o.b, requests.Span, inSeconds)
	o.integer("completed", int64(requests.Amount))
	o.integer("failed", r.Calls-int64(requests.Amount))
	o.integer("total_input_tokens", v.prompts)
	o.integer("total_output_tokens", int64(outputs.Amount))
	o.float("request_throughput", requests.Value)
	if g := r.Goodput; g != nil && g.Need == "" {
		o.float("request_goodput", g.PerSecond)
	} else {
		o.raw("request_goodput", "null")
	}
	o.float("output_throughput", outputs.Value)
	o.float("total_token_throughput", rate("total_token_throughput").Value)
}

// lists writes what there is of each request.
func (v *vllm) lists(o *object) error {
	span := func(b []byte, d sim.Duration) []byte { return appendTime(b, d, inSeconds) }
	clock := v.e.run.Facts.Clock
	for _, list := range []struct {
		key    string
		always bool // without --save-detailed too
		absent bool
		append func(b []byte, r *row) []byte
	}{
		{key: "input_lens", append: func(b []byte, r *row) []byte { return strconv.AppendInt(b, int64(r.prompt), 10) }},
		{key: "output_lens", append: func(b []byte, r *row) []byte { return strconv.AppendInt(b, int64(r.output), 10) }},
		{key: "ttfts", append: func(b []byte, r *row) []byte { return span(b, r.first) }},
		{key: "itls", append: appendGaps},
		{key: "latencies", always: true, append: func(b []byte, r *row) []byte { return span(b, r.latency) }},
		{key: "start_times", absent: !clock, append: func(b []byte, r *row) []byte { return span(b, sim.Duration(r.sent)) }},
		{key: "queue_times", always: true, absent: !clock, append: func(b []byte, r *row) []byte { return span(b, r.lag) }},
		{key: "generated_texts", append: func(b []byte, _ *row) []byte { return append(b, `""`...) }},
		{key: "errors", append: func(b []byte, r *row) []byte { return appendText(b, r.failed) }},
	} {
		if list.absent || !v.detailed && !list.always {
			continue
		}
		o.key(list.key)
		o.b = append(o.b, '[')
		for i := range v.calls.rows {
			if i > 0 {
				o.b = append(o.b, ',', ' ')
			}
			o.b = list.append(o.b, &v.calls.rows[i])
			if err := v.spill(o); err != nil {
				return err
			}
		}
		o.b = append(o.b, ']')
	}
	return nil
}

// appendGaps appends the gaps of a request.
func appendGaps(b []byte, r *row) []byte {
	b = append(b, '[')
	first := true
	unpack(r.gaps, func(d sim.Duration) {
		if !first {
			b = append(b, ',', ' ')
		}
		first = false
		b = appendTime(b, d, inSeconds)
	})
	return append(b, ']')
}

// spill writes what o has, if that is much.
func (v *vllm) spill(o *object) error {
	if len(o.b) < 1<<16 {
		return nil
	}
	_, err := v.out.Write(o.b)
	o.b = o.b[:0]
	return err
}

// distribution writes the mean, the median, the deviation and the percentiles of a
// metric, 0 where there is no value.
func distribution(o *object, v *dialect.Value, ps []analysis.Percentile) {
	name := v.Metric.Key
	put := func(what string, d sim.Duration) {
		o.key(what + "_" + name + "_ms")
		o.b = appendTime(o.b, d, inMilliseconds)
	}
	at := func(p analysis.Percentile) sim.Duration {
		i := slices.IndexFunc(v.Quantiles, func(q analysis.QuantileValue) bool { return q.P == p })
		if i < 0 {
			return 0
		}
		return v.Quantiles[i].Value
	}
	put("mean", v.Mean)
	put("median", at(percentiles("50")[0]))
	put("std", v.Deviation)
	for _, p := range ps {
		put("p"+strconv.FormatFloat(100*p.Fraction(), 'g', -1, 64), at(p))
	}
}

// withMedian returns ps and the median.
func withMedian(ps []analysis.Percentile) []analysis.Percentile {
	median := percentiles("50")
	if slices.Contains(ps, median[0]) {
		return ps
	}
	return append(median, ps...)
}
