package claim

import (
	"encoding/json"
	"math"

	"servesim/sim/gpu"
)

// A float is a number of JSON, null if it is none.
type float float64

// MarshalJSON implements json.Marshaler.
func (f float) MarshalJSON() ([]byte, error) {
	if x := float64(f); math.IsNaN(x) || math.IsInf(x, 0) {
		return []byte("null"), nil
	}
	return json.Marshal(float64(f))
}

// latencyJSON is a Latency in ms.
type latencyJSON struct {
	Mean float `json:"mean_ms"`
	P50  float `json:"p50_ms"`
	P90  float `json:"p90_ms"`
	P99  float `json:"p99_ms"`
}

// pointJSON is a Point.
type pointJSON struct {
	Weights string `json:"weights"`
	KV      string `json:"kv_cache"`
	TP      int64  `json:"tensor_parallel_size"`
	Prompt  int64  `json:"prompt_tokens"`
	Output  int64  `json:"output_tokens"`
	Users   *int64 `json:"users_per_replica"` // null offline
	// Reason is why it can't run; of what follows there is nothing then.
	Reason   string       `json:"reason,omitempty"`
	Readings []pointOf    `json:"readings,omitempty"`
	Count    int64        `json:"requests,omitempty"`
	Batch    *float       `json:"batch_mean,omitempty"`
	TTFT     *latencyJSON `json:"ttft,omitempty"`
	TPOT     *latencyJSON `json:"tpot,omitempty"`
	ITL      *latencyJSON `json:"itl,omitempty"`
	E2E      *latencyJSON `json:"e2e,omitempty"`
	// Bound is the roofline that takes the most time at the rates of the datasheet, and
	// Share how much of it.
	Bound   gpu.Bound `json:"bound,omitempty"`
	Share   *float    `json:"bound_share,omitempty"`
	Outside *float    `json:"steps_extrapolated_share,omitempty"`
}

// pointOf is what a point says of one reading.
type pointOf struct {
	Reached bool  `json:"reached"`
	Most    float `json:"most"`
	Ceiling float `json:"at_datasheet_rates"`
	GPUs    int64 `json:"gpus"`
}

// verdictJSON is a Verdict.
type verdictJSON struct {
	Name     string    `json:"of"`
	Possible bool      `json:"possible"`
	Reached  int       `json:"combinations_reached"`
	Ran      int       `json:"combinations"`
	Most     float     `json:"most"`
	Best     int       `json:"best"` // its place among points, as those below
	Ceiling  float     `json:"at_datasheet_rates"`
	Highest  int       `json:"best_at_datasheet_rates"`
	Bound    gpu.Bound `json:"bound_at_datasheet_rates"`
	Rows     []int     `json:"rows"`
}

// questionJSON is a Question.
type questionJSON struct {
	About   string `json:"about"`
	Text    string `json:"text"`
	Decides float  `json:"decides_share"`
	Factor  float  `json:"factor"`
}

// JSON returns a for programs.
func (a *Answer) JSON() (string, error) {
	var out struct {
		Schema int      `json:"schema"`
		Kind   string   `json:"kind"`
		Claim  string   `json:"claim"`
		Of     Quantity `json:"quantity"`
		Scope  Scope    `json:"scope,omitempty"`
		Value  float    `json:"value"`
		Unit   string   `json:"unit"`
		// GPUs is null if the claim doesn't say.
		GPUs      *int64         `json:"gpus"`
		GPU       string         `json:"gpu"`
		Model     string         `json:"model"`
		Policy    string         `json:"policy"`
		Readings  []verdictJSON  `json:"readings"`
		Questions []questionJSON `json:"questions"`
		Points    []pointJSON    `json:"points"`
		Cautions  []string       `json:"cautions"`
	}
	out.Schema, out.Kind, out.Claim, out.Of, out.Scope = 1, "servesim-claim", a.Claim.Text, a.Claim.Quantity, a.Claim.Scope
	out.Value, out.Unit = float(a.Claim.Value), a.Claim.Unit()
	out.GPU, out.Model, out.Policy = a.Plan.Machine.Profile.Name, a.Plan.Machine.Model.Name, a.Plan.Scenario.Engine.Policy
	out.Cautions, out.Questions = append([]string{}, a.Plan.Cautions()...), []questionJSON{}
	if a.GPUs > 0 {
		out.GPUs = &a.GPUs
	}
	place := map[*Point]int{}
	for i := range a.Points {
		p := &a.Points[i]
		place[p] = i
		out.Points = append(out.Points, a.point(p))
	}
	for i := range a.Readings {
		v := &a.Readings[i]
		j := verdictJSON{
			Name: v.Name, Possible: v.Possible > 0, Reached: v.Possible, Ran: v.Ran, Most: float(v.Most(v.Best)), Best: place[v.Best],
			Ceiling: float(v.Ceiling(v.Highest)), Highest: place[v.Highest], Bound: v.Highest.bound(&v.Reading),
		}
		for _, p := range v.Rows {
			j.Rows = append(j.Rows, place[p])
		}
		out.Readings = append(out.Readings, j)
	}
	for _, q := range a.Questions {
		out.Questions = append(out.Questions, questionJSON{q.About, q.Text, float(q.Decides), float(q.Factor)})
	}
	text, err := json.MarshalIndent(out, "", "  ")
	return string(text) + "\n", err
}

// point returns p.
func (a *Answer) point(p *Point) pointJSON {
	out := pointJSON{Weights: p.Weights, KV: p.KV, TP: p.TP, Prompt: p.Lengths.Prompt, Output: p.Lengths.Output, Reason: p.Reason}
	if p.Users > 0 {
		out.Users = &p.Users
	}
	if p.Reason != "" {
		return out
	}
	number := func(x float64) *float {
		f := float(x)
		return &f
	}
	latency := func(l Latency) *latencyJSON {
		return &latencyJSON{float(l.Mean), float(l.P50), float(l.P90), float(l.P99)}
	}
	out.Count, out.Batch, out.Outside = p.Count, number(p.Batch), number(p.Outside)
	out.TTFT, out.TPOT, out.ITL, out.E2E = latency(p.TTFT), latency(p.TPOT), latency(p.ITL), latency(p.E2E)
	out.Bound, out.Share = p.Roof.Bound, number(p.Roof.Share)
	for i := range a.Readings {
		v := &a.Readings[i]
		out.Readings = append(out.Readings, pointOf{v.Reached(p), float(v.Most(p)), float(v.Ceiling(p)), v.Needs(p) * p.TP})
	}
	return out
}
