package sweep

import (
	"math"
	"slices"
	"strings"

	"servesim/analysis"
	"servesim/scenario"
	"servesim/sim"
	"servesim/sim/observe"
)

// A Column is a quantity of a point's result. Its name ends in its unit.
type Column struct {
	Name string
	// Whole tells that its values are whole numbers.
	Whole bool
	// Better is 1 if more is better, -1 if less is, and 0 if neither is.
	Better int
	// Words name the values 0, 1 and so on of a column of states, from the one that is
	// least to worry about; nil of a quantity. Several rows together have the greatest.
	Words []string

	of func(*scenario.Result) float64 // NaN if there is no data
}

// Of returns the quantity of r, NaN if there is no data. r has the percentiles of
// analysis.TailPercentiles.
func (c Column) Of(r *scenario.Result) float64 { return c.of(r) }

// Columns lists the quantities of a result, in the order of the tables.
func Columns() []Column {
	list := []Column{
		whole("requests", 0, func(r *scenario.Result) int64 { return r.Report.Counts.Requests }),
	}
	for _, o := range observe.Outcomes() {
		list = append(list, whole(o.String(), 0, func(r *scenario.Result) int64 { return r.Report.Counts.Of(o) }))
	}
	list = append(list,
		whole("preemptions", -1, func(r *scenario.Result) int64 { return r.Report.Counts.Preemptions }),
		Column{Name: "span_s", of: func(r *scenario.Result) float64 { return r.Report.Span.Seconds() }},
		whole("prompt_tokens", 0, func(r *scenario.Result) int64 { return r.Report.Tokens.Prompt }),
		whole("output_tokens", 0, func(r *scenario.Result) int64 { return r.Report.Tokens.Output }),
	)
	for _, m := range latencies() {
		list = append(list, latencyColumns(m)...)
	}
	list = append(list, rates()...)
	return append(list, Column{Name: "load_state", Words: loadStates(), of: func(r *scenario.Result) float64 {
		if i := slices.Index(loadStates(), string(r.Report.Saturation.State)); i >= 0 {
			return float64(i)
		}
		return math.NaN()
	}})
}

// loadStates are the words of whether queues grew. A run that is too short to tell has
// no data.
func loadStates() []string {
	return []string{string(analysis.Stable), string(analysis.Backlogged), string(analysis.Unsettled), string(analysis.Overloaded)}
}

// word returns the word of value x of a column of states; ok is false of a quantity, and
// without data.
func (c Column) word(x float64) (word string, ok bool) {
	if c.Words == nil || math.IsNaN(x) || x < 0 || x >= float64(len(c.Words)) {
		return "", false
	}
	return c.Words[int(x)], true
}

// whole returns a column of whole numbers.
func whole(name string, better int, of func(*scenario.Result) int64) Column {
	return Column{Name: name, Whole: true, Better: better, of: func(r *scenario.Result) float64 { return float64(of(r)) }}
}

// A latency is a distribution of a report.
type latency struct {
	name string
	of   func(*analysis.Report) *analysis.Distribution
}

// latencies lists them.
func latencies() []latency {
	return []latency{
		{"ttft", func(r *analysis.Report) *analysis.Distribution { return &r.TTFT }},
		{"queue", func(r *analysis.Report) *analysis.Distribution { return &r.Queue }},
		{"tpot", func(r *analysis.Report) *analysis.Distribution { return &r.TPOT }},
		{"itl", func(r *analysis.Report) *analysis.Distribution { return &r.ITL }},
		{"max_gap", func(r *analysis.Report) *analysis.Distribution { return &r.MaxGap }},
		{"e2el", func(r *analysis.Report) *analysis.Distribution { return &r.E2E }},
	}
}

// latencyColumns are the mean and the percentiles of m, in milliseconds, each with
// its 95 % interval, but for the maximum, which has none.
func latencyColumns(m latency) []Column {
	mean := func(d *analysis.Distribution) (sim.Duration, analysis.Interval) { return d.Mean, d.MeanInterval }
	list := withInterval(m, "mean", mean)
	for i, p := range analysis.TailPercentiles() { // those of every run of a sweep, in this order
		name := strings.ReplaceAll(p.String(), ".", "")
		all := withInterval(m, name, func(d *analysis.Distribution) (sim.Duration, analysis.Interval) {
			return d.Quantiles[i].Value, d.Quantiles[i].Interval
		})
		if name == "max" {
			all = all[:1]
		}
		list = append(list, all...)
	}
	return list
}

// withInterval are the column of one value of m, and those of its interval.
func withInterval(m latency, name string, of func(*analysis.Distribution) (sim.Duration, analysis.Interval)) []Column {
	column := func(end string, better int, pick func(sim.Duration, analysis.Interval) (sim.Duration, bool)) Column {
		return Column{Name: m.name + "_" + name + end + "_ms", Better: better, of: func(r *scenario.Result) float64 {
			d := m.of(r.Report)
			if !d.OK {
				return math.NaN()
			}
			v, ok := pick(of(d))
			if !ok {
				return math.NaN()
			}
			return v.Milliseconds()
		}}
	}
	return []Column{
		column("", -1, func(v sim.Duration, _ analysis.Interval) (sim.Duration, bool) { return v, true }),
		column("_low", 0, func(_ sim.Duration, i analysis.Interval) (sim.Duration, bool) { return i.Lo, i.OK }),
		column("_high", 0, func(_ sim.Duration, i analysis.Interval) (sim.Duration, bool) { return i.Hi, i.OK }),
	}
}

// rates are what a replica gets done, what it costs, and how full it is. A GPU is
// one of those of the replica. What a user gets is 1/TPOT at the median.
func rates() []Column {
	gpus := func(r *scenario.Result) float64 { return float64(r.Report.Throughput.GPUs) }
	return []Column{
		whole("gpus", -1, func(r *scenario.Result) int64 { return r.Report.Throughput.GPUs }),
		{Name: "requests_per_s", Better: 1, of: func(r *scenario.Result) float64 { return r.Report.Throughput.Requests }},
		{Name: "output_tokens_per_s", Better: 1, of: func(r *scenario.Result) float64 { return r.Report.Throughput.OutputTokens }},
		{Name: "output_tokens_per_s_per_gpu", Better: 1, of: func(r *scenario.Result) float64 { return r.Report.Throughput.OutputPerGPU }},
		{Name: "output_tokens_per_s_per_user", Better: 1, of: func(r *scenario.Result) float64 {
			if len(r.Report.Throughput.PerUser) == 0 {
				return math.NaN()
			}
			return r.Report.Throughput.PerUser[0].TokensPerSecond // at P50, the first of a sweep's percentiles
		}},
		{Name: "goodput_share", Better: 1, of: func(r *scenario.Result) float64 {
			if r.Report.Goodput == nil {
				return math.NaN()
			}
			share, _ := r.Report.Goodput.Share()
			return share
		}},
		{Name: "goodput_share_low", of: func(r *scenario.Result) float64 {
			if r.Report.Goodput == nil || !r.Report.Goodput.Interval.OK {
				return math.NaN()
			}
			return r.Report.Goodput.Interval.Lo
		}},
		{Name: "goodput_share_high", of: func(r *scenario.Result) float64 {
			if r.Report.Goodput == nil || !r.Report.Goodput.Interval.OK {
				return math.NaN()
			}
			return r.Report.Goodput.Interval.Hi
		}},
		{Name: "goodput_requests_per_s", Better: 1, of: goodPerSecond},
		{Name: "goodput_requests_per_s_per_gpu", Better: 1, of: func(r *scenario.Result) float64 { return goodPerSecond(r) / gpus(r) }},
		{Name: "slo_limits_missed", Whole: true, Better: -1, of: func(r *scenario.Result) float64 {
			if len(r.Report.Verdicts) == 0 {
				return math.NaN()
			}
			return float64(len(analysis.Missed(r.Report.Verdicts)))
		}},
		{Name: "usd_per_million_output_tokens", Better: -1, of: func(r *scenario.Result) float64 {
			return per(dollars(r), float64(r.Report.Tokens.Output)/1e6)
		}},
		{Name: "usd_per_thousand_good_requests", Better: -1, of: func(r *scenario.Result) float64 {
			if r.Report.Goodput == nil {
				return math.NaN()
			}
			return per(dollars(r), float64(r.Report.Goodput.Good)/1e3)
		}},
		{Name: "utilisation_share", of: func(r *scenario.Result) float64 { return r.Report.Engine.Utilisation }},
		{Name: "running_mean", of: func(r *scenario.Result) float64 { return r.Report.Engine.Running.Mean }},
		whole("running_peak", 0, func(r *scenario.Result) int64 { return r.Report.Engine.Running.Peak }),
		whole("waiting_peak", -1, func(r *scenario.Result) int64 { return r.Report.Engine.Waiting.Peak }),
		whole("kv_blocks", 0, func(r *scenario.Result) int64 { return r.Report.Engine.KVBlocks }),
		whole("kv_blocks_peak", 0, func(r *scenario.Result) int64 { return r.Report.Engine.Blocks.Peak }),
		whole("steps", 0, func(r *scenario.Result) int64 { return r.Report.Engine.Steps }),
		{Name: "steps_extrapolated_share", Better: -1, of: func(r *scenario.Result) float64 { return r.Outside }},
		whole("warnings", -1, func(r *scenario.Result) int64 { return int64(len(r.Report.Warnings)) }),
	}
}

// goodPerSecond returns the good requests per second, NaN without limits.
func goodPerSecond(r *scenario.Result) float64 {
	if r.Report.Goodput == nil {
		return math.NaN()
	}
	return r.Report.Goodput.PerSecond
}

// dollars returns what the GPUs of a run cost over its span at the list price of
// the profile, NaN if that has none.
func dollars(r *scenario.Result) float64 {
	price := r.Plan.Machine.Profile.Price
	if price == nil {
		return math.NaN()
	}
	return float64(r.Report.Throughput.GPUs) * price.USDPerGPUHour * (r.Report.Span.Seconds() / 3600)
}

// per returns a/b, NaN if b is 0.
func per(a, b float64) float64 {
	if b == 0 {
		return math.NaN()
	}
	return a / b
}

// Label names the column in a few characters, such as tokens/s/gpu.
func (c Column) Label() string {
	return strings.NewReplacer("output_tokens", "tokens", "goodput_requests", "good", "_per_", "/", "_", " ").Replace(c.Name)
}

// column returns the index in Columns of the one called name.
func column(name string) (i int, ok bool) {
	for i, c := range Columns() {
		if c.Name == name {
			return i, true
		}
	}
	return 0, false
}

// ColumnNames lists the names of Columns.
func ColumnNames() []string {
	var names []string
	for _, c := range Columns() {
		names = append(names, c.Name)
	}
	return names
}
