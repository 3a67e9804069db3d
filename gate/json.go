package gate

import (
	"encoding/json"
	"io"
	"math"

	"servesim/analysis"
	"servesim/scenario"
)

// jsonSchema is the version of what JSON writes.
const jsonSchema = 1

// JSON writes o for programs: what Text has, exactly. What isn't known is null.
func (o *Outcome) JSON(w io.Writer) error {
	g := o.Gate
	out := outcomeJSON{
		Schema: jsonSchema, Kind: "servesim-gate", Version: scenario.Version(), File: g.File, Name: g.Name, Class: g.Class.Name,
		Target: g.Class.Target.Fraction(), Limits: g.SLO.Goodput.String(), LimitsFrom: g.From,
		Dialect: dialectJSON{g.Dialect.Name, g.Dialect.Tool, g.Version, g.Dialect.Version},
		Verdict: string(o.Verdict), Measured: o.Measured, Next: o.Advice,
		Notes: append([]string{}, g.Notes...), Cautions: append([]string{}, o.Cautions...),
		Fall: fallJSON{o.Fall.Points, known(o.Fall.Known, o.Fall.Lo), known(o.Fall.Known, o.Fall.Hi), LargestFall, o.Fall.Flagged},
	}
	if !o.Measured {
		out.Simulated = &simulatedJSON{Scenario: g.plan.Text(), Seeds: [2]uint64{g.seed, g.seed + uint64(g.Runs) - 1}, Window: known(g.width > 0, g.width.Seconds())}
	}
	for i := range o.Checks {
		c := &o.Checks[i]
		out.Checks = append(out.Checks, checkJSON{
			c.Name, string(c.Judgement), c.Unit, known(true, c.Value), known(c.Known, c.Lo), known(c.Known, c.Hi), c.Count, c.Failed,
		})
	}
	for i := range o.Rows {
		out.Loads = append(out.Loads, o.Rows[i].json(g))
	}
	to := json.NewEncoder(w)
	to.SetIndent("", "  ")
	to.SetEscapeHTML(false)
	return to.Encode(out)
}

// known returns x, nil if it isn't known or no number.
func known(ok bool, x float64) *float64 {
	if !ok || math.IsNaN(x) || math.IsInf(x, 0) {
		return nil
	}
	return &x
}

// The form of JSON.
type (
	outcomeJSON struct {
		Schema     int         `json:"schema"`
		Kind       string      `json:"kind"`
		Version    string      `json:"version"`
		File       string      `json:"file"`
		Name       string      `json:"name"`
		Class      string      `json:"class"`
		Target     float64     `json:"goodput_target"`
		Limits     string      `json:"limits"`
		LimitsFrom string      `json:"limits_from"`
		Dialect    dialectJSON `json:"dialect"`
		Verdict    string      `json:"verdict"`
		Measured   bool        `json:"measured"`
		// Simulated is null of measured runs.
		Simulated *simulatedJSON `json:"simulated"`
		Checks    []checkJSON    `json:"checks"`
		Fall      fallJSON       `json:"fall"`
		Loads     []loadJSON     `json:"loads"`
		Notes     []string       `json:"notes"`
		Cautions  []string       `json:"cautions"`
		Next      string         `json:"measure_next"`
	}
	// The scenario is that at the target; a window is of a trace.
	simulatedJSON struct {
		Scenario string    `json:"scenario_toml"`
		Seeds    [2]uint64 `json:"seeds"`
		Window   *float64  `json:"window_s"`
	}
	dialectJSON struct {
		Name    string `json:"name"`
		Tool    string `json:"tool"`
		Version string `json:"version"`
		Rules   string `json:"rules_of"`
	}
	checkJSON struct {
		Limit   string   `json:"limit"`
		Verdict string   `json:"verdict"`
		Unit    string   `json:"unit"`
		Value   *float64 `json:"value"`
		Lo      *float64 `json:"lo"`
		Hi      *float64 `json:"hi"`
		Count   int64    `json:"count"`
		Failed  int64    `json:"failed"`
	}
	fallJSON struct {
		Points  float64  `json:"points"`
		Lo      *float64 `json:"lo"`
		Hi      *float64 `json:"hi"`
		Most    int      `json:"most"`
		Flagged bool     `json:"flagged"`
	}
	loadJSON struct {
		Name        string       `json:"name"`
		Share       float64      `json:"percent_of_target"`
		Rate        *float64     `json:"rate_per_s"`
		Users       *int64       `json:"concurrency"`
		Runs        int          `json:"runs"`
		Requests    int64        `json:"requests"`
		Goodput     float64      `json:"goodput"`
		Lo          *float64     `json:"goodput_lo"`
		Hi          *float64     `json:"goodput_hi"`
		OfRuns      []float64    `json:"goodput_of_runs"`
		Tool        *float64     `json:"goodput_by_dialect"`
		PerSecond   *float64     `json:"requests_per_s"`
		TokensPerS  *float64     `json:"output_tokens_per_s"`
		QueueShare  *float64     `json:"queue_share_of_ttft"`
		Overloaded  int          `json:"runs_overloaded"`
		Limits      []limitJSON  `json:"limits"`
		Latency     []metricJSON `json:"latency"`
		DialectSays []metricJSON `json:"dialect"`
	}
	limitJSON struct {
		Limit      string `json:"limit"`
		Requests   int64  `json:"requests"`
		Met        int64  `json:"met"`
		MissedOnly int64  `json:"missed_only"`
		Binding    bool   `json:"binding"`
	}
	metricJSON struct {
		Key    string      `json:"key"`
		Name   string      `json:"name"`
		Unit   string      `json:"unit"`
		Needs  string      `json:"needs,omitempty"`
		Values []valueJSON `json:"percentiles"`
	}
	valueJSON struct {
		P     string   `json:"p"`
		Value *float64 `json:"value"`
		Lo    *float64 `json:"lo"`
		Hi    *float64 `json:"hi"`
	}
)

// json returns r as JSON has it.
func (r *Row) json(g *Gate) loadJSON {
	s := &r.Pool.ShareInterval
	out := loadJSON{
		Name: r.Level.Name, Share: r.Level.Share, Runs: len(r.Shares), Requests: r.Pool.Requests, Goodput: r.Pool.Share,
		Lo: known(s.OK, s.Lo), Hi: known(s.OK, s.Hi), OfRuns: r.Shares, Tool: known(true, r.ToolGood),
		PerSecond: known(r.Clock, r.Pool.RequestsPerSecond.Mean), TokensPerS: known(r.Clock, r.Pool.OutputPerSecond.Mean),
		QueueShare: known(true, r.QueueShare), Overloaded: r.Overloaded,
	}
	if r.Level.Users > 0 {
		out.Users = &r.Level.Users
	} else {
		out.Rate = &r.Level.Rate
	}
	for i, e := range r.Each {
		out.Limits = append(out.Limits, limitJSON{g.SLO.Goodput[i].String(), e.Requests, e.Met, e.MissedOnly, i == r.Binding})
	}
	for _, m := range r.Pool.Metrics {
		out.Latency = append(out.Latency, metricJSON{Key: m.Key, Name: m.Name, Unit: "ms", Values: latencyJSON(&m)})
	}
	for _, f := range r.Figures {
		one := metricJSON{Key: f.Key, Name: f.Label, Unit: f.Unit, Needs: f.Need, Values: []valueJSON{}}
		for i, v := range f.Values {
			one.Values = append(one.Values, valueJSON{g.Percentiles[i].String(), known(true, v.Mean), known(v.OK, v.Lo), known(v.OK, v.Hi)})
		}
		out.DialectSays = append(out.DialectSays, one)
	}
	return out
}

// latencyJSON are the percentiles of m in milliseconds.
func latencyJSON(m *analysis.Metric) []valueJSON {
	list := []valueJSON{}
	if !m.OK {
		return list
	}
	for _, q := range m.Quantiles {
		i := &q.Interval
		list = append(list, valueJSON{q.P.String(), known(true, q.Value.Milliseconds()), known(i.OK, i.Lo.Milliseconds()), known(i.OK, i.Hi.Milliseconds())})
	}
	return list
}
