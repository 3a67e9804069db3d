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
	p.line("%-12s%s", name, fmt.Sprintf(format, args...))
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
			parts = append(parts, grouped(n)+" "+strings.ReplaceAll(o.String(), "_", " "))
		}
	}
	p.item("Requests", "%s: %s", grouped(c.Requests), strings.Join(parts, ", "))
	for _, why := range c.Reasons {
		p.item("", "%s %s: %s", grouped(why.Count), strings.ReplaceAll(why.Outcome.String(), "_", " "), why.Reason)
	}
	if c.CutShort > 0 {
		p.item("", "%s completed with fewer output tokens than wanted", grouped(c.CutShort))
	}
	p.item("Tokens", "%s prompt, %s output of completed requests", grouped(t.Prompt), grouped(t.Output))
	if t.Unfinished > 0 {
		p.item("", "%s output of requests that did not complete", grouped(t.Unfinished))
	}
	if t.Cached > 0 {
		p.item("", "%s prompt tokens from the prefix cache", grouped(t.Cached))
	}
	if c.Preemptions == 0 {
		p.item("Preemptions", "none")
	} else {
		p.item("Preemptions", "%s, of %s requests; %s tokens computed again", grouped(c.Preemptions), grouped(c.Preempted), grouped(t.Recomputed))
	}
	if r.Span > 0 {
		p.item("Throughput", "%s requests/s, %s output tokens/s, %s tokens/s over %s s",
			number(r.Throughput.Requests), number(r.Throughput.OutputTokens), number(r.Throughput.TotalTokens), number(r.Span.Seconds()))
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
	row := []string{name, grouped(m.Count), milliseconds(m.Mean)}
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
		number(a.PerSecond), grouped(a.Good), grouped(a.Requests), percent(share), a.Limits)
	t := table{left: 1}
	t.add("  limit, ms", "met", "share", "missed only this")
	for i, e := range a.Each {
		row := []string{
			"  " + analysis.Goodput{a.Limits[i]}.String(), grouped(e.Met),
			percent(float64(e.Met) / float64(a.Requests)), grouped(e.MissedOnly),
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
		grouped(e.Steps), grouped(e.PrefillTokens), grouped(e.DecodeTokens), percent(e.Utilisation))
	if e.Replicas > 1 {
		p.item("", "%d replicas; the levels below are of one of them", e.Replicas)
	}
	t := table{left: 1}
	t.add("  while busy", "mean", "peak")
	t.add("  running", number(e.Running.Mean), grouped(e.Running.Peak))
	t.add("  left waiting", number(e.Waiting.Mean), grouped(e.Waiting.Peak))
	if k := e.KVBlocks; k > 0 {
		t.add("  KV use", percent(e.Blocks.Mean/float64(k)), percent(float64(e.Blocks.Peak)/float64(k)), fmt.Sprintf("of %s blocks", grouped(k)))
	} else {
		t.add("  KV blocks", number(e.Blocks.Mean), grouped(e.Blocks.Peak))
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
func milliseconds(d sim.Duration) string { return number(d.Milliseconds()) }

// number prints x with about four digits, thousands grouped, "no data" for NaN.
// What is nearer to 0 than 0.001, and is not 0, prints as that.
func number(x float64) string {
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
		return grouped(int64(math.RoundToEven(x)))
	}
	return strconv.FormatFloat(x, 'g', 4, 64)
}

// grouped prints n with a comma between groups of three digits.
func grouped(n int64) string {
	s, sign := strconv.FormatInt(n, 10), ""
	if n < 0 {
		s, sign = s[1:], "-"
	}
	for i := len(s) - 3; i > 0; i -= 3 {
		s = s[:i] + "," + s[i:]
	}
	return sign + s
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
