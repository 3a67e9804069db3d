package gate

import (
	"fmt"
	"math"
	"slices"
	"strings"

	"servesim/analysis"
	"servesim/internal/strict"
	"servesim/report"
	"servesim/sim"
)

// A Threshold is a limit on one figure of the runs at the target, beside goodput.
type Threshold struct {
	// Metric is the key of a latency, or of a throughput.
	Metric string
	// Mean tells that the mean of a latency is limited, its percentile At otherwise.
	Mean bool
	At   analysis.Percentile
	// Max is the longest latency, Min the least throughput, a second.
	Max sim.Duration
	Min float64
}

// throughputs returns the keys of figures that are a mean over runs.
func throughputs() []string { return []string{"requests_per_s", "output_tokens_per_s"} }

// throughput tells whether t is on one.
func (t *Threshold) throughput() bool { return slices.Contains(throughputs(), t.Metric) }

// String writes t as people do.
func (t *Threshold) String() string {
	switch {
	case t.throughput():
		return t.Metric + " >= " + number(t.Min)
	case t.Mean:
		return fmt.Sprintf("%s mean <= %v", t.Metric, t.Max)
	}
	return fmt.Sprintf("%s %s <= %v", t.Metric, t.At, t.Max)
}

// latencies returns the keys of latencies that have percentiles.
func latencies() []string {
	var keys []string
	for _, m := range new(analysis.Report).Metrics() {
		if !m.Part {
			keys = append(keys, m.Key)
		}
	}
	return keys
}

// thresholds reads the limits beside goodput.
func (r *reader) thresholds() {
	for i := range r.f.Thresholds {
		if t, ok := r.threshold(fmt.Sprintf("threshold[%d]", i), &r.f.Thresholds[i]); ok {
			r.gate.Thresholds = append(r.gate.Thresholds, t)
		}
	}
	for i, t := range r.gate.Thresholds {
		if t.Mean && !r.tail(t.Metric) {
			r.refuse(fmt.Sprintf("threshold[%d]", i), "the mean of %s without its P99 passes while one user in a hundred waits without end; add a threshold or a limit on %[1]s p99", t.Metric)
		}
	}
}

// tail tells whether the gate limits a percentile of metric from P99 up.
func (r *reader) tail(metric string) bool {
	const p99 = 0.99
	own := slices.ContainsFunc(r.gate.Thresholds, func(t Threshold) bool {
		return t.Metric == metric && !t.Mean && t.At.Fraction() >= p99
	})
	var s analysis.SLO
	switch f := r.f.SLO; {
	case own:
		return true
	case f != nil:
		s, _ = analysis.ParseSLO(strings.Join(f.Limits, "\n")) // its faults are told elsewhere
		if preset, err := analysis.FindSLO(f.Preset); err == nil {
			s = s.Over(preset.SLO)
		}
	case r.gate.plan != nil:
		s = r.gate.plan.SLO
	}
	return slices.ContainsFunc(s.Run, func(l analysis.RunLimit) bool {
		return l.Objective.String() == metric && l.At.Fraction() >= p99 && l.Scope.All()
	})
}

// threshold reads one of them; ok is false if it is at fault.
func (r *reader) threshold(key string, f *thresholdTable) (t Threshold, ok bool) {
	t.Metric = f.Metric
	before := len(r.faults)
	names := append(latencies(), throughputs()...)
	switch {
	case f.Metric == "":
		r.fault(key+".metric", "missing; give one of %s", strings.Join(names, ", "))
	case t.throughput():
		if f.Statistic != "" || f.Max != "" {
			r.fault(key, "%s has no statistic and no max: it is a mean over runs and better if more; give min", f.Metric)
		} else if f.Min == nil || !(*f.Min > 0) || math.IsInf(*f.Min, 0) {
			r.fault(key+".min", "must be a number of more than 0 per second")
		} else {
			t.Min = *f.Min
		}
	case !slices.Contains(names, f.Metric):
		r.fault(key+".metric", "found %q; %s", f.Metric, strict.Unlike(f.Metric, names))
	default:
		r.latency(key, f, &t)
	}
	return t, len(r.faults) == before
}

// latency reads a threshold on a latency.
func (r *reader) latency(key string, f *thresholdTable, t *Threshold) {
	if f.Min != nil {
		r.fault(key+".min", "has no meaning for %s, which is better if less; give max, such as \"500ms\"", f.Metric)
	}
	max, err := sim.ParseDuration(f.Max)
	switch {
	case f.Max == "":
		r.fault(key+".max", "missing; give the longest time, such as \"500ms\"")
	case err != nil:
		r.fault(key+".max", "%v", err)
	case max <= 0:
		r.fault(key+".max", "found %v; must be more than 0s", max)
	}
	t.Max = max
	if t.Mean = f.Statistic == "mean"; t.Mean {
		return
	}
	if t.At, err = analysis.ParsePercentile(f.Statistic); err != nil {
		r.fault(key+".statistic", "found %q; must be \"mean\", or a percentile such as \"p99\"", f.Statistic)
	} else if !slices.Contains(r.gate.Percentiles, t.At) {
		r.fault(key+".statistic", "%s isn't among percentiles; add it there", t.At)
	}
}

// check judges the runs at the target by t.
func (t *Threshold) check(l *Row) Check {
	c := Check{Name: t.String(), Judgement: analysis.NoData}
	if t.throughput() {
		rate := l.Pool.RequestsPerSecond
		if t.Metric == "output_tokens_per_s" {
			rate = l.Pool.OutputPerSecond
		}
		c.Unit, c.Value, c.Lo, c.Hi, c.Known, c.Why = "1/s", rate.Mean, rate.Lo, rate.Hi, rate.OK, rate.Why()
		c.Judgement = judge(c.Known, c.Hi >= t.Min, c.Lo >= t.Min, c.Value >= t.Min)
		return c
	}
	i := slices.IndexFunc(l.Pool.Metrics, func(m analysis.Metric) bool { return m.Key == t.Metric })
	if i < 0 || !l.Pool.Metrics[i].OK {
		return c
	}
	d := l.Pool.Metrics[i].Distribution
	value, interval := d.Mean, d.MeanInterval
	for _, q := range d.Quantiles {
		if !t.Mean && q.P == t.At {
			value, interval = q.Value, q.Interval
		}
	}
	c.latency(value, interval)
	c.Judgement = judge(c.Known, interval.Lo <= t.Max, interval.Hi <= t.Max, value <= t.Max)
	return c
}

// latency gives c a time and its interval, in milliseconds.
func (c *Check) latency(value sim.Duration, i analysis.Interval) {
	c.Unit, c.Value, c.Known, c.Why = "ms", value.Milliseconds(), i.OK, i.Why()
	if i.OK {
		c.Lo, c.Hi = i.Lo.Milliseconds(), i.Hi.Milliseconds()
	}
}

// judge says whether a limit was kept that the better and the worse end of an
// interval keep, or without an interval the value.
func judge(known, better, worse, value bool) analysis.Judgement {
	switch {
	case known && worse, !known && value:
		return analysis.Pass
	case known && better:
		return analysis.TooClose
	}
	return analysis.Fail
}

// text writes a figure of c with its unit.
func (c *Check) text(x float64) string {
	switch c.Unit {
	case "share":
		return percent(x)
	case "1/s":
		return report.Number(x) + "/s"
	}
	return report.Number(x) + " ms"
}

// Found writes what c found, with its unit.
func (c *Check) Found() string {
	if math.IsNaN(c.Value) {
		return "a request that failed" // the percentile never came about
	}
	return c.text(c.Value)
}
