package perfetto

import (
	"fmt"
	"slices"
	"strconv"
	"strings"

	"servesim/analysis"
	"servesim/sim"
)

// A Choice says which part of a run is drawn.
type Choice struct {
	// Text is the choice as ParseChoice reads it.
	Text string

	ranges []Window
	worst  int  // of each limit, if no range is given
	always bool // that many even of a run that is short
	whole  bool
}

// A Window is a part of a run's time: From ≤ t < To.
type Window struct {
	From, To sim.Time
	// Why says what is there, empty if a person asked for it.
	Why string
}

// The choices that aren't ranges of time.
const (
	choiceAuto  = "auto"
	choiceAll   = "all"
	choiceWorst = "worst"
)

// worstOf is the number of requests of each limit around which a run is drawn.
const worstOf = 3

// mostWorst bounds that number.
const mostWorst = 64

// ParseChoice reads which part of a run to draw: "all", ranges of time such as
// "100s-160s,5m-5m10s", "worst=N" for the lives of the N requests that did worst by
// each limit, "worst" for three, and "auto", which is all of a run that is short and
// "worst" of others.
func ParseChoice(text string) (Choice, error) {
	c := Choice{Text: text, worst: worstOf}
	name, n, counted := strings.Cut(text, "=")
	switch {
	case text == choiceAuto:
		return c, nil
	case text == choiceAll:
		c.whole = true
		return c, nil
	case name == choiceWorst:
		c.always = true
		if !counted {
			return c, nil
		}
		var err error
		if c.worst, err = strconv.Atoi(n); err != nil || c.worst < 1 || c.worst > mostWorst {
			return c, fmt.Errorf("%q: found %q requests of each limit; it is a number from 1 to %d", text, n, mostWorst)
		}
		return c, nil
	}
	for _, part := range strings.Split(text, ",") {
		w, err := parseWindow(part)
		if err != nil {
			return c, fmt.Errorf("%q: %w", text, err)
		}
		c.ranges = append(c.ranges, w)
	}
	c.ranges = merged(c.ranges)
	return c, nil
}

// parseWindow reads one range of time.
func parseWindow(text string) (w Window, err error) {
	from, to, ok := strings.Cut(text, "-")
	if !ok {
		return w, fmt.Errorf("%q is no range of time; write auto, all, worst, worst=N, or ranges such as 100s-160s", text)
	}
	a, err := sim.ParseDuration(from)
	if err != nil {
		return w, err
	}
	b, err := sim.ParseDuration(to)
	if err != nil {
		return w, err
	}
	if a >= b {
		return w, fmt.Errorf("%q ends before it begins; write the earlier time first", text)
	}
	return Window{From: sim.Time(a), To: sim.Time(b)}, nil
}

// Twice tells that the run must be seen once before it is written.
func (c *Choice) Twice() bool { return !c.whole && c.ranges == nil }

// Plan returns the parts that c says without a look at the run.
func (c *Choice) Plan() Plan { return Plan{Windows: c.ranges} }

// A Plan is the parts of a run that are drawn.
type Plan struct {
	// Windows are in order and don't overlap; the whole run is drawn if there is none.
	Windows []Window
}

// merged returns windows in order, those that meet made one.
func merged(list []Window) []Window {
	slices.SortStableFunc(list, func(a, b Window) int { return int(min(1, max(-1, a.From-b.From))) })
	var out []Window
	for _, w := range list {
		if n := len(out); n > 0 && w.From <= out[n-1].To {
			last := &out[n-1]
			last.To = max(last.To, w.To)
			if w.Why != "" {
				last.Why += "; " + w.Why
			}
			continue
		}
		out = append(out, w)
	}
	return out
}

// next returns the first window that ends after t, or one that never comes.
func (p *Plan) next(t sim.Time) Window {
	if len(p.Windows) == 0 {
		return Window{To: sim.MaxTime}
	}
	i, _ := slices.BinarySearchFunc(p.Windows, t, func(w Window, t sim.Time) int {
		if w.To > t {
			return 1
		}
		return -1
	})
	if i == len(p.Windows) {
		return Window{From: sim.MaxTime, To: sim.MaxTime}
	}
	return p.Windows[i]
}

// overlaps tells whether a part of the run from one instant up to another, or the
// instant if they are the same, is drawn.
func (p *Plan) overlaps(from, to sim.Time) bool {
	w := p.next(from)
	return w.From < to || w.From <= from
}

// limits returns the limits that requests are ranked by: those of slo on requests and
// on the run, each once.
func limits(slo *analysis.SLO) []analysis.Limit {
	var list []analysis.Limit
	add := func(l analysis.Limit) {
		if l.Objective == analysis.ITL { // of which a request has the longest
			l.Objective = analysis.MaxGap
		}
		list = append(list, l)
	}
	for _, l := range slo.Goodput {
		add(l)
	}
	for _, l := range slo.Run {
		add(l.Limit)
	}
	return list
}
