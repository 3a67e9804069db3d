package figure

import (
	"cmp"
	"fmt"
	"math"
	"slices"
	"strconv"
	"strings"

	"servesim/analysis"
)

// needRate is what a figure against the rate says of a table without one.
const needRate = "%s: %s shows results against the request rate, and the points don't differ in it; sweep over rate_per_s, or give what servesim capacity --json wrote"

// Hockeystick returns percentiles of each of metrics, of TTFT and TPOT if nil, against
// the request rate, with their 95 % intervals where the table has them: P50, P90 and
// P99 of one deployment, or P99 of each of several.
func Hockeystick(t *Table, metrics []Metric) (*Figure, error) {
	if metrics == nil {
		metrics = []Metric{TTFT, TPOT}
	}
	rate, groups, err := t.byRate("hockeystick")
	if err != nil {
		return nil, err
	}
	f := &Figure{Kind: "hockeystick", Title: "Latency against request rate", Columns: min(2, len(metrics))}
	var said []string
	for _, m := range metrics {
		p := Panel{Title: m.Title(), X: rateAxis(), Y: Axis{Label: m.Title(), Unit: "ms", Scale: Log}, Marks: t.Marks}
		column := map[Metric]string{E2E: "e2el"}[m]
		column = cmp.Or(column, string(m))
		for i, g := range groups {
			levels := []string{"p50", "p90", "p99"}
			if len(groups) > 1 {
				levels = levels[2:]
			}
			for k, level := range levels {
				s := g.line(rate, column+"_"+level, "_ms")
				if len(s.X) == 0 {
					continue
				}
				s.Label, s.Role, s.Index = strings.ToUpper(level), RolePercentile, k
				if len(groups) > 1 {
					s.Label, s.Role, s.Index = g.name, RoleRun, i
				}
				p.Series = append(p.Series, s)
				said = append(said, fmt.Sprintf("%s%s of %s goes from %s ms at %s requests/s to %s ms at %s.", of(g.name), strings.ToUpper(level), m.Title(),
					number(s.Y[0]), number(s.X[0]), number(s.Y[len(s.Y)-1]), number(s.X[len(s.X)-1])))
			}
		}
		if len(p.Series) == 0 {
			return nil, fmt.Errorf("%s: no point has percentiles of %s", t.Name, m.Title())
		}
		if len(groups) > 1 {
			p.Y.Label = "P99 of " + m.Title()
		}
		f.Panels = append(f.Panels, p)
	}
	f.withRates(t, said)
	return f.complete(), nil
}

// Goodput returns the share of good requests, and the good requests per second, against
// the request rate.
func Goodput(t *Table) (*Figure, error) {
	rate, groups, err := t.byRate("goodput")
	if err != nil {
		return nil, err
	}
	f := &Figure{Kind: "goodput", Title: "Goodput against request rate", Columns: 2}
	shares := Panel{Title: "good requests", X: rateAxis(), Y: Axis{Label: "share of requests that are good", Unit: "%", Scale: Linear}, Marks: t.Marks}
	rates := Panel{Title: "goodput", X: rateAxis(), Y: Axis{Label: "good requests", Unit: "requests/s", Scale: Linear}, Marks: t.Marks}
	var said []string
	for i, g := range groups {
		s, r := g.line(rate, "goodput_share", ""), g.line(rate, "goodput_requests_per_s", "")
		if len(s.X) == 0 {
			continue
		}
		for _, v := range [][]float64{s.Y, s.Low, s.High} {
			for k := range v {
				v[k] *= 100
			}
		}
		s.Label, s.Role, s.Index, r.Label, r.Role, r.Index = g.name, RoleRun, i, g.name, RoleRun, i
		shares.Series, rates.Series = append(shares.Series, s), append(rates.Series, r)
		said = append(said, fmt.Sprintf("%sfrom %s %% good at %s requests/s to %s %% at %s; at most %s good requests/s.", of(g.name),
			number(s.Y[0]), number(s.X[0]), number(s.Y[len(s.Y)-1]), number(s.X[len(s.X)-1]), number(highest(r.Y))))
	}
	if len(shares.Series) == 0 {
		return nil, fmt.Errorf("%s: no point has goodput; give the scenarios limits, such as goodput = \"ttft:500 tpot:25\", and sweep again", t.Name)
	}
	f.Panels = []Panel{shares, rates}
	f.withRates(t, said)
	lowest := 100.0
	for _, s := range f.Panels[0].Series {
		lowest = min(lowest, slices.Min(s.Y))
		if s.Low != nil {
			lowest = min(lowest, slices.Min(s.Low))
		}
	}
	f.Panels[0].Y.Min, f.Panels[0].Y.Max = max(0, float64(math.Floor(lowest/10)*10)-1), 100.5
	return f.complete(), nil
}

// rateAxis returns the axis of request rates.
func rateAxis() Axis { return Axis{Label: "request rate", Unit: "requests/s", Scale: Linear} }

// byRate returns the axis of rates, and the rows by all others; those of seeds are
// taken together.
func (t *Table) byRate(kind string) (rate int, groups []group, err error) {
	rate, ok := t.axis("rate_per_s")
	if !ok || t.follows(rate, -1) {
		return 0, nil, fmt.Errorf(needRate, t.Name, kind)
	}
	except := []int{rate}
	if seed, ok := t.axis("seed"); ok {
		except = append(except, seed)
	}
	groups, err = t.groups(kind, except...)
	return rate, groups, err
}

// line returns the values of a column over an axis of numbers, with their intervals:
// the mean of rows that have the same place on it, without an interval then.
func (g *group) line(axis int, column, unit string) Series {
	s := Series{Shape: Line}
	type point struct {
		x, y, low, high float64
		n               int
		interval        bool
	}
	var points []point
	for _, r := range g.rows {
		x, err := strconv.ParseFloat(r.Axes[axis], 64)
		y, ok := r.Values[column+unit]
		if err != nil || !ok {
			continue
		}
		low, hasLow := r.Values[column+"_low"+unit]
		high, hasHigh := r.Values[column+"_high"+unit]
		points = append(points, point{x, y, low, high, 1, hasLow && hasHigh})
	}
	slices.SortStableFunc(points, func(a, b point) int { return cmp.Compare(a.x, b.x) })
	merged := points[:0]
	for _, p := range points {
		if n := len(merged); n > 0 && merged[n-1].x == p.x {
			m := &merged[n-1]
			m.y, m.n, m.interval = m.y+p.y, m.n+1, false
			continue
		}
		merged = append(merged, p)
	}
	intervals := true
	for _, p := range merged {
		intervals = intervals && p.interval
	}
	for _, p := range merged {
		s.X, s.Y = append(s.X, p.x), append(s.Y, p.y/float64(p.n))
		if intervals {
			s.Low, s.High = append(s.Low, p.low), append(s.High, p.high)
		}
	}
	return s
}

// withRates sets ranges and words of a figure against the rate.
func (f *Figure) withRates(t *Table, said []string) {
	sameTime(f.Panels)
	f.Caption = t.caption()
	f.Text = sentences(said...)
}

// caption says how many runs a table is of.
func (t *Table) caption() string {
	fewest, most := 0.0, 0.0
	for i, r := range t.Rows {
		n := r.Values["requests"]
		if i == 0 || n < fewest {
			fewest = n
		}
		most = max(most, n)
	}
	each := number(fewest)
	if most > fewest {
		each += " to " + number(most)
	}
	return fmt.Sprintf("%s of %s requests each.", analysis.Counted(int64(len(t.Rows)), "run"), each)
}
