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
	c, t, u := &r.Counts, &r.Tokens, &r.Unseen
	known := func(n int64, unseen bool) any {
		if unseen {
			return nil
		}
		return n
	}
	requests := object{{"total", c.Requests}}
	for _, o := range observe.Outcomes() {
		requests = append(requests, Member{o.String(), c.Of(o)})
	}
	reasons := []object{}
	for _, why := range c.Reasons {
		reasons = append(reasons, object{{"outcome", why.Outcome.String()}, {"reason", why.Reason}, {"count", why.Count}})
	}
	requests = append(requests, object{
		{"reasons", reasons}, {"cut_short", c.CutShort}, {"preempted", known(c.Preempted, u.Engine)}, {"preemptions", known(c.Preemptions, u.Engine)},
	}...)
	latency := object{}
	for _, m := range r.Metrics() {
		latency = append(latency, Member{m.Key, append(object{{"name", m.Name}, {"definition", m.Definition}}, distribution(m.Distribution)...)})
	}
	o := object{
		{"run", headerObject(&r.Header)},
		{"requests", requests},
		{"warm_up", warmUpObject(r.WarmUp)},
		{"start_ps", known(int64(r.Start), u.Clock)},
		{"span_ps", known(int64(r.Span), u.Clock)},
		{"tokens", object{
			{"prompt", known(t.Prompt, u.Prompts)}, {"output", t.Output}, {"output_unfinished", t.Unfinished},
			{"cached", known(t.Cached, u.Engine)}, {"begun", known(t.Begun, u.Engine)}, {"computed", known(t.Computed, u.Engine)}, {"recomputed", known(t.Recomputed, u.Engine)},
		}},
		{"throughput", throughputObject(&r.Throughput)},
		{"percentile_definition", "linear interpolation between the two nearest values (type 7), rounded to the nearest ps; the true value is within resolution_ps"},
		{"latency", latency},
		{"by_output_tokens", groupObjects(r, r.ByOutput)},
		{"by_class", groupObjects(r, r.ByClass)},
		{"mean_decode_ps", int64(r.MeanDecode)},
		{"mean_response_ps", known(int64(r.MeanResponse), u.Engine)},
		{"goodput", goodputObject(r.Goodput)},
		{"verdicts", verdictObjects(r.Verdicts)},
		{"engine", engineObject(&r.Engine)},
		{"saturation", saturationObject(&r.Saturation)},
		{"warnings", warningObjects(r.Warnings)},
	}
	if r.Drill != nil {
		o = append(o, Member{"drill", drillObject(r.Drill)})
	}
	return o
}

// warmUpObject is what figures leave out, nil without a warm-up.
func warmUpObject(w *analysis.WarmUp) any {
	if w == nil {
		return nil
	}
	return object{
		{"definition", "requests that arrived and runs of steps that began before from_ps; they are simulated and in no figure"},
		{"rule", w.Rule}, {"settled", !w.Unsettled}, {"from_ps", int64(w.From)}, {"requests", w.Requests}, {"steps", w.Steps},
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
		o := object{{"value_ps", int64(q.Value)}, {"resolution_ps", int64(q.Resolution)}}
		ps = append(ps, Member{q.P.String(), append(o, intervalMember("interval", &q.Interval)...)})
	}
	o := object{{"count", d.Count}, {"mean_ps", int64(d.Mean)}}
	o = append(o, intervalMember("mean_interval", &d.MeanInterval)...)
	return append(o, object{{"min_ps", int64(d.Min)}, {"max_ps", int64(d.Max)}, {"percentiles", ps}}...)
}

// groupObjects lists groups, whose latencies are defined as those of all are.
func groupObjects(r *analysis.Report, groups []analysis.Group) []object {
	out := []object{}
	for i := range groups {
		g := &groups[i]
		latency := object{}
		for _, m := range g.Metrics(r) {
			latency = append(latency, Member{m.Key, distribution(m.Distribution)})
		}
		o := object{{"name", g.Name}}
		if g.Rest {
			o = append(o, Member{"rest", true})
		}
		o = append(o, object{
			{"requests", g.Requests}, {"completed", g.Completed},
			{"prompt_tokens", g.PromptTokens}, {"output_tokens", g.OutputTokens},
		}...)
		if r.Goodput != nil {
			o = append(o, Member{"good", g.Good})
		}
		out = append(out, append(o, Member{"latency", latency}))
	}
	return out
}

// throughputObject is what the system, a GPU and a user get.
func throughputObject(t *analysis.Throughput) object {
	users := object{}
	for _, u := range t.PerUser {
		users = append(users, Member{u.P.String(), real(u.TokensPerSecond)})
	}
	o := object{
		{"definition", "completed requests and their tokens, over span_ps: from the first arrival to the last end"},
		{"requests_per_s", real(t.Requests)},
		{"output_tokens_per_s", real(t.OutputTokens)},
		{"tokens_per_s", real(t.TotalTokens)},
	}
	if t.GPUs > 0 {
		o = append(o, Member{"gpus", t.GPUs}, Member{"output_tokens_per_s_per_gpu", real(t.OutputPerGPU)})
	}
	return append(o, Member{"per_user", object{
		{"definition", "1 / TPOT at each percentile of TPOT: output tokens/s of an answer once it has begun, which that share of users got at least"},
		{"output_tokens_per_s", users},
	}})
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
		values := object{}
		for _, v := range w.Values {
			values = append(values, Member{v.Key, v.Value})
		}
		out = append(out, object{{"kind", string(w.Kind)}, {"text", w.Text}, {"values", values}})
	}
	return out
}
