package figure

import (
	"fmt"
	"math"
	"strings"

	"servesim/analysis"
	"servesim/internal/portable"
	"servesim/sim"
)

// mostPoints is the most points of a series.
const mostPoints = 600

// share returns the most points of a series over time of each of so many runs, so that
// a figure of many runs isn't larger than one of two.
func share(runs int) int { return 2 * mostPoints / max(2, runs) }

// ECDF returns the share of requests, or of gaps for ITL, that had a latency of at most
// so much: a panel for each of metrics, a line for each run.
func ECDF(metrics []Metric, runs []Run) *Figure {
	f := curves(metrics, runs, false)
	f.Kind, f.Title = "ecdf", shown(metrics)+": share at or below each latency"
	return f.complete()
}

// CCDF returns the share that had a latency of more than so much, on a logarithmic
// axis, on which the tail is as wide as the rest.
func CCDF(metrics []Metric, runs []Run) *Figure {
	f := curves(metrics, runs, true)
	f.Kind, f.Title = "ccdf", shown(metrics)+": share above each latency"
	return f.complete()
}

// shown lists metrics.
func shown(metrics []Metric) string {
	var names []string
	for _, m := range metrics {
		names = append(names, m.Title())
	}
	return strings.Join(names, ", ")
}

// curves returns the panels of distributions.
func curves(metrics []Metric, runs []Run, beyond bool) *Figure {
	f := &Figure{Columns: min(2, len(metrics))}
	counts := make([]tallies, len(runs))
	var said []string
	for _, m := range metrics {
		p := Panel{
			Title: m.Title(),
			X:     Axis{Label: m.Title(), Unit: "ms", Scale: Log},
			Y:     Axis{Label: "share of " + m.unit() + "s", Unit: "%", Scale: Linear, Max: 100},
		}
		if beyond {
			p.Y = Axis{Label: "share of " + m.unit() + "s that are longer", Unit: "%", Scale: Log, Max: 100}
		}
		for i := range runs {
			r := &runs[i]
			buckets := r.Latencies.of(m).Buckets()
			d := r.distribution(m)
			if !d.OK {
				continue
			}
			s := distribution(buckets, d.Count, beyond)
			s.Label, s.Role, s.Index = r.Name, RoleRun, i
			p.Series = append(p.Series, s)
			p.Marks = append(p.Marks, percentiles(&d, "x", i)...)
			counts[i].add(analysis.Counted(d.Count, m.unit()), m.Title())
			said = append(said, tailText(r, m, &d))
		}
		if len(runs) > 0 {
			p.Marks = append(p.Marks, runs[0].limits(m)...)
		}
		fit(&p, beyond)
		f.Panels = append(f.Panels, p)
	}
	var words []string
	for i := range runs {
		words = append(words, of(runs[i].Name)+counts[i].String())
	}
	f.Caption = strings.Join(words, "; ") + "."
	f.Text = sentences(said...)
	return f
}

// tallies says of which metrics there are how many values.
type tallies struct {
	counts []string
	of     map[string][]string
}

// add says that there are so many of a metric.
func (t *tallies) add(count, metric string) {
	if t.of == nil {
		t.of = map[string][]string{}
	}
	if t.of[count] == nil {
		t.counts = append(t.counts, count)
	}
	t.of[count] = append(t.of[count], metric)
}

// String lists the counts, each with its metrics.
func (t *tallies) String() string {
	if len(t.counts) == 0 {
		return "no data"
	}
	var words []string
	for _, c := range t.counts {
		words = append(words, c+" ("+strings.Join(t.of[c], ", ")+")")
	}
	return strings.Join(words, ", ")
}

// tailText says what the percentiles of m are.
func tailText(r *Run, m Metric, d *analysis.Distribution) string {
	words := fmt.Sprintf("%s%s of %s", of(r.Name), m.Title(), analysis.Counted(d.Count, m.unit()))
	for _, mark := range percentiles(d, "x", 0) {
		words += ", " + mark.Label
	}
	return words + "."
}

// distribution returns the curve of n values in buckets: in each the values are spread
// evenly, between them are none.
func distribution(buckets []analysis.Bucket, n int64, beyond bool) Series {
	s := Series{Shape: Line}
	at := func(d sim.Duration, below int64) {
		share := 100 * float64(below) / float64(n)
		if beyond {
			share = 100 * float64(n-below) / float64(n)
		}
		if x := d.Milliseconds(); x > 0 && (share > 0 || !beyond) {
			s.X, s.Y = append(s.X, x), append(s.Y, share)
		}
	}
	below := int64(0)
	for i, b := range buckets {
		if i == 0 || b.Low > buckets[i-1].High+1 {
			at(b.Low, below)
		}
		below += b.Count
		at(b.High, below)
	}
	if beyond && len(buckets) > 0 { // down to the last value that is longer than others
		at(buckets[len(buckets)-1].High, n-1)
	}
	y := s.Y
	if beyond {
		y = logs(s.Y)
	}
	keep := trace(logs(s.X), y)
	s.X, s.Y = pick(s.X, keep), pick(s.Y, keep)
	return s
}

// logs returns the logarithms of v.
func logs(v []float64) []float64 {
	out := make([]float64, len(v))
	for i, x := range v {
		out[i] = portable.Log(x)
	}
	return out
}

// percentiles returns marks of P50, P99 and P99.9 of d, as far as there are values
// beyond them, and of the largest value.
func percentiles(d *analysis.Distribution, on string, run int) []Mark {
	var marks []Mark
	add := func(kind MarkKind, name string, v sim.Duration) {
		x := v.Milliseconds()
		if x > 0 {
			marks = append(marks, Mark{Kind: kind, Label: name + " " + number(x) + " ms", On: on, Value: x, Index: run})
		}
	}
	for _, q := range d.Quantiles {
		if q.P.Fraction() == 0.5 || float64(d.Count)*(1-q.P.Fraction()) >= 1 {
			add(Percentile, percentileName(q.P), q.Value)
		}
	}
	add(Worst, "worst", d.Max)
	return marks
}

// fit sets the ranges of the axes of p to what is drawn.
func fit(p *Panel, beyond bool) {
	lo, hi, least := math.Inf(1), 0.0, 100.0
	for _, s := range p.Series {
		for i, x := range s.X {
			lo, hi = min(lo, x), max(hi, x)
			if y := s.Y[i]; y > 0 {
				least = min(least, y)
			}
		}
	}
	for _, m := range p.Marks {
		hi = max(hi, m.Value)
		if m.Kind == Limit {
			lo = min(lo, m.Value)
		}
	}
	switch {
	case hi-lo <= narrow*hi && hi > 0:
		lo, hi = lo/2, hi*2
	case lo > hi:
		lo, hi = 1, 10
	}
	p.X.Min, p.X.Max = roomy(lo, hi)
	if beyond {
		p.Y.Min = least
		if p.Y.Min >= p.Y.Max {
			p.Y.Min = p.Y.Max / 10
		}
	}
}

// roomy returns a range of a logarithmic axis with a little room around lo and hi.
func roomy(lo, hi float64) (least, most float64) {
	room := math.Sqrt(math.Sqrt(math.Sqrt(math.Sqrt(hi / lo)))) // a 16th of it
	room = max(1.02, min(room, 1.5))
	return lo / room, hi * room
}
