package figure

import (
	"fmt"
	"math"
	"slices"
	"strings"
)

// A pair is two columns of a table that are set against each other.
type pair struct {
	kind, title  string
	x, y         string // columns
	xAxis, yAxis Axis
	// better is 1 if more is better, -1 if less is, of x and of y.
	betterX, betterY float64
}

// Pareto returns the throughput of a GPU against the speed that a user sees: a point
// for each run, a line for each deployment, and those that no other beats in both.
func Pareto(t *Table) (*Figure, error) {
	return t.tradeoff(&pair{
		kind: "pareto", title: "Throughput of a GPU against the speed of an answer",
		x: "output_tokens_per_s_per_user", y: "output_tokens_per_s_per_gpu",
		xAxis:   Axis{Label: "speed of the median answer", Unit: "tokens/s/user", Scale: Linear},
		yAxis:   Axis{Label: "throughput", Unit: "tokens/s/GPU", Scale: Linear},
		betterX: 1, betterY: 1,
	})
}

// Cost returns what a million output tokens cost against P99 of a metric.
func Cost(t *Table, m Metric) (*Figure, error) {
	column := string(m)
	if m == E2E {
		column = "e2el"
	}
	return t.tradeoff(&pair{
		kind: "cost", title: "Cost against P99 of " + m.Title(),
		x: column + "_p99_ms", y: "usd_per_million_output_tokens",
		xAxis:   Axis{Label: "P99 of " + m.Title(), Unit: "ms", Scale: Log},
		yAxis:   Axis{Label: "a million output tokens", Unit: "US dollars", Scale: Log},
		betterX: -1, betterY: -1,
	})
}

// ChunkFrontier returns P99 of TTFT against P99 of ITL over the budgets of a step: what
// a smaller chunk gains between tokens, and what it costs before the first.
func ChunkFrontier(t *Table) (*Figure, error) {
	if i, ok := t.axis("max_num_batched_tokens"); !ok || t.follows(i, -1) {
		return nil, fmt.Errorf("%s: chunk-frontier shows what the token budget of a step changes, and the points don't differ in it; sweep over max_num_batched_tokens", t.Name)
	}
	return t.tradeoff(&pair{
		kind: "chunk-frontier", title: "P99 of TTFT against P99 of ITL over chunk budgets",
		x: "itl_p99_ms", y: "ttft_p99_ms",
		xAxis:   Axis{Label: "P99 of ITL", Unit: "ms", Scale: Log},
		yAxis:   Axis{Label: "P99 of TTFT", Unit: "ms", Scale: Log},
		betterX: -1, betterY: -1,
	})
}

// along returns the axis along which points are joined: the budget of a chunk frontier,
// otherwise the rate, otherwise the last.
func (t *Table) along(kind string) (int, bool) {
	names := []string{"rate_per_s", "max_num_batched_tokens", "max_num_seqs"}
	if kind == "chunk-frontier" {
		names = names[1:]
	}
	for _, name := range names {
		if i, ok := t.axis(name); ok && !t.follows(i, -1) {
			return i, true
		}
	}
	return len(t.Axes) - 1, len(t.Axes) > 0
}

// tradeoff returns the figure of a pair.
func (t *Table) tradeoff(p *pair) (*Figure, error) {
	along, ok := t.along(p.kind)
	if !ok {
		return nil, fmt.Errorf("%s: %s shows a point for each of several runs; sweep over a key", t.Name, p.kind)
	}
	groups, err := t.groups(p.kind, along)
	if err != nil {
		return nil, err
	}
	panel := Panel{X: p.xAxis, Y: p.yAxis}
	name := t.Axes[along]
	name = name[strings.LastIndexByte(name, '.')+1:]
	for i, g := range groups {
		s := Series{Label: g.name, Role: RoleRun, Index: i, Shape: Line}
		for _, r := range g.rows {
			x, okX := r.Values[p.x]
			y, okY := r.Values[p.y]
			if okX && okY {
				s.X, s.Y, s.Notes = append(s.X, x), append(s.Y, y), append(s.Notes, name+" "+r.Axes[along])
				s.Tags = append(s.Tags, r.Axes[along])
			}
		}
		if len(s.X) > 0 {
			panel.Series = append(panel.Series, s)
		}
	}
	if len(panel.Series) == 0 {
		return nil, fmt.Errorf("%s: %s needs the columns %s and %s, and no point has data in both", t.Name, p.kind, p.x, p.y)
	}
	var said []string
	for _, s := range panel.Series {
		last := len(s.X) - 1
		said = append(said, fmt.Sprintf("%sfrom %s %s and %s %s at %s to %s and %s at %s.", of(s.Label),
			number(s.X[0]), p.xAxis.Unit, number(s.Y[0]), p.yAxis.Unit, s.Notes[0], number(s.X[last]), number(s.Y[last]), s.Notes[last]))
	}
	f := &Figure{Kind: p.kind, Title: p.title, Panels: []Panel{panel}, Columns: 1}
	f.Caption = t.caption() + " Points are joined by " + name + "."
	if p.kind != "chunk-frontier" || len(groups) == 1 { // rates and GPUs are no choice of chunks
		best := frontier(panel.Series, p)
		f.Panels[0].Series = append(f.Panels[0].Series, best)
		f.Caption += " Ringed are those that no other equals in one and beats by 1 % in the other."
		said = append(said, "Not beaten in both are "+strings.Join(best.Notes, "; ")+".")
	}
	align(f.Panels)
	tight(&f.Panels[0])
	f.Text = sentences(said...)
	return f.complete(), nil
}

// margin is by how much, as a share, a point has to be better for it to count.
const margin = 0.01

// tight sets the ranges of linear axes to the points, with a little room: what matters
// is how points lie to each other, not how far from nothing.
func tight(p *Panel) {
	set := func(a *Axis, of func(*Series) []float64) {
		if a.Scale != Linear {
			return
		}
		lo, hi := math.Inf(1), math.Inf(-1)
		for i := range p.Series {
			for _, v := range of(&p.Series[i]) {
				lo, hi = min(lo, v), max(hi, v)
			}
		}
		if room := float64((hi - lo) * 0.08); hi-lo > narrow*hi {
			a.Min, a.Max = max(min(0, lo), lo-room), hi+room
		}
	}
	set(&p.X, func(s *Series) []float64 { return s.X })
	set(&p.Y, func(s *Series) []float64 { return s.Y })
}

// frontier returns, in order of x, the best first, the points of series that no other
// equals in x and beats in y by the margin.
func frontier(series []Series, p *pair) Series {
	best := Series{Label: "not beaten in both", Role: RoleBest, Shape: Dots}
	type point struct {
		x, y float64
		note string
	}
	var points []point
	for _, s := range series {
		for i := range s.X {
			note := s.Notes[i]
			if s.Label != "" {
				note = s.Label + ", " + note
			}
			points = append(points, point{s.X[i], s.Y[i], note})
		}
	}
	slices.SortStableFunc(points, func(a, b point) int {
		switch x, y := (b.x-a.x)*p.betterX, (b.y-a.y)*p.betterY; {
		case x < 0 || x == 0 && y < 0:
			return -1
		case x > 0 || y > 0:
			return 1
		}
		return 0
	})
	most := math.Inf(-1)
	for _, q := range points { // the best x first
		if y := q.y * p.betterY; y > most+float64(margin*math.Abs(most)) || math.IsInf(most, -1) {
			most = y
			best.X, best.Y, best.Notes = append(best.X, q.x), append(best.Y, q.y), append(best.Notes, q.note)
		}
	}
	return best
}
