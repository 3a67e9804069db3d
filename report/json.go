package report

import (
	"encoding/json"
	"fmt"
	"io"
	"math"

	"servesim/analysis"
	"servesim/sim/observe"
)

// Schema is the version of the JSON that JSON and CompareJSON write.
const Schema = 1

// Member is one more member of the top object of JSON, for what a Report does
// not know, such as how a trace was read. Value is anything encoding/json takes.
type Member struct {
	Key   string
	Value any
}

// JSON writes r for programs, without loss: spans are integers of picoseconds in
// keys that end with "_ps", a number that has no data is null, and every latency
// carries its definition. Members of more follow, in order. The errors are those of w and of more.
func JSON(w io.Writer, r *analysis.Report, more ...Member) error {
	top := append([]Member{{"schema", Schema}, {"kind", "servesim-summary"}}, summaryMembers(r)...)
	return writeJSON(w, append(top, more...))
}

// writeJSON writes an object of members, indented.
func writeJSON(w io.Writer, top object) error {
	b, err := json.MarshalIndent(top, "", "  ")
	if err != nil {
		return fmt.Errorf("write JSON: %w", err)
	}
	_, err = w.Write(append(b, '\n'))
	return err
}

// object is a JSON object whose members keep their order.
type object []Member

// MarshalJSON implements json.Marshaler.
func (o object) MarshalJSON() ([]byte, error) {
	b := []byte{'{'}
	for i, m := range o {
		key, err := json.Marshal(m.Key)
		if err != nil {
			return nil, err
		}
		value, err := json.Marshal(m.Value)
		if err != nil {
			return nil, fmt.Errorf("%s: %w", m.Key, err)
		}
		if i > 0 {
			b = append(b, ',')
		}
		b = append(append(append(b, key...), ':'), value...)
	}
	return append(b, '}'), nil
}

// real is a number, or nil for no data.
func real(x float64) any {
	if math.IsNaN(x) || math.IsInf(x, 0) {
		return nil
	}
	return x
}

// summaryMembers is a report as members of an object.
func summaryMembers(r *analysis.Report) object {
	c, t := &r.Counts, &r.Tokens
	requests := object{{"total", c.Requests}}
	for _, o := range observe.Outcomes() {
		requests = append(requests, Member{o.String(), c.Of(o)})
	}
	reasons := []object{}
	for _, why := range c.Reasons {
		reasons = append(reasons, object{{"outcome", why.Outcome.String()}, {"reason", why.Reason}, {"count", why.Count}})
	}
	requests = append(requests, object{
		{"reasons", reasons}, {"cut_short", c.CutShort}, {"preempted", c.Preempted}, {"preemptions", c.Preemptions},
	}...)
	latency := object{}
	for _, m := range r.Metrics() {
		latency = append(latency, Member{m.Key, append(object{{"name", m.Name}, {"definition", m.Definition}}, distribution(m.Distribution)...)})
	}
	return object{
		{"run", headerObject(&r.Header)},
		{"requests", requests},
		{"start_ps", int64(r.Start)},
		{"span_ps", int64(r.Span)},
		{"tokens", object{
			{"prompt", t.Prompt}, {"output", t.Output}, {"output_unfinished", t.Unfinished},
			{"cached", t.Cached}, {"computed", t.Computed}, {"recomputed", t.Recomputed},
		}},
		{"throughput", object{
			{"definition", "completed requests and their tokens, over span_ps: from the first arrival to the last end"},
			{"requests_per_s", real(r.Throughput.Requests)},
			{"output_tokens_per_s", real(r.Throughput.OutputTokens)},
			{"tokens_per_s", real(r.Throughput.TotalTokens)},
		}},
		{"percentile_definition", "linear interpolation between the two nearest values (type 7), rounded to the nearest ps; the true value is within resolution_ps"},
		{"latency", latency},
		{"mean_decode_ps", int64(r.MeanDecode)},
		{"mean_response_ps", int64(r.MeanResponse)},
		{"goodput", goodputObject(r.Goodput)},
		{"engine", engineObject(&r.Engine)},
		{"warnings", warningObjects(r.Warnings)},
	}
}

// headerObject is what a run came from.
func headerObject(h *observe.Header) object {
	return object{
		{"version", h.Version}, {"seed", h.Seed}, {"scenario", h.Scenario},
		{"profile", h.Profile}, {"model", h.Model}, {"policy", h.Policy},
	}
}

// distribution is the numbers of a distribution; all but the count are null if
// there is no data.
func distribution(d *analysis.Distribution) object {
	if !d.OK {
		return object{{"count", d.Count}, {"mean_ps", nil}, {"min_ps", nil}, {"max_ps", nil}, {"percentiles", nil}}
	}
	ps := object{}
	for _, q := range d.Quantiles {
		ps = append(ps, Member{q.P.String(), object{{"value_ps", int64(q.Value)}, {"resolution_ps", int64(q.Resolution)}}})
	}
	return object{
		{"count", d.Count}, {"mean_ps", int64(d.Mean)}, {"min_ps", int64(d.Min)}, {"max_ps", int64(d.Max)}, {"percentiles", ps},
	}
}

// goodputObject is an attainment, or nil.
func goodputObject(a *analysis.Attainment) any {
	if a == nil {
		return nil
	}
	share, _ := a.Share()
	limits := []object{}
	for i, e := range a.Each {
		l := a.Limits[i]
		limits = append(limits, object{
			{"key", l.Objective.String()}, {"max_ps", int64(l.Max)},
			{"met", e.Met}, {"missed_only", e.MissedOnly}, {"binding", i == a.Binding},
		})
	}
	return object{
		{"definition", "completed requests that met every limit (<=), of all requests, failed ones included"},
		{"requests", a.Requests}, {"good", a.Good}, {"share", real(share)},
		{"requests_per_s", real(a.PerSecond)}, {"limits", limits},
	}
}

// engineObject is what the steps say, nil without steps.
func engineObject(e *analysis.Engine) any {
	if e.Steps == 0 {
		return nil
	}
	level := func(l analysis.Level) object { return object{{"mean", real(l.Mean)}, {"peak", l.Peak}} }
	var blocks any // null if it is not known
	if e.KVBlocks > 0 {
		blocks = e.KVBlocks
	}
	return object{
		{"definition", "levels are of one replica while it is busy, weighted by time"},
		{"replicas", e.Replicas}, {"steps", e.Steps}, {"busy_ps", int64(e.Busy)}, {"utilisation", real(e.Utilisation)},
		{"prefill_tokens", e.PrefillTokens}, {"decode_tokens", e.DecodeTokens},
		{"running", level(e.Running)}, {"waiting", level(e.Waiting)}, {"blocks_used", level(e.Blocks)}, {"kv_blocks", blocks},
	}
}

// warningObjects lists warnings.
func warningObjects(list []analysis.Warning) []object {
	out := []object{}
	for _, w := range list {
		out = append(out, object{{"kind", string(w.Kind)}, {"text", w.Text}})
	}
	return out
}
