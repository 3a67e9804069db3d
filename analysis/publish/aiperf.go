package publish

import (
	"bufio"
	"slices"
	"strconv"

	"servesim/analysis"
	"servesim/analysis/dialect"
	"servesim/analysis/transcript"
	"servesim/sim"
	"servesim/sim/observe"
)

// aiperf writes what AIPerf leaves in its folder: a line for each request as it ends
// (ai-dynamo/aiperf MetricRecordInfo in src/aiperf/common/models), and the summary
// as JSON and as CSV (src/aiperf/exporters/metrics_json_exporter.py and metrics_csv_exporter.py).
type aiperf struct {
	e                *Export
	lines            *bufio.Writer
	summary, table   *bufio.Writer
	figures          *dialect.Sink
	prompts, outputs lengths
	failed           []failures
	names            map[string]bool
	began, ended     sim.Time
	at               []sim.Time
	buf              []byte
}

// failures counts the requests that failed for one reason.
type failures struct {
	details string // as JSON
	n       int64
}

// aiperfLacks says what is missing for the lines.
func aiperfLacks(f transcript.Facts) string {
	switch {
	case !f.Clock:
		return "it needs when calls were sent, which the source doesn't have"
	case !f.Prompts || !f.Outputs:
		return "it needs the numbers of tokens, which the source doesn't have"
	}
	return ""
}

// aiperfPercentiles are those of AIPerf's summary.
const aiperfPercentiles = "1,5,10,25,50,75,90,95,99"

// aiperfNames are what AIPerf calls the three files.
func aiperfNames() []string {
	return []string{"profile_export.jsonl", "profile_export_aiperf.json", "profile_export_aiperf.csv"}
}

// beginAIPerf begins the three files.
func beginAIPerf(e *Export) error {
	d, err := dialect.Find("aiperf")
	if err != nil {
		return err
	}
	a := &aiperf{e: e, names: map[string]bool{}, began: transcript.Never}
	for i, out := range []**bufio.Writer{&a.lines, &a.summary, &a.table} {
		if *out, err = e.create(aiperfNames()[i]); err != nil {
			return err
		}
	}
	a.figures = dialect.New([]*dialect.Dialect{d}, dialect.Options{Facts: e.run.Facts, Goodput: e.run.Goodput, Percentiles: percentiles(aiperfPercentiles)})
	e.Calls, e.finish = a, a.finish
	return nil
}

// Call implements transcript.Sink.
func (a *aiperf) Call(c *transcript.Call) error {
	if err := a.figures.Call(c); err != nil {
		return err
	}
	a.at = instants(c, (*transcript.Chunk).Text, a.at)
	end := c.Closed
	if end == transcript.Never {
		end = c.Sent
	}
	if n := len(a.at); n > 0 {
		end = max(end, a.at[n-1])
	}
	if a.began == transcript.Never || c.Sent < a.began {
		a.began = c.Sent
	}
	a.ended = max(a.ended, end)
	o := &object{b: append(a.buf[:0], '{')}
	o.raw("metadata", "{")
	a.metadata(o, c, end)
	o.raw("metrics", "{")
	why := ""
	if c.Outcome == observe.Completed && (len(a.at) > 0 || !a.e.run.Facts.First) {
		a.metrics(o, c, end)
		a.prompts.add(c.Prompt)
		a.outputs.add(c.Output)
	} else {
		why = details(c)
		a.fail(why)
		if c.Prompt >= 0 {
			m := &object{b: o.b}
			m.metric("error_isl", "tokens", strconv.AppendInt(nil, int64(c.Prompt), 10))
			o.b = m.b
		}
	}
	o.b = append(o.b, '}')
	if why == "" {
		why = "null"
	}
	o.raw("error", why)
	a.buf = append(o.b, '}', '\n')
	_, err := a.lines.Write(a.buf)
	return err
}

// metadata writes when a request was made. AIPerf's clock has nanoseconds: what is
// below one is in a key of servesim's own, which AIPerf's models keep apart.
func (a *aiperf) metadata(of *object, c *transcript.Call, end sim.Time) {
	run := a.e.run
	o := &object{b: of.b}
	o.integer("session_num", c.ID)
	o.text("x_request_id", a.name(c))
	if c.Session != "" {
		o.text("x_correlation_id", c.Session)
		o.text("conversation_id", c.Session)
		o.integer("turn_index", int64(c.Turn))
	}
	start, below := run.since(c.Sent)
	if run.Facts.Schedule {
		issued := start
		if c.Scheduled != c.Sent {
			issued, _ = run.since(c.Scheduled)
		}
		o.integer("credit_issued_ns", issued)
	}
	o.integer("request_start_ns", start)
	ended, part := run.since(end)
	if part > 0 {
		ended++
	}
	o.integer("request_end_ns", ended)
	o.text("worker_id", "worker_servesim")
	o.text("record_processor_id", "record_processor_servesim")
	o.text("benchmark_phase", "profiling")
	cancelled := c.Outcome == observe.Cancelled
	o.raw("was_cancelled", strconv.FormatBool(cancelled))
	if cancelled {
		o.integer("cancellation_time_ns", ended)
	} else {
		o.raw("cancellation_time_ns", "null")
	}
	if below > 0 {
		o.integer("servesim_start_ps", below)
	}
	of.b = append(o.b, '}')
}

// name returns the name of a call, which no other has: its number comes after one
// that another had before.
func (a *aiperf) name(c *transcript.Call) string {
	name := c.Name
	if name == "" {
		name = "request-" + strconv.FormatInt(c.ID, 10)
	}
	for a.names[name] {
		name += "#" + strconv.FormatInt(c.ID, 10)
	}
	a.names[name] = true
	return name
}

// metric writes a value with its unit.
func (o *object) metric(tag, unit string, value []byte) {
	o.key(tag)
	o.b = append(o.b, `{"value":`...)
	o.b = append(o.b, value...)
	o.b = append(o.b, `,"unit":`...)
	o.b = append(appendText(o.b, unit), '}')
}

// metrics writes those of an answer.
func (a *aiperf) metrics(of *object, c *transcript.Call, end sim.Time) {
	o := &object{b: of.b}
	ms := func(tag string, d sim.Duration) { o.metric(tag, "ms", appendTime(nil, d, inMilliseconds)) }
	tokens := func(tag string, n int32) { o.metric(tag, "tokens", strconv.AppendInt(nil, int64(n), 10)) }
	whole := end.Sub(c.Sent)
	if c.Prompt >= 0 {
		tokens("input_sequence_length", c.Prompt)
	}
	streamed := len(a.at) > 0
	var first sim.Duration
	if n := len(a.at); streamed {
		first, whole = a.at[0].Sub(c.Sent), a.at[n-1].Sub(c.Sent)
		ms("time_to_first_token", first)
		if i := slices.IndexFunc(c.Chunks, visible); i >= 0 && c.Chunks[i].At > a.at[0] {
			ms("time_to_first_output_token", c.Chunks[i].At.Sub(c.Sent))
		}
		if n > 1 && a.e.run.Facts.Gaps {
			ms("time_to_second_token", a.at[1].Sub(a.at[0]))
		}
	}
	ms("request_latency", whole)
	if len(a.at) > 1 && a.e.run.Facts.Gaps {
		o.metric("inter_chunk_latency", "ms", gapsOf(a.at))
	}
	if c.Output >= 0 {
		tokens("output_token_count", c.Output)
		tokens("output_sequence_length", c.Output)
	}
	if c.Cached >= 0 && a.e.run.Facts.Cached {
		tokens("usage_prompt_cache_read_tokens", c.Cached)
	}
	if c.Output >= 2 && streamed {
		each := (whole - first).Milliseconds() / float64(c.Output-1)
		o.metric("inter_token_latency", "ms", appendFloat(nil, each))
		if each > 0 {
			o.metric("output_token_throughput_per_user", "tokens/sec/user", appendFloat(nil, 1000/each))
		}
	}
	of.b = o.b
}

// visible tells whether a chunk has text of the answer proper.
func visible(k transcript.Chunk) bool { return k.Text() && k.Kind != transcript.Reasoning }

// gapsOf lists the gaps between instants, in ms.
func gapsOf(at []sim.Time) []byte {
	b := []byte{'['}
	for i := 1; i < len(at); i++ {
		if i > 1 {
			b = append(b, ',')
		}
		b = appendTime(b, at[i].Sub(at[i-1]), inMilliseconds)
	}
	return append(b, ']')
}

// details says why a request failed, as AIPerf's ErrorDetails.
func details(c *transcript.Call) string {
	o := &object{b: []byte{'{'}}
	kind, why := "", c.Error
	switch c.Outcome {
	case observe.Cancelled:
		o.integer("code", 499)
		kind = "RequestCancellationError"
	case observe.TimedOut:
		kind = "TimeoutError"
	case observe.Rejected:
		kind = "RequestRejected"
	case observe.Unfinished:
		kind = "RequestUnfinished"
	case observe.ReplicaFailed:
		kind = "ServerDisconnectedError"
	default:
		kind, why = "InvalidInferenceResultError", "no text was received"
	}
	if why == "" {
		why = c.Outcome.String()
	}
	o.text("type", kind)
	o.text("message", why)
	return string(append(o.b, '}'))
}

// fail counts a failure. There are a few kinds; what comes after many is one.
func (a *aiperf) fail(why string) {
	const most = 100
	if i := slices.IndexFunc(a.failed, func(f failures) bool { return f.details == why }); i >= 0 {
		a.failed[i].n++
		return
	}
	if len(a.failed) == most {
		why = `{"type":"Other","message":"other errors"}`
		if a.failed[most-1].details == why {
			a.failed[most-1].n++
			return
		}
		a.failed[most-1].details = why // together with the last one of its own
	}
	if len(a.failed) < most {
		a.failed = append(a.failed, failures{why, 1})
	} else {
		a.failed[most-1].n++
	}
}

// lengths collects numbers of tokens.
type lengths struct {
	sample analysis.Sample
	n, sum int64
	square float64
}

// perToken is what a token is in the sample of lengths, so that percentiles
// between two numbers have digits.
const perToken = sim.Millisecond

// add takes n, if it is known.
func (l *lengths) add(n int32) {
	if n < 0 {
		return
	}
	l.sample.Add(sim.Duration(n) * perToken)
	l.n++
	l.sum += int64(n)
	l.square += float64(float64(n) * float64(n))
}
