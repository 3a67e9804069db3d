package figure

import (
	"fmt"
	"math"
	"strings"

	"servesim/analysis"
	"servesim/sim"
)

// Timeline returns the gaps between tokens over the time of the run, a panel for each
// run with a history, all with the same axes: of each cell of time the longest
// of each class, so that every stall shows whose prompt it is due to.
func Timeline(runs []Run) *Figure {
	f := &Figure{Kind: "timeline", Title: "Gaps between tokens, and the prompts that made them long", Columns: 1}
	var counts, said []string
	for i := range runs {
		if r := &runs[i]; r.History != nil {
			f.Panels = append(f.Panels, timelineOf(r, i, share(len(runs))))
			counts = append(counts, gapCounts(r))
			said = append(said, gapText(r))
		}
	}
	align(f.Panels)
	f.Caption = sentences(counts...)
	f.Text = sentences(said...)
	return f.complete()
}

// timelineOf returns the panel of one run, each class with at most so many points.
func timelineOf(r *Run, index, most int) Panel {
	h := r.History
	p := Panel{
		Title: r.Name,
		X:     Axis{Label: "time", Unit: "s", Scale: Linear},
		Y:     Axis{Label: "gap between tokens", Unit: "ms", Scale: Log},
	}
	for class := range classes {
		if s := h.gaps.longest(class, most); len(s.X) > 0 {
			p.Series = append(p.Series, s)
		}
	}
	if d := r.distribution(ITL); d.OK {
		p.Marks = percentiles(&d, "y", index)
		p.Marks = p.Marks[1:] // but the median
	}
	for _, m := range r.limits(ITL) {
		m.On = "y"
		p.Marks = append(p.Marks, m)
	}
	return p
}

// longest returns the longest gap of a class in each cell, at most so many.
func (g *gaps) longest(class, most int) Series {
	s := Series{Label: classTitle(class), Shape: Dots, Role: RoleUsual}
	if class >= byPrompt {
		s.Role, s.Index = RoleStall, class-byPrompt
	}
	for i := range g.cells {
		one := &g.cells[i].longest[class]
		if one.length <= 0 {
			continue
		}
		s.X, s.Y = append(s.X, one.end.Seconds()), append(s.Y, one.length.Milliseconds())
		s.IDs, s.Notes = append(s.IDs, one.culprit), append(s.Notes, one.note())
	}
	keep := thin(s.X, logs(s.Y), most)
	s.X, s.Y, s.IDs, s.Notes = pick(s.X, keep), pick(s.Y, keep), pick(s.IDs, keep), pick(s.Notes, keep)
	return s
}

// note says what made a gap long.
func (g *gap) note() string {
	answers := analysis.Counted(int64(g.seqs), "answer")
	switch {
	case g.culprit >= 0:
		return fmt.Sprintf("%s waited for %s tokens of request %d's prompt of %s", answers, analysis.Grouped(int64(g.tokens)), g.culprit, analysis.Grouped(int64(g.prompt)))
	}
	return answers
}

// gapCounts says how many gaps the timeline of r rests on.
func gapCounts(r *Run) string {
	g := &r.History.gaps
	total, beside := int64(0), int64(0)
	for class, n := range g.count {
		total += n
		if class >= byPrompt && class < resumed {
			beside += n
		}
	}
	return fmt.Sprintf("%s%s, of which prompts of others made %s longer; each point is the longest of its kind in %s s.",
		of(r.Name), analysis.Counted(total, "gap"), analysis.Grouped(beside), number(g.width.Seconds()))
}

// gapText says how long gaps are, and how many.
func gapText(r *Run) string {
	d := r.distribution(ITL)
	if !d.OK {
		return of(r.Name) + "no gap between tokens."
	}
	words := tailText(r, ITL, &d)
	var beyond []string
	buckets := r.Latencies.of(ITL).Buckets()
	for _, ms := range []sim.Duration{50, 100, 200, 500, 1000} {
		if n := atLeast(buckets, ms*sim.Millisecond); n > 0 {
			beyond = append(beyond, fmt.Sprintf("%s of %d ms or more", analysis.Grouped(n), ms))
		}
	}
	if len(beyond) > 0 {
		words += " Of the gaps are " + strings.Join(beyond, ", ") + "."
	}
	if r.History != nil && r.History.around.gap > 0 {
		words += fmt.Sprintf(" The worst ends %s s into the run.", number(r.History.around.end.Seconds()))
	}
	return words
}

// atLeast returns the number of values of d or more.
func atLeast(buckets []analysis.Bucket, d sim.Duration) (n int64) {
	for _, b := range buckets {
		if b.Low >= d {
			n += b.Count
		}
	}
	return n
}

// align gives panels the same axes, with room for all that is drawn.
func align(panels []Panel) {
	x, y := span{math.Inf(1), math.Inf(-1)}, span{math.Inf(1), math.Inf(-1)}
	for _, p := range panels {
		for _, s := range p.Series {
			x.take(s.X...)
			y.take(s.Y...)
			if s.Shape == Line {
				y.take(s.Low...)
				y.take(s.High...)
			}
		}
		for _, m := range p.Marks {
			if m.On == "y" {
				y.take(m.Value)
			}
		}
	}
	for i := range panels {
		x.set(&panels[i].X)
		y.set(&panels[i].Y)
	}
}

// A span is a range of values.
type span struct{ lo, hi float64 }

// take makes s hold values.
func (s *span) take(values ...float64) {
	for _, v := range values {
		s.lo, s.hi = min(s.lo, v), max(s.hi, v)
	}
}

// narrow is the width of a range, as a share of its values, below which it shows one.
const narrow = 1e-6

// set gives an axis the range of s.
func (s *span) set(a *Axis) {
	lo, hi := s.lo, s.hi
	switch {
	case lo > hi:
		lo, hi = 1, 10
	case hi-lo <= narrow*hi:
		lo, hi = lo/2, hi*1.5
		if lo == 0 {
			hi = 1
		}
	}
	switch a.Scale {
	case Log:
		a.Min, a.Max = roomy(lo, hi)
	case Linear:
		a.Min, a.Max = min(0, lo), hi+float64((hi-min(0, lo))*0.04)
	}
}
