package hardware

import (
	"encoding/json"
	"math"

	"servesim/capacity"
	"servesim/sim/gpu"
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

// latencyJSON is P99 of a metric.
type latencyJSON struct {
	Metric string `json:"metric"`
	Count  int64  `json:"count"`
	P99Ps  *int64 `json:"p99_ps"` // null without data
	LowPs  *int64 `json:"low_ps"` // null without an interval
	HighPs *int64 `json:"high_ps"`
}

// trialJSON is what a side does at a rate.
type trialJSON struct {
	Latencies []latencyJSON `json:"latencies"`
	Trial     any           `json:"trial"` // as servesim capacity has it
	Outside   number        `json:"steps_extrapolated_share"`
}

// operatorJSON is an Operator.
type operatorJSON struct {
	Name    string    `json:"operator"`
	Share   number    `json:"time_share"`
	Bound   gpu.Bound `json:"bound"` // "" if no datasheet figure concerns it
	Reached number    `json:"roofline_share"`
}

// phaseJSON is a Phase.
type phaseJSON struct {
	Steps     int64          `json:"steps"`
	Share     number         `json:"time_share"`
	Compute   number         `json:"compute_bound_share"`
	Memory    number         `json:"memory_bound_share"`
	Link      number         `json:"link_bound_share"`
	Neither   number         `json:"unbound_share"`
	Operators []operatorJSON `json:"operators"`
}

// sideJSON is a Side.
type sideJSON struct {
	Label    string     `json:"configuration"`
	GPU      string     `json:"gpu"`   // "" if the model doesn't lie on the GPUs so
	Dtype    gpu.Format `json:"dtype"` // as gpu
	TP       int64      `json:"tensor_parallel_size"`
	Reason   string     `json:"reason"`   // why it serves nothing, "" if it does
	Capacity any        `json:"capacity"` // as servesim capacity has it; null as all that follows
	Good     number     `json:"good_output_tokens_per_s_per_gpu"`
	AtRate   *trialJSON `json:"at_rate"`
	AtShare  *trialJSON `json:"at_share"`
	Prefill  *phaseJSON `json:"steps_with_prompt_tokens"`
	Decode   *phaseJSON `json:"steps_of_decodes_alone"`
	Cautions []string   `json:"cautions"`
}

// flipJSON is a Flip.
type flipJSON struct {
	More    string `json:"first"`
	Less    string `json:"second"`
	Ratio   number `json:"flip_price_ratio"`
	Lo      number `json:"low_price_ratio"`
	Hi      number `json:"high_price_ratio"`
	Today   number `json:"today_price_ratio"`
	Cheaper string `json:"cheaper_today"` // "" if both cost the same or a price isn't known
	Sure    bool   `json:"cheaper_beyond_interval"`
}

// JSON returns c for programs.
func (c *Comparison) JSON() (string, error) {
	out := struct {
		Schema   int        `json:"schema"`
		Kind     string     `json:"kind"`
		Load     string     `json:"load"`
		Limits   string     `json:"slo"`
		Rate     number     `json:"rate_requests_per_s"`
		Given    bool       `json:"rate_given"`
		Share    number     `json:"share_of_capacity"`
		Sides    []sideJSON `json:"configurations"`
		Flips    []flipJSON `json:"price_flips"`
		Requests int64      `json:"requests_simulated"`
	}{Schema: 1, Kind: "servesim-hardware", Load: c.Load, Limits: c.SLO.String(), Rate: number(c.Rate), Given: c.RateGiven, Share: number(c.Share), Flips: []flipJSON{}, Requests: c.Requests}
	for _, s := range c.Sides {
		out.Sides = append(out.Sides, s.object())
	}
	for i := range c.Flips {
		f := &c.Flips[i]
		one := flipJSON{f.More.Label, f.Less.Label, number(f.Ratio), number(f.Lo), number(f.Hi), number(f.Today), "", false}
		if s, sure := f.Choice(); s != nil {
			one.Cheaper, one.Sure = s.Label, sure
		}
		out.Flips = append(out.Flips, one)
	}
	b, err := json.MarshalIndent(out, "", "  ")
	return string(b) + "\n", err
}

// object returns s.
func (s *Side) object() sideJSON {
	out := sideJSON{Label: s.Label, Reason: s.Reason, Good: number(math.NaN()), Cautions: []string{}}
	if s.Plan != nil {
		out.GPU, out.Dtype, out.TP = s.Plan.Machine.Profile.Name, s.Plan.Machine.Weights, *s.Plan.Scenario.Hardware.TensorParallelSize
		out.Cautions = append(out.Cautions, s.Plan.Cautions()...)
	}
	if s.Reason == "" {
		out.Capacity, out.Good = s.Answer.Object(), number(s.GoodPerGPU())
		out.AtRate, out.AtShare = trialObject(s.AtRate), trialObject(s.AtShare)
		out.Prefill, out.Decode = s.Prefill.object(), s.Decode.object()
	}
	return out
}

// trialObject returns t.
func trialObject(t *capacity.Trial) *trialJSON {
	out := &trialJSON{Trial: t.Object(), Outside: number(t.Outside)}
	point := func(x int64) *int64 { return &x }
	for _, key := range latencyKeys() {
		l := latencyJSON{Metric: key.key}
		if q, ok := p99(t, key.key); ok {
			l.Count, l.P99Ps = t.Distribution(key.key).Count, point(int64(q.Value))
			if i := q.Interval; i.OK {
				l.LowPs, l.HighPs = point(int64(i.Lo)), point(int64(i.Hi))
			}
		}
		out.Latencies = append(out.Latencies, l)
	}
	return out
}

// object returns f.
func (f *Phase) object() *phaseJSON {
	out := &phaseJSON{f.Steps, number(f.Share), number(f.Compute), number(f.Memory), number(f.Link), number(f.Neither), []operatorJSON{}}
	for _, o := range f.Operators {
		out.Operators = append(out.Operators, operatorJSON{o.Name, number(o.Share), o.Bound, number(o.Reached)})
	}
	return out
}
