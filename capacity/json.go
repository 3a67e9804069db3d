package capacity

import (
	"encoding/json"
	"math"

	"servesim/analysis"
)

// A number is a float of JSON, null if it is no number.
type number float64

// MarshalJSON implements json.Marshaler.
func (n number) MarshalJSON() ([]byte, error) {
	if x := float64(n); math.IsNaN(x) || math.IsInf(x, 0) {
		return []byte("null"), nil
	}
	return json.Marshal(float64(n))
}

// limitJSON is a Limit.
type limitJSON struct {
	Limit      string             `json:"limit"`
	Judgement  analysis.Judgement `json:"judgement"`
	Kept       bool               `json:"kept"`
	Used       number             `json:"used_share"`
	ValuePs    *int64             `json:"value_ps"` // null of a limit on goodput, and where requests failed
	LowPs      *int64             `json:"low_ps"`
	HighPs     *int64             `json:"high_ps"`
	Share      *number            `json:"share"`
	ShareLow   *number            `json:"share_low"`
	ShareHigh  *number            `json:"share_high"`
	Requests   int64              `json:"count"`
	FailedOnes int64              `json:"failed"`
}

// trialJSON is a Trial.
type trialJSON struct {
	Rate       number      `json:"requests_per_s"`
	Replicas   int64       `json:"replicas"`
	Judgement  Judgement   `json:"judgement"`
	Kept       bool        `json:"kept"`
	Overloaded bool        `json:"overloaded"`
	Runs       int         `json:"runs"`
	Requests   int64       `json:"requests"`
	TTFT       [3]number   `json:"ttft_p50_p90_p99_ms"`
	TPOT       [3]number   `json:"tpot_p50_p90_p99_ms"`
	Goodput    number      `json:"goodput_share"`
	Limits     []limitJSON `json:"limits"`
}

// costJSON is a Cost.
type costJSON struct {
	GPUs           int64  `json:"gpus"`
	USDPerGPUHour  number `json:"usd_per_gpu_hour"`
	Given          bool   `json:"price_given"`
	USDPerHour     number `json:"usd_per_hour"`
	USDPerMTok     number `json:"usd_per_million_output_tokens"`
	USDPerGoodMTok number `json:"usd_per_million_good_output_tokens"`
	KW             number `json:"kw_at_most"`
	KWhPerMTok     number `json:"kwh_per_million_output_tokens"`
	KWhPerGoodMTok number `json:"kwh_per_million_good_output_tokens"`
}

// limitObject returns l.
func limitObject(l *Limit) limitJSON {
	out := limitJSON{Limit: l.Limit, Judgement: l.Judgement, Kept: l.Holds, Used: number(l.Used), Requests: l.Count, FailedOnes: l.Failed}
	if l.IsGoodput {
		share, _ := l.Share()
		out.Share = point(number(share))
		if i := l.ShareInterval; i.OK {
			out.ShareLow, out.ShareHigh = point(number(i.Lo)), point(number(i.Hi))
		}
		return out
	}
	if !l.Value.Unbounded {
		out.ValuePs = point(int64(l.Value.Value))
		if i := l.Value.Interval; i.OK {
			out.LowPs, out.HighPs = point(int64(i.Lo)), point(int64(i.Hi))
		}
	}
	return out
}

// point returns a pointer to x.
func point[T any](x T) *T { return &x }

// Object returns t as a value that encoding/json writes.
func (t *Trial) Object() any { return trialObject(t) }

// trialObject returns t, nil if there is none.
func trialObject(t *Trial) *trialJSON {
	if t == nil {
		return nil
	}
	out := &trialJSON{
		Rate: number(t.Rate), Replicas: t.Replicas, Judgement: t.Judgement, Kept: t.Holds, Overloaded: t.Overloaded,
		Runs: t.Runs, Requests: t.Requests, Limits: []limitJSON{},
	}
	for i, q := range t.quantiles("ttft") {
		out.TTFT[i] = number(q)
	}
	for i, q := range t.quantiles("tpot") {
		out.TPOT[i] = number(q)
	}
	share, _ := t.Goodput()
	out.Goodput = number(share)
	for i := range t.Limits {
		out.Limits = append(out.Limits, limitObject(&t.Limits[i]))
	}
	return out
}

// costObject returns c.
func costObject(c *Cost) costJSON {
	return costJSON{
		c.GPUs, number(c.USDPerGPUHour), c.Given, number(c.USDPerHour), number(c.USDPerMTok), number(c.USDPerGoodMTok),
		number(c.KW), number(c.KWhPerMTok), number(c.KWhPerGoodMTok),
	}
}

// rowJSON is a TableRow.
type rowJSON struct {
	Share number `json:"share_of_capacity"`
	*trialJSON
}

// saturationJSON is a Saturation.
type saturationJSON struct {
	Offered          number `json:"offered_requests_per_s"`
	RequestsPerS     number `json:"requests_per_s"`
	OutputTokensPerS number `json:"output_tokens_per_s"`
}

// instantJSON is an Instant.
type instantJSON struct {
	WindowPs      int64     `json:"window_ps"`
	PerReplica    number    `json:"requests_per_s_per_replica"`
	Peak          int64     `json:"peak_replicas"`
	Mean          number    `json:"mean_replicas"`
	GPUHours      number    `json:"gpu_hours"`
	FixedGPUHours number    `json:"fixed_gpu_hours"`
	Rates         []float64 `json:"requests_per_s"`
	Replicas      []int64   `json:"replicas"`
}

// answerJSON is an Answer.
type answerJSON struct {
	Schema     int             `json:"schema"`
	Kind       string          `json:"kind"`
	Load       string          `json:"load"`
	Limits     string          `json:"slo"`
	Resolution number          `json:"resolution_share"`
	Rate       number          `json:"requests_per_s"`
	Lo         number          `json:"low_requests_per_s"`
	Hi         number          `json:"high_requests_per_s"`
	Unbounded  bool            `json:"unbounded"`
	PerGPU     number          `json:"requests_per_s_per_gpu"`
	PerReplica number          `json:"requests_per_s_per_replica"`
	Binding    *limitJSON      `json:"binding"`
	Overload   bool            `json:"binding_is_overload"`
	Saturation *saturationJSON `json:"saturation"`
	Today      number          `json:"today_requests_per_s"`
	Headroom   number          `json:"headroom_share"`
	Cost       costJSON        `json:"cost"`
	At         *trialJSON      `json:"at"`
	Over       *trialJSON      `json:"over"`
	Table      []rowJSON       `json:"table"`
	Trials     int             `json:"rates_simulated"`
	Requests   int64           `json:"requests_simulated"`
	Scenario   string          `json:"scenario_toml"`
	Instant    *instantJSON    `json:"instant"`
}

// Object returns a as a value that encoding/json writes, which JSON prints.
func (a *Answer) Object() any {
	out := answerJSON{
		Schema: 1, Kind: "servesim-capacity", Load: a.Load, Limits: a.SLO.String(), Resolution: number(a.Resolution),
		Rate: number(a.Rate), Lo: number(a.Lo), Hi: number(a.Hi), Unbounded: a.Unbounded,
		PerGPU: number(a.Rate / float64(a.Plan.GPUs())), PerReplica: number(a.Rate / float64(a.Plan.Replicas())),
		Today: number(a.Today), Headroom: number(a.Headroom()), Cost: costObject(&a.Cost),
		At: trialObject(a.At), Over: trialObject(a.Over), Table: []rowJSON{}, Trials: a.Trials, Requests: a.Requests, Scenario: a.Plan.Text(),
	}
	if b := a.Instant; b != nil {
		out.Instant = &instantJSON{int64(b.Window), number(b.PerReplica), b.Peak, number(b.Mean), number(b.GPUHours), number(b.FixedGPUHours), b.Rates, b.Replicas}
	}
	l, overloaded := a.Binding()
	if out.Overload = overloaded; l != nil && !overloaded {
		out.Binding = point(limitObject(l))
	}
	if s := &a.Saturation; s.OK {
		out.Saturation = &saturationJSON{number(s.Offered), number(s.RequestsPerS), number(s.OutputTokensPerS)}
	}
	for _, r := range a.Table {
		out.Table = append(out.Table, rowJSON{number(r.Share), trialObject(r.Trial)})
	}
	return out
}

// JSON returns a for programs.
func (a *Answer) JSON() (string, error) { return indented(a.Object()) }

// choiceJSON is a Choice.
type choiceJSON struct {
	GPU      string     `json:"gpu"`
	TP       int64      `json:"tensor_parallel_size"`
	Replicas int64      `json:"replicas"`
	GPUs     int64      `json:"gpus"`
	Reason   string     `json:"reason"`
	Cost     *costJSON  `json:"cost"`
	At       *trialJSON `json:"at"`
	Whole    *trialJSON `json:"with_spare"`
	Less     *trialJSON `json:"one_replica_less"`
}

// JSON returns f for programs.
func (f *Fleet) JSON() (string, error) {
	var choices []choiceJSON
	for i := range f.Choices {
		c := &f.Choices[i]
		one := choiceJSON{GPU: c.GPU, TP: c.TP, Replicas: c.Replicas, GPUs: c.GPUs, Reason: c.Reason,
			At: trialObject(c.At), Whole: trialObject(c.Whole), Less: trialObject(c.Less)}
		if c.Replicas > 0 {
			one.Cost = point(costObject(&c.Cost))
		}
		choices = append(choices, one)
	}
	return indented(struct {
		Schema   int          `json:"schema"`
		Kind     string       `json:"kind"`
		Limits   string       `json:"slo"`
		Rate     number       `json:"requests_per_s"`
		Spare    int64        `json:"spare_replicas"`
		Choices  []choiceJSON `json:"choices"`
		Trials   int          `json:"pools_simulated"`
		Requests int64        `json:"requests_simulated"`
	}{1, "servesim-fleet", f.SLO.String(), number(f.Rate), f.Spare, choices, f.Trials, f.Requests})
}

// indented returns x as JSON.
func indented(x any) (string, error) {
	b, err := json.MarshalIndent(x, "", "  ")
	if err != nil {
		return "", err
	}
	return string(b) + "\n", nil
}
