package report

import (
	"fmt"
	"io"
	"math"
	"strconv"
	"strings"

	"servesim/analysis"
	"servesim/sim"
	"servesim/sim/observe"
)

// Text writes r for people: tables in milliseconds with their definitions,
// sample counts and warnings. The only errors are those of w.
func Text(w io.Writer, r *analysis.Report) error {
	var p page
	p.origin(&r.Header)
	p.overview(r)
	p.latencies(r)
	p.goodput(r.Goodput)
	p.engine(r)
	p.warnings(r.Warnings)
	return p.to(w)
}

// page is text in the making.
type page struct{ b strings.Builder }

// line writes one formatted line.
func (p *page) line(format string, args ...any) {
	p.b.WriteString(strings.TrimRight(fmt.Sprintf(format, args...), " "))
	p.b.WriteByte('\n')
}

// item writes a line that begins with a name.
func (p *page) item(name, format string, args ...any) {
	p.b.WriteString(Item(name, fmt.Sprintf(format, args...)))
}

// to writes the page to w.
func (p *page) to(w io.Writer) error {
	_, err := io.WriteString(w, p.b.String())
	return err
}

// origin says what the records came from.
func (p *page) origin(h *observe.Header) {
	if *h == (observe.Header{}) {
		return
	}
	p.item("Run", "%s", joined([]string{h.Model, h.Profile, h.Policy, "seed " + strconv.FormatUint(h.Seed, 10)}, ", "))
	p.line("")
}

// joined joins the parts that are not empty.
func joined(parts []string, sep string) string {
	var kept []string
	for _, s := range parts {
		if s != "" {
			kept = append(kept, s)
		}
	}
	return strings.Join(kept, sep)
}

// overview says how many requests and tokens there were, and how fast.
func (p *page) overview(r *analysis.Report) {
	c, t := &r.Counts, &r.Tokens
	var parts []string
	for _, o := range observe.Outcomes() {
		if n := c.Of(o); n > 0 || o == observe.Completed {
			parts = append(parts, analysis.Grouped(n)+" "+strings.ReplaceAll(o.String(), "_", " "))
		}
	}
	p.item("Requests", "%s: %s", analysis.Grouped(c.Requests), strings.Join(parts, ", "))
	for _, why := range c.Reasons {
		p.item("", "%s %s: %s", analysis.Grouped(why.Count), strings.ReplaceAll(why.Outcome.String(), "_", " "), why.Reason)
	}
	if c.CutShort > 0 {
		p.item("", "%s completed with fewer output tokens than wanted", analysis.Grouped(c.CutShort))
	}
	p.item("Tokens", "%s prompt, %s output of completed requests", analysis.Grouped(t.Prompt), analysis.Grouped(t.Output))
	if t.Unfinished > 0 {
		p.item("", "%s output of requests that did not complete", analysis.Grouped(t.Unfinished))
	}
	if t.Cached > 0 {
		p.item("", "%s prompt tokens from the prefix cache", analysis.Grouped(t.Cached))
	}
	if c.Preemptions == 0 {
		p.item("Preemptions", "none")
	} else {
		p.item("Preemptions", "%s, of %s; %s computed again", analysis.Grouped(c.Preemptions), analysis.Counted(c.Preempted, "request"), analysis.Counted(t.Recomputed, "token"))
	}
	if r.Span > 0 {
		p.item("Throughput", "%s requests/s, %s output tokens/s, %s tokens/s over %s s",
			Number(r.Throughput.Requests), Number(r.Throughput.OutputTokens), Number(r.Throughput.TotalTokens), Number(r.Span.Seconds()))
	} else {
		p.item("Throughput", "no data: the run has no length")
	}
	p.line("")
}

// latencies is the table of distributions and its definitions.
func (p *page) latencies(r *analysis.Report) {
	metrics := r.Metrics()
	t := table{left: 1}
	head := []string{"Latency, ms", "count", "mean"}
	for _, q := range percentiles(metrics) {
		head = append(head, q.String())
	}
	t.add(append(head, "max")...)
	for _, m := range metrics {
		t.add(latencyRow(m, len(head)-3)...)
	}
	t.write(p)
	p.line("")
	for _, m := range metrics {
		p.item(m.Name, "%s", m.Definition)
	}
	p.item("percentiles", "linear interpolation between the two nearest values (type 7)")
	p.item("throughput", "completed requests, from the first arrival to the last end")
	p.line("")
}

// percentiles returns the percentiles that the metrics have, without the maximum.
func percentiles(metrics []analysis.Metric) []analysis.Percentile {
	var ps []analysis.Percentile
	for _, m := range metrics {
		if !m.OK {
			continue
		}
		for _, q := range m.Quantiles {
			if q.P.Fraction() < 1 {
				ps = append(ps, q.P)
			}
		}
		break
	}
	return ps
}

// latencyRow is the row of m, with n percentiles.
func latencyRow(m analysis.Metric, n int) []string {
	name := m.Name
	if m.Part {
		name = "  " + name
	}
	if !m.OK {
		return []string{name, "0", "no data"}
	}
	row := []string{name, analysis.Grouped(m.Count), milliseconds(m.Mean)}
	for _, q := range m.Quantiles[:n] {
		row = append(row, milliseconds(q.Value))
	}
	return append(row, milliseconds(m.Max))
}

// goodput is the share of good requests and of each limit.
func (p *page) goodput(a *analysis.Attainment) {
	if a == nil {
		return
	}
	share, ok := a.Share()
	if !ok {
		p.item("Goodput", "no data: there were no requests (%s, ms)", a.Limits)
		p.line("")
		return
	}
	p.item("Goodput", "%s requests/s, %s of %s requests (%s) met all of %s (ms)",
		Number(a.PerSecond), analysis.Grouped(a.Good), analysis.Grouped(a.Requests), percent(share), a.Limits)
	t := table{left: 1}
	t.add("  limit, ms", "met", "share", "missed only this")
	for i, e := range a.Each {
		row := []string{
			"  " + analysis.Goodput{a.Limits[i]}.String(), analysis.Grouped(e.Met),
			percent(float64(e.Met) / float64(a.Requests)), analysis.Grouped(e.MissedOnly),
		}
		if i == a.Binding {
			row = append(row, "  binding")
		}
		t.add(row...)
	}
	t.write(p)
	p.line("")
}

// engine is what the steps say.
func (p *page) engine(r *analysis.Report) {
	e := &r.Engine
	if e.Steps == 0 {
		return
	}
	p.item("Engine", "%s steps, %s prefill and %s decode tokens, busy %s of the time",
		analysis.Grouped(e.Steps), analysis.Grouped(e.PrefillTokens), analysis.Grouped(e.DecodeTokens), percent(e.Utilisation))
	if e.Replicas > 1 {
		p.item("", "%d replicas; the levels below are of one of them", e.Replicas)
	}
	t := table{left: 1}
	t.add("  while busy", "mean", "peak")
	t.add("  running", Number(e.Running.Mean), analysis.Grouped(e.Running.Peak))
	t.add("  left waiting", Number(e.Waiting.Mean), analysis.Grouped(e.Waiting.Peak))
	if k := e.KVBlocks; k > 0 {
		t.add("  KV use", percent(e.Blocks.Mean/float64(k)), percent(float64(e.Blocks.Peak)/float64(k)), fmt.Sprintf("of %s blocks", analysis.Grouped(k)))
	} else {
		t.add("  KV blocks", Number(e.Blocks.Mean), analysis.Grouped(e.Blocks.Peak))
	}
	t.write(p)
	p.line("")
}

// warnings lists what to beware of.
func (p *page) warnings(list []analysis.Warning) {
	for _, w := range list {
		p.item("Warning", "%s", w.Text)
	}
}

// milliseconds prints d in milliseconds: three decimals below 10, two below 100,
// one below 1,000, none above. What is not 0 never prints as 0.
func milliseconds(d sim.Duration) string { return Number(d.Milliseconds()) }

// Number prints x with about four digits, thousands grouped, "no data" for NaN.
// What is nearer to 0 than 0.001, and is not 0, prints as that.
func Number(x float64) string {
	if math.IsNaN(x) {
		return "no data"
	}
	a := math.Abs(x)
	switch {
	case x == 0:
		return "0"
	case x > 0 && x < 0.0005:
		return "<0.001"
	case x < 0 && x > -0.0005:
		return ">-0.001"
	case a < 9.9995:
		return strconv.FormatFloat(x, 'f', 3, 64)
	case a < 99.995:
		return strconv.FormatFloat(x, 'f', 2, 64)
	case a < 999.95:
		return strconv.FormatFloat(x, 'f', 1, 64)
	case a < 1e15:
		return analysis.Grouped(int64(math.RoundToEven(x)))
	}
	return strconv.FormatFloat(x, 'g', 4, 64)
}

// percent prints a share, rounding neither to 0 % nor to 100 % what is not.
func percent(share float64) string {
	switch {
	case math.IsNaN(share):
		return "no data"
	case share > 0 && share < 0.0005:
		return "<0.1 %"
	case share > 0.9995 && share < 1:
		return ">99.9 %"
	}
	return strconv.FormatFloat(100*share, 'f', 1, 64) + " %"
}
