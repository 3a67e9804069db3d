package figure

import (
	"fmt"

	"servesim/analysis"
	"servesim/sim"
)

// State returns the queue, the running requests, the KV blocks in use and the
// preemptions over the time of the runs, a panel for each, a line for each run.
func State(runs []Run) *Figure {
	f := &Figure{Kind: "state", Title: "Queue, running requests, KV cache and preemptions", Columns: 1}
	panel := func(label, unit string) Panel {
		return Panel{X: Axis{Label: "time", Unit: "s", Scale: Linear}, Y: Axis{Label: label, Unit: unit, Scale: Linear}}
	}
	waiting, running := panel("waiting", "requests"), panel("running", "requests")
	blocks, preempted := panel("KV blocks in use", "blocks"), panel("preemptions", "")
	percent := true
	for i := range runs {
		percent = percent && (runs[i].History == nil || runs[i].History.kvBlocks > 0)
	}
	if percent {
		blocks.Y = Axis{Label: "KV cache in use", Unit: "%", Scale: Linear}
	}
	var counts, said []string
	for i := range runs {
		r := &runs[i]
		h := r.History
		if h == nil {
			continue
		}
		unit := 1.0
		if percent {
			unit = 100 / float64(h.kvBlocks)
		}
		w, u, b := h.waiting.series(r.Name, i, 1), h.running.series(r.Name, i, 1), h.blocks.series(r.Name, i, unit)
		for _, s := range []*Series{&w, &u, &b} {
			s.thinned(share(len(runs)))
		}
		waiting.Series, running.Series, blocks.Series = append(waiting.Series, w), append(running.Series, u), append(blocks.Series, b)
		e, n := h.evictions(r.Name, i)
		e.thinned(share(len(runs)))
		if n > 0 {
			preempted.Series = append(preempted.Series, e)
		}
		counts = append(counts, fmt.Sprintf("%s%s, %s, %s; each point is the mean of %s s.", of(r.Name),
			analysis.Counted(r.Latencies.Requests, "request"), analysis.Counted(h.steps, "step"), analysis.Counted(n, "preemption"), number(h.running.width.Seconds())))
		said = append(said, fmt.Sprintf("%sat most %s requests wait, %s run and %s of %s are in use.", of(r.Name),
			number(highest(w.Y)), number(highest(u.Y)), number(highest(b.Y))+map[bool]string{true: " %", false: ""}[percent], map[bool]string{true: "the KV cache", false: "the KV blocks"}[percent]))
	}
	f.Panels = []Panel{waiting, running, blocks}
	if len(preempted.Series) > 0 {
		f.Panels = append(f.Panels, preempted)
	}
	sameTime(f.Panels)
	f.Caption, f.Text = sentences(counts...), sentences(said...)
	return f.complete()
}

// series returns the level of a run over time, in units of 1/unit.
func (l *level) series(name string, index int, unit float64) Series {
	x, y := l.means()
	for i := range y {
		y[i] *= unit
	}
	return Series{Label: name, Role: RoleRun, Index: index, Shape: Line, X: x, Y: y}
}

// thinned leaves at most so many points, none of which has more than its place.
func (s *Series) thinned(most int) {
	keep := thin(s.X, s.Y, most)
	s.X, s.Y = pick(s.X, keep), pick(s.Y, keep)
}

// evictions returns the preemptions of each cell, and of all.
func (h *History) evictions(name string, index int) (s Series, all int64) {
	s = Series{Label: name, Role: RoleRun, Index: index, Shape: Stems}
	g := &h.preempted
	for i, n := range g.cells {
		if n > 0 {
			s.X, s.Y = append(s.X, g.middle(i)), append(s.Y, float64(n))
			all += n
		}
	}
	return s, all
}

// highest returns the largest of v, 0 if it is empty.
func highest(v []float64) float64 {
	most := 0.0
	for _, x := range v {
		most = max(most, x)
	}
	return most
}

// sameTime gives panels the same axis of time, and each its own of values.
func sameTime(panels []Panel) {
	var values []Axis
	for i := range panels {
		align(panels[i : i+1])
		values = append(values, panels[i].Y)
	}
	align(panels)
	for i := range panels {
		panels[i].Y = values[i]
	}
}

// Batch returns what the engine did in each step around the longest gap of each run:
// the tokens of prompts and of answers, and how long the step took.
func Batch(runs []Run) *Figure {
	f := &Figure{Kind: "batch", Title: "Steps around the longest gap between tokens"}
	var tokens, times []Panel
	var counts, said []string
	for i := range runs {
		r := &runs[i]
		if r.History == nil || len(r.History.around.steps) == 0 {
			continue
		}
		a := &r.History.around
		top, bottom := a.panels(r.Name)
		tokens, times = append(tokens, top), append(times, bottom)
		counts = append(counts, fmt.Sprintf("%s%s around the longest gap of %s ms, which ends %s s into the run.", of(r.Name),
			analysis.Counted(int64(len(a.steps)), "step"), number(a.gap.Milliseconds()), number(a.end.Seconds())))
		said = append(said, fmt.Sprintf("%sthe longest of these steps takes %s ms; the largest computes %s tokens of prompts.", of(r.Name),
			number(highest(bottom.Series[0].Y)), number(float64(a.most()))))
	}
	align(tokens)
	align(times)
	for i := range tokens {
		x := &tokens[i].X
		x.Min, x.Max = min(x.Min, times[i].X.Min), max(x.Max, times[i].X.Max)
		times[i].X = *x
	}
	f.Panels, f.Columns = append(tokens, times...), max(1, len(tokens))
	f.Caption, f.Text = sentences(counts...), sentences(said...)
	return f.complete()
}

// most returns the most tokens of prompts that one of the steps computes.
func (a *around) most() int64 {
	most := int64(0)
	for _, s := range a.steps {
		most = max(most, s.prefill)
	}
	return most
}

// panels returns the tokens and the lengths of the steps.
func (a *around) panels(name string) (tokens, times Panel) {
	x := Axis{Label: "time from the end of the gap", Unit: "s", Scale: Linear}
	tokens = Panel{Title: name, X: x, Y: Axis{Label: "tokens of a step", Unit: "tokens", Scale: Log}}
	times = Panel{X: x, Y: Axis{Label: "step time", Unit: "ms", Scale: Linear}}
	prefill := Series{Label: "prefill", Role: RolePrefill, Shape: Stems}
	decode := Series{Label: "decode", Role: RoleDecode, Shape: Stems}
	lasts := Series{Label: "step time", Role: RoleUsual, Index: 1, Shape: Steps}
	for _, s := range a.steps {
		middle := s.start.Add(s.lasts / 2).Sub(a.end).Seconds()
		if s.prefill > 0 {
			prefill.X, prefill.Y = append(prefill.X, middle), append(prefill.Y, float64(s.prefill))
		}
		if s.decodes > 0 {
			decode.X, decode.Y = append(decode.X, middle), append(decode.Y, float64(s.decodes))
		}
		lasts.X, lasts.Y = append(lasts.X, s.start.Sub(a.end).Seconds()), append(lasts.Y, s.lasts.Milliseconds())
	}
	if n := len(a.steps); n > 0 { // the end of the last
		last := a.steps[n-1]
		lasts.X, lasts.Y = append(lasts.X, sim.Time(last.start).Add(last.lasts).Sub(a.end).Seconds()), append(lasts.Y, last.lasts.Milliseconds())
	}
	for _, s := range []Series{prefill, decode} {
		if len(s.X) > 0 {
			tokens.Series = append(tokens.Series, s)
		}
	}
	times.Series = []Series{lasts}
	return tokens, times
}
