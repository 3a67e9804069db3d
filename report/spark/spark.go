package spark

import (
	"fmt"
	"io"
	"strings"

	"servesim/analysis"
	"servesim/internal/portable"
	"servesim/report"
	"servesim/report/figure"
)

// The sizes of pictures in characters: of a histogram and of an ECDF.
const (
	bars    = 48
	columns = 64
	rows    = 6
)

// A Glyphs is the characters of bars, from an empty one to a full one.
type Glyphs []string

// Blocks returns the block characters of Unicode, eighths of a line each.
func Blocks() Glyphs { return Glyphs{" ", "▁", "▂", "▃", "▄", "▅", "▆", "▇", "█"} }

// ASCII returns characters for terminals that have no others.
func ASCII() Glyphs { return Glyphs{" ", ".", ":", "-", "=", "+", "*", "#", "@"} }

// Write draws the latencies of a run: of each a histogram, and of TTFT and ITL the
// share of values that are at most so long, on logarithmic axes. The only errors are
// those of w.
func Write(w io.Writer, run figure.Run, g Glyphs) error {
	counts := map[string]int64{}
	for _, m := range run.Report.Metrics() {
		counts[m.Key] = m.Count
	}
	metrics := figure.Metrics()
	f := figure.ECDF(metrics, []figure.Run{run})
	var b, small strings.Builder
	fmt.Fprintf(&b, "%-9s  %8s %-*s %8s\n", "Shape, ms", "from", bars, "", "to")
	for i, m := range metrics {
		if len(f.Panels[i].Series) == 0 {
			fmt.Fprintf(&b, "%-9s  no data\n", m.Title())
			continue
		}
		c := newCurve(&f.Panels[i].Series[0])
		fmt.Fprintf(&b, "%-9s  %8s %s %8s\n", m.Title(), report.Number(c.low()), c.bars(g, float64(counts[string(m)])), report.Number(c.high()))
		if m == figure.TTFT || m == figure.ITL {
			what := "request"
			if m == figure.ITL {
				what = "gap"
			}
			fmt.Fprintf(&small, "\n%s: share of %s of at most so many ms\n%s", m.Title(), analysis.Counted(counts[string(m)], what), c.picture(g))
		}
	}
	b.WriteString("a bar is the share of a 48th of the range, on a logarithmic axis; the lowest is\none value or more\n")
	_, err := io.WriteString(w, b.String()+small.String())
	return err
}

// A curve is a share, in percent, over the logarithms of ms.
type curve struct{ ms, at, share []float64 }

// newCurve returns the curve of a series of an ECDF.
func newCurve(s *figure.Series) *curve {
	c := &curve{ms: s.X, share: s.Y}
	for _, x := range s.X {
		c.at = append(c.at, portable.Log(x))
	}
	return c
}

// low and high are the least and the largest latency in ms.
func (c *curve) low() float64  { return c.ms[0] }
func (c *curve) high() float64 { return c.ms[len(c.ms)-1] }

// edge returns the place of edge i of n parts.
func (c *curve) edge(i, n int) float64 {
	from, to := c.at[0], c.at[len(c.at)-1]
	share := float64(i) / float64(n)
	return from + float64((to-from)*share)
}

// below returns the share of values that are at most at a place.
func (c *curve) below(x float64) float64 {
	if x >= c.at[len(c.at)-1] {
		return 100
	}
	i := 0
	for i < len(c.at) && c.at[i] <= x {
		i++
	}
	if i == 0 {
		return 0
	}
	part := (x - c.at[i-1]) / (c.at[i] - c.at[i-1])
	return c.share[i-1] + float64(part*(c.share[i]-c.share[i-1]))
}

// bars returns a histogram of count values.
func (c *curve) bars(g Glyphs, count float64) string {
	var shares [bars]float64
	before, most := 0.0, 0.0
	for i := range shares {
		upTo := c.below(c.edge(i+1, bars))
		if i == bars-1 {
			upTo = 100
		}
		shares[i], before = upTo-before, upTo
		most = max(most, shares[i])
	}
	var b strings.Builder
	for _, s := range shares {
		level := 0
		if float64(s*count) >= 50 { // half a value: the curve is a thinned one
			level = max(1, int(float64(s*float64(len(g)-1))/most+0.5))
		}
		b.WriteString(g[level])
	}
	return b.String()
}

// picture returns the curve as columns under it, with its axes.
func (c *curve) picture(g Glyphs) string {
	var b strings.Builder
	for row := rows - 1; row >= 0; row-- {
		name := ""
		switch row {
		case rows - 1:
			name = "100 %"
		case 0:
			name = "0 %"
		}
		line := ""
		for i := range columns {
			steps := int(float64(c.below(c.edge(i+1, columns))*float64(rows*(len(g)-1))) / 100)
			line += g[min(max(steps-row*(len(g)-1), 0), len(g)-1)]
		}
		fmt.Fprintf(&b, "%7s  %s\n", name, strings.TrimRight(line, " "))
	}
	low, high := report.Number(c.low()), report.Number(c.high())
	fmt.Fprintf(&b, "%7s  %s%*s\n", "", low, columns-len(low), high)
	return b.String()
}
