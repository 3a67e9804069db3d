package publish

import (
	"encoding/csv"
	"math"
	"slices"
	"strconv"
	"strings"
	"time"

	"servesim/analysis/dialect"
	"servesim/sim"
)

// stat is a metric of AIPerf's summary: a distribution, or one number, its avg.
type stat struct {
	tag, label, unit string
	// values are those of statKeys; NaN for what there isn't.
	values [14]float64
	count  int64 // of values, 0 for one number
}

// statKeys are the numbers of a distribution in the order of AIPerf's tables
// (STAT_KEYS in src/aiperf/common/constants.py).
func statKeys() [14]string {
	return [...]string{"avg", "min", "max", "sum", "p1", "p5", "p10", "p25", "p50", "p75", "p90", "p95", "p99", "std"}
}

// scalar is a metric of one number.
func scalar(tag, label, unit string, x float64) stat {
	s := stat{tag: tag, label: label, unit: unit}
	for i := range s.values {
		s.values[i] = math.NaN()
	}
	s.values[0] = x
	return s
}

// distributed returns a metric of the values of v, in what of makes of them.
func distributed(tag, label, unit string, v *dialect.Value, of func(sim.Duration) float64) stat {
	s := scalar(tag, label, unit, of(v.Mean))
	s.count = v.Count
	s.values[1], s.values[2], s.values[3] = of(v.Min), of(v.Max), float64(of(v.Mean)*float64(v.Count))
	for i, q := range v.Quantiles {
		s.values[4+i] = of(q.Value)
	}
	if v.HasDeviation {
		s.values[13] = of(v.Deviation)
	}
	return s
}

// lengths returns a metric of numbers of tokens.
func (l *lengths) stat(tag, label string) stat {
	of := func(d sim.Duration) float64 { return float64(d) / float64(perToken) }
	v := dialect.Value{Distribution: l.sample.Distribution(percentiles(aiperfPercentiles))}
	s := distributed(tag, label, "tokens", &v, of)
	n, mean := float64(v.Count), float64(l.sum)/float64(v.Count)
	s.values[0], s.values[3] = mean, float64(l.sum)
	s.values[13] = math.Sqrt(max(l.square/n-float64(mean*mean), 0))
	return s
}

// stats returns the metrics of the summary in the order of AIPerf's JsonExportData.
func (a *aiperf) stats() []stat {
	r := a.figures.Results()[0]
	var list []stat
	rates := func(tag, label, unit string) {
		if x, ok := r.Rate(tag); ok && x.Need == "" && !math.IsNaN(x.Value) {
			list = append(list, scalar(tag, label, unit, x.Value))
		}
	}
	rates("request_throughput", "Request Throughput", "requests/sec")
	requests, _ := r.Rate("request_throughput")
	list = append(list, scalar("request_count", "Request Count", "requests", requests.Amount))
	for i := range r.Values {
		v := &r.Values[i]
		if strings.HasPrefix(v.Metric.Key, "adj_") || !v.OK {
			continue
		}
		label, unit, _ := strings.Cut(v.Metric.Label, " (")
		list = append(list, distributed(v.Metric.Key, label, strings.TrimSuffix(unit, ")"), v, v.Metric.Unit.Of))
	}
	rates("output_token_throughput", "Output Token Throughput", "tokens/sec")
	rates("total_token_throughput", "Total Token Throughput", "tokens/sec")
	if a.outputs.n > 0 {
		list = append(list, a.outputs.stat("output_sequence_length", "Output Sequence Length"),
			scalar("total_osl", "Total Output Sequence Length", "tokens", float64(a.outputs.sum)))
	}
	if a.prompts.n > 0 {
		list = append(list, a.prompts.stat("input_sequence_length", "Input Sequence Length"),
			scalar("total_isl", "Total Input Sequence Length", "tokens", float64(a.prompts.sum)))
	}
	if g := r.Goodput; g != nil && g.Need == "" && !math.IsNaN(g.PerSecond) {
		list = append(list, scalar("goodput", "Goodput", "requests/sec", g.PerSecond), scalar("good_request_count", "Good Request Count", "requests", float64(g.Good)))
	}
	list = append(list, scalar("benchmark_duration", "Benchmark Duration", "sec", requests.Span.Seconds()))
	if failed := r.Calls - int64(requests.Amount); failed > 0 {
		list = append(list, scalar("error_request_count", "Error Request Count", "requests", float64(failed)))
	}
	return list
}

// finish writes the summary.
func (a *aiperf) finish() error {
	list := a.stats()
	if err := a.json(list); err != nil {
		return err
	}
	return a.csv(list)
}

// json writes the summary as JSON.
func (a *aiperf) json(list []stat) error {
	run := a.e.run
	o := &object{b: []byte{'{'}, sep: "\n  ", col: " "}
	o.b = append(o.b, "\n  "...)
	o.text("schema_version", "1.0")
	o.text("aiperf_version", "servesim "+run.Header.Version)
	if run.Header.Scenario != "" {
		o.text("benchmark_id", run.Header.Scenario)
	}
	for _, s := range list {
		o.raw(s.tag, "{")
		m := &object{b: o.b, sep: " ", col: " "}
		m.text("unit", s.unit)
		for i, key := range statKeys() {
			if !math.IsNaN(s.values[i]) {
				m.float(key, s.values[i])
			}
		}
		if s.count > 0 {
			m.integer("count", s.count)
		}
		o.b = append(m.b, '}')
	}
	o.raw("was_cancelled", "false")
	o.raw("error_summary", "[")
	for i, f := range a.failed {
		if i > 0 {
			o.b = append(o.b, ", "...)
		}
		o.b = append(o.b, `{"error_details": `+f.details+`, "count": `+strconv.FormatInt(f.n, 10)+`}`...)
	}
	o.b = append(o.b, ']')
	o.text("start_time", a.clock(max(a.began, 0)))
	o.text("end_time", a.clock(a.ended))
	_, err := a.summary.Write(append(o.b, "\n}\n"...))
	return err
}

// clock writes an instant as Python's isoformat does.
func (a *aiperf) clock(t sim.Time) string {
	ns, _ := a.e.run.since(t)
	return time.Unix(ns/1e9, ns%1e9).UTC().Format("2006-01-02T15:04:05.000000")
}

// csv writes the summary as AIPerf's two tables, in the order of tags.
func (a *aiperf) csv(list []stat) error {
	w := csv.NewWriter(a.table)
	w.UseCRLF = true
	slices.SortFunc(list, func(a, b stat) int { return strings.Compare(a.tag, b.tag) })
	keys := statKeys()
	lines := [][]string{append([]string{"Metric"}, keys[:]...)}
	others := [][]string{{"Metric", "Value"}}
	for _, s := range list {
		name := s.label
		if s.unit != "requests" {
			name += " (" + s.unit + ")"
		}
		if s.count == 0 {
			text := decimals(s.values[0])
			if s.unit == "requests" || s.unit == "tokens" {
				text = strings.TrimSuffix(text, ".00") // AIPerf has integers there
			}
			others = append(others, []string{name, text})
			continue
		}
		line := []string{name}
		for _, x := range s.values {
			line = append(line, decimals(x))
		}
		lines = append(lines, line)
	}
	if err := w.WriteAll(lines); err != nil {
		return err
	}
	if _, err := a.table.WriteString("\r\n"); err != nil {
		return err
	}
	return w.WriteAll(others)
}

// decimals writes x with two digits below the point, nothing for what isn't there.
func decimals(x float64) string {
	if math.IsNaN(x) {
		return ""
	}
	return strconv.FormatFloat(x, 'f', 2, 64)
}
