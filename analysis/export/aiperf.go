package export

import (
	"fmt"
	"math"
	"strings"

	"servesim/analysis/transcript"
	"servesim/internal/exact"
	"servesim/internal/infile"
	"servesim/internal/jsonread"
	"servesim/sim"
	"servesim/sim/observe"
)

// aiperfFormat is AIPerf's records, a line a request (ai-dynamo/aiperf
// MetricRecordInfo in src/aiperf/common/models/record_export_models.py; v0.1 to
// v0.14 differ in which keys are left out if they are empty).
func aiperfFormat() format {
	return format{
		Format: Format{
			Name: "aiperf", Title: "AIPerf's profile_export.jsonl", Dialect: "aiperf",
			Keys: []string{"metadata", "metrics"},
		},
		lines: true,
		read:  readAIPerf,
	}
}

// aiperfRecord is a line of AIPerf's profile_export.jsonl.
type aiperfRecord struct {
	Metadata aiperfMetadata          `json:"metadata" need:"yes"`
	Metrics  map[string]aiperfMetric `json:"metrics"`
	Error    *aiperfError            `json:"error"`
}

// aiperfMetadata says when a request was made. The instants are those of a wall
// clock in ns; credit_issued_ns, since v0.3, is when the load's schedule let it go.
type aiperfMetadata struct {
	SessionNum       *count  `json:"session_num"`
	XRequestID       *string `json:"x_request_id"`
	XCorrelationID   *string `json:"x_correlation_id"`
	ConversationID   *string `json:"conversation_id"`
	TurnIndex        *count  `json:"turn_index"`
	CreditIssuedNs   *nanos  `json:"credit_issued_ns"`
	RequestStartNs   nanos   `json:"request_start_ns" need:"yes"`
	RequestAckNs     *nanos  `json:"request_ack_ns"`
	RequestEndNs     nanos   `json:"request_end_ns" need:"yes"`
	WorkerID         string  `json:"worker_id"`
	RecordProcessor  string  `json:"record_processor_id"`
	BenchmarkPhase   string  `json:"benchmark_phase"`
	WasCancelled     bool    `json:"was_cancelled"`
	CancellationTime *nanos  `json:"cancellation_time_ns"`
	// ServesimStartPs is what request_start_ns leaves out below a nanosecond, in
	// files that servesim wrote.
	ServesimStartPs count `json:"servesim_start_ps"`
}

// aiperfMetric is a value with its unit, or a list of values.
type aiperfMetric struct {
	Value aiperfValues `json:"value" need:"yes"`
	Unit  string       `json:"unit" need:"yes"`
}

// aiperfValues are the numbers of a metric, in units of a second that the metric's
// own unit is put in place of.
type aiperfValues []exact.Instant

// aiperfError says why a request failed.
type aiperfError struct {
	Code    *llmperfCode `json:"code"`
	Type    *string      `json:"type"`
	Message string       `json:"message"`
}

// ReadJSON implements jsonread.Value.
func (v *aiperfValues) ReadJSON(r *jsonread.Reader) {
	one := func(int) {
		text, ok := r.Number()
		if !ok {
			return
		}
		at, ok := exact.Seconds().Parse(text)
		if !ok {
			r.Fault(infile.Quote(text), "a number from 0 to 9e18", "a time below 0 is none")
			return
		}
		*v = append(*v, at)
	}
	if !r.IsArray() {
		one(0)
		return
	}
	*v = aiperfValues{}
	r.Array(one)
}

// span returns value i of m as a time.
func (m *aiperfMetric) span(i int) (sim.Duration, bool) {
	name := m.Unit
	if name == "sec" {
		name = "s"
	}
	u, ok := exact.UnitOf(name)
	if !ok {
		return 0, false
	}
	return m.Value[i].In(u).Since(exact.Instant{})
}

// tokens returns the value of m as a number of tokens.
func (m *aiperfMetric) tokens() (int32, bool) {
	if m.Unit != "tokens" || len(m.Value) != 1 || m.Value[0].Ps != 0 || m.Value[0].Sec > math.MaxInt32 {
		return 0, false
	}
	return int32(m.Value[0].Sec), true
}

func readAIPerf(p *pass) {
	plan := jsonread.NewPlan[aiperfRecord]()
	p.begin(&Run{
		Facts: transcript.Facts{Clock: true, Schedule: true, Failures: true},
		Notes: []string{"AIPerf's numbers of tokens are those of its own tokenizer, unless it was told to take the server's"},
	})
	for p.in.Next() {
		var v aiperfRecord
		if !plan.Read(p.in, &v) {
			continue
		}
		if v.Metadata.BenchmarkPhase == "warmup" {
			p.run.count("records of the warm-up, left out")
			continue
		}
		v.emit(p)
	}
}

// emit hands on a call.
func (v *aiperfRecord) emit(p *pass) {
	m := &v.Metadata
	f := &found{at: exact.Instant(m.RequestStartNs), gaps: true}
	f.call = transcript.Call{Prompt: transcript.Unknown, Output: transcript.Unknown, Wanted: transcript.Unknown, Cached: transcript.Unknown, Closed: transcript.Never}
	if m.XRequestID != nil {
		f.call.Name = *m.XRequestID
	}
	for _, id := range []*string{m.ConversationID, m.XCorrelationID} {
		if id != nil {
			f.call.Session = *id
		}
	}
	if m.TurnIndex != nil {
		f.call.Turn = int32(*m.TurnIndex)
	}
	whole, ok := exact.Instant(m.RequestEndNs).Since(f.at)
	if !ok {
		p.fault("metadata.request_end_ns", string(exact.Instant(m.RequestEndNs).Append(nil))+" s", "an instant at or after request_start_ns, "+string(f.at.Append(nil))+" s", "")
		return
	}
	if m.CreditIssuedNs == nil {
		p.run.Facts.Schedule = false
	} else if f.lag, ok = f.at.Since(exact.Instant(*m.CreditIssuedNs)); !ok {
		p.fault("metadata.credit_issued_ns", "an instant after the call was sent", "one at or before request_start_ns", "two clocks are mixed")
		return
	}
	if m.ServesimStartPs > 999 {
		p.fault("metadata.servesim_start_ps", fmt.Sprintf("%d ps", m.ServesimStartPs), "from 0 to 999 ps, what is below a nanosecond", "")
		return
	}
	f.at.Ps += int64(m.ServesimStartPs)
	if v.answered() {
		if !v.answer(p, f) {
			return
		}
		f.closed(whole)
	} else {
		v.fail(f)
		f.call.Closed = sim.Time(whole)
	}
	p.emit(f)
}

// answered tells whether the request got its answer.
func (v *aiperfRecord) answered() bool { return v.Error == nil && !v.Metadata.WasCancelled }

// fail makes of f a call that failed.
func (v *aiperfRecord) fail(f *found) {
	f.call.Outcome, f.call.Output, f.call.Error = observe.Rejected, 0, "cancelled"
	if v.Metadata.WasCancelled {
		f.call.Outcome = observe.Cancelled
	}
	if v.Error != nil {
		f.call.Error = lastLine(v.Error.Message)
		if v.Error.Type != nil && *v.Error.Type != "" {
			f.call.Error = *v.Error.Type + ": " + f.call.Error
		}
	}
	if isl, ok := v.Metrics["error_isl"]; ok {
		if n, ok := isl.tokens(); ok {
			f.call.Prompt = n
		}
	}
}

// answer makes of f a call that was answered; false after a fault.
func (v *aiperfRecord) answer(p *pass, f *found) bool {
	before := p.faults.Len()
	f.call.Prompt, f.call.Output = v.tokens(p, "input_sequence_length"), v.tokens(p, "output_sequence_length")
	if f.call.Output == transcript.Unknown {
		f.call.Output = v.tokens(p, "output_token_count")
	}
	f.call.Cached = v.tokens(p, "usage_prompt_cache_read_tokens")
	latency, ok := v.time(p, "request_latency")
	if !ok {
		if p.faults.Len() == before {
			p.fault("metrics", "no request_latency", "it, in a record without an error", "")
		}
		return false
	}
	first, streamed := v.time(p, "time_to_first_token")
	if !streamed {
		first, streamed = v.time(p, "ttft") // its name in early versions
	}
	gaps, listed := v.gaps(p)
	switch {
	case p.faults.Len() != before:
		return false
	case streamed && listed:
		f.stream(first, gaps)
		sum := first + sumOf(gaps)
		if parts(p, "metrics.request_latency", latency, sum, "time_to_first_token and inter_chunk_latency together") && latency > sum+tolerance(sum) {
			p.fault("metrics.inter_chunk_latency", "gaps that sum with time_to_first_token to "+seconds(sum), "request_latency, "+seconds(latency), "gaps are missing, or in another unit")
		}
	case streamed && latency <= first+tolerance(first):
		parts(p, "metrics.request_latency", latency, first, "time_to_first_token")
		f.stream(first, nil)
		f.call.Chunks[0].Tokens = f.call.Output
	case streamed:
		parts(p, "metrics.request_latency", latency, first, "time_to_first_token")
		f.twoEnds(first, latency)
	default:
		f.call.Closed, f.gaps = sim.Time(latency), false
		p.run.count("answers that were not streamed, whose tokens came when they ended")
	}
	if visible, ok := v.time(p, "time_to_first_output_token"); ok {
		f.reasonedUntil(visible)
	}
	return p.faults.Len() == before
}

// reasonedUntil marks the chunks before visible, when the answer proper began, as
// reasoning.
func (f *found) reasonedUntil(visible sim.Duration) {
	for i := range f.call.Chunks {
		if k := &f.call.Chunks[i]; k.At < sim.Time(visible-tolerance(visible)) {
			k.Kind = transcript.Reasoning
		}
	}
}

// tokens returns the number of tokens of a metric, Unknown if there is none.
func (v *aiperfRecord) tokens(p *pass, name string) int32 {
	m, ok := v.Metrics[name]
	if !ok {
		return transcript.Unknown
	}
	n, ok := m.tokens()
	if !ok {
		p.fault("metrics."+name, "a value in "+strings.ToValidUTF8(m.Unit, "?"), "a whole number of tokens", "")
	}
	return n
}

// time returns the time of a metric; ok is false if there is none.
func (v *aiperfRecord) time(p *pass, name string) (d sim.Duration, ok bool) {
	m, ok := v.Metrics[name]
	if !ok {
		return 0, false
	}
	if len(m.Value) != 1 {
		p.fault("metrics."+name, fmt.Sprintf("%d values", len(m.Value)), "one", "")
		return 0, false
	}
	if d, ok = m.span(0); !ok {
		p.fault("metrics."+name+".unit", infile.Quote([]byte(m.Unit)), "a unit of time: ns, us, ms or sec", "")
	}
	return d, ok
}

// gaps returns the gaps between chunks; listed is false if the record has none.
func (v *aiperfRecord) gaps(p *pass) (gaps []span, listed bool) {
	m, ok := v.Metrics["inter_chunk_latency"]
	if !ok {
		return nil, false
	}
	for i := range m.Value {
		d, ok := m.span(i)
		if !ok {
			p.fault("metrics.inter_chunk_latency.unit", infile.Quote([]byte(m.Unit)), "a unit of time: ns, us, ms or sec", "")
			return nil, false
		}
		gaps = append(gaps, span(d))
	}
	return gaps, true
}
