package figure

import (
	"cmp"
	"fmt"
	"slices"
	"strings"

	"servesim/analysis"
	"servesim/analysis/blame"
	"servesim/sim"
)

// Blame returns what latencies were spent on, in the mean of the requests about the
// median of a metric and of the slowest hundredth: a panel for each metric of TTFT, TPOT,
// the worst gap and E2E in metrics, a pair of bars for each run.
func Blame(metrics []Metric, runs []Run) *Figure {
	f := &Figure{Kind: "blame", Title: "What latencies were spent on, at the median and in the tail", Columns: min(2, len(metrics))}
	medians, tails := make([]extent, len(runs)), make([]extent, len(runs))
	var said []string
	for _, m := range metrics {
		p := Panel{Title: m.Title(), X: Axis{Label: m.Title(), Unit: "ms", Scale: Linear}, Y: Axis{Scale: Names}}
		stacks := make([]Series, blame.Causes)
		for i := range runs {
			r := &runs[i]
			bands := r.bands(m)
			if bands == nil {
				continue
			}
			p.stack(stacks, strings.TrimSpace(r.Name+" median"), &bands.Middle)
			p.stack(stacks, strings.TrimSpace(r.Name+" tail"), &bands.Tail)
			medians[i].take(bands.Middle.Count)
			tails[i].take(bands.Tail.Count)
			said = append(said, fmt.Sprintf("%s%s at the median is %s; in the tail %s.", of(r.Name), m.Title(), partsText(&bands.Middle), partsText(&bands.Tail)))
		}
		for _, s := range stacks {
			if len(s.X) > 0 {
				p.Series = append(p.Series, s)
			}
		}
		p.bars()
		f.Panels = append(f.Panels, p)
	}
	var counts []string
	for i := range runs {
		counts = append(counts, fmt.Sprintf("%smedians of %s requests, tails of %s", of(runs[i].Name), &medians[i], &tails[i]))
	}
	f.Caption = "Means of the fifth of the requests about the median and of the slowest hundredth. " + strings.Join(counts, "; ") + "."
	f.Text = sentences(said...)
	return f.complete()
}

// An extent is the least and the most of some numbers.
type extent struct{ least, most int64 }

// take makes e hold n.
func (e *extent) take(n int64) {
	if e.most == 0 || n < e.least {
		e.least = n
	}
	e.most = max(e.most, n)
}

// String writes the numbers, or the one.
func (e *extent) String() string {
	if e.least == e.most {
		return analysis.Grouped(e.least)
	}
	return analysis.Grouped(e.least) + " to " + analysis.Grouped(e.most)
}

// bands returns those of m, nil if there are none.
func (r *Run) bands(m Metric) *blame.Bands {
	if r.History == nil || r.History.report == nil {
		return nil
	}
	for i := range r.History.report.Bands {
		b := &r.History.report.Bands[i]
		if metricOf(b.Metric) == m && b.All.Count > 0 {
			return b
		}
	}
	return nil
}

// metricOf returns what package blame calls m.
func metricOf(m blame.Metric) Metric {
	switch m {
	case blame.TTFT:
		return TTFT
	case blame.TPOT:
		return TPOT
	case blame.WorstGap:
		return WorstGap
	}
	return E2E
}

// stack adds a bar of the parts of b to the series of each cause.
func (p *Panel) stack(stacks []Series, name string, b *blame.Band) {
	at := float64(len(p.Y.Names))
	p.Y.Names = append(p.Y.Names, name)
	upTo := sim.Duration(0)
	for c, part := range b.Parts {
		if part == 0 {
			continue
		}
		s := &stacks[c]
		s.Label, s.Role, s.Index, s.Shape = blame.Cause(c).String(), RoleCause, c, Bars
		s.X, s.Y = append(s.X, part.Milliseconds()), append(s.Y, at)
		s.Low = append(s.Low, upTo.Milliseconds())
		upTo += part
		s.High = append(s.High, upTo.Milliseconds())
	}
}

// bars sets the ranges of a panel of bars.
func (p *Panel) bars() {
	most := 0.0
	for _, s := range p.Series {
		most = max(most, highest(s.High))
	}
	if most == 0 {
		most = 1
	}
	p.X.Min, p.X.Max = 0, most+float64(most*0.04)
	p.Y.Min, p.Y.Max = -0.5, float64(max(1, len(p.Y.Names)))-0.5
}

// partsText says what the largest parts of a band are.
func partsText(b *blame.Band) string {
	order := make([]int, 0, len(b.Parts))
	for c, part := range b.Parts {
		if part > 0 {
			order = append(order, c)
		}
	}
	slices.SortStableFunc(order, func(a, c int) int { return cmp.Compare(b.Parts[c], b.Parts[a]) })
	var words []string
	for _, c := range order[:min(3, len(order))] {
		words = append(words, fmt.Sprintf("%s %s ms", blame.Cause(c), number(b.Parts[c].Milliseconds())))
	}
	return number(b.Mean.Milliseconds()) + " ms (" + strings.Join(words, ", ") + ")"
}
