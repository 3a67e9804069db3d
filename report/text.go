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

// Text writes r for people, in milliseconds: what became of the requests, the
// latencies and the goodput first, then the tables of parts of the requests,
// what every figure is defined as, and warnings. The only errors are those of w.
func Text(w io.Writer, r *analysis.Report) error {
	var p page
	p.run(r)
	return p.to(w)
}

// run is all that Text writes.
func (p *page) run(r *analysis.Report) {
	p.origin(&r.Header)
	if p.warnings(r.Warnings, true) {
		p.line("")
	}
	p.overview(r)
	p.latencies(r)
	p.goodput(r.Goodput)
	p.verdicts(r.Verdicts)
	p.drill(r.Drill)
	p.byClass(r)
	p.byOutput(r)
	p.engine(r)
	p.definitions(r)
	p.warnings(r.Warnings, false)
}

// page is text in the making, and the blocks that it consists of.
type page struct {
	b      strings.Builder
	blocks []Block
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
	if r.Unseen.Prompts {
		p.item("Tokens", "%s output of completed requests; of prompts they aren't known", analysis.Grouped(t.Output))
	} else {
		p.item("Tokens", "%s prompt, %s output of completed requests", analysis.Grouped(t.Prompt), analysis.Grouped(t.Output))
	}
	if t.Unfinished > 0 {
		p.item("", "%s output of requests that did not complete", analysis.Grouped(t.Unfinished))
	}
	if t.Cached > 0 {
		p.item("", "%s prompt tokens from the prefix cache%s", analysis.Grouped(t.Cached), hitShare(t))
	}
	p.preemptions(r)
	if w := r.WarmUp; w != nil && !w.Unsettled {
		p.item("Warm-up", "left out by %s: %s that arrived in the first %s s, and %s that began then", w.Rule, analysis.Counted(w.Requests, "request"), Number(w.From.Sub(0).Seconds()), analysis.Counted(w.Steps, "step"))
	}
	p.throughput(r)
	p.load(r)
	p.line("")
}

// hitShare says which share of prompt tokens the prefix cache had, if it is known.
func hitShare(t *analysis.Tokens) string {
	if t.Begun == 0 {
		return ""
	}
	return fmt.Sprintf(", %.1f %% of those of the requests that began", 100*float64(t.Cached)/float64(t.Begun))
}

// preemptions says how often requests lost their blocks, if that is known.
func (p *page) preemptions(r *analysis.Report) {
	c := &r.Counts
	switch {
	case r.Unseen.Engine:
	case c.Preemptions == 0:
		p.item("Preemptions", "none")
	default:
		p.item("Preemptions", "%s, of %s; %s computed again", analysis.Grouped(c.Preemptions), analysis.Counted(c.Preempted, "request"), analysis.Counted(r.Tokens.Recomputed, "token"))
	}
}

// load says whether the engines kept up, if that is known.
func (p *page) load(r *analysis.Report) {
	waits := ""
	if r.Unseen.Engine && r.Saturation.State != analysis.UnknownSaturation {
		waits = "; clients see no queue, so all count as waiting until their first token"
	}
	if r.Unseen.Clock {
		p.item("Load", "not known: nothing says when calls were sent")
		return
	}
	p.item("Load", "%s: %s%s", r.Saturation.State, r.Saturation.Evidence(), waits)
}

// throughput says how much the system, a GPU and a user get.
func (p *page) throughput(r *analysis.Report) {
	t := &r.Throughput
	switch {
	case r.Unseen.Clock:
		p.item("Throughput", "not known: nothing says when calls were sent")
	case r.Span <= 0:
		p.item("Throughput", "no data: the run has no length")
		return
	case r.Unseen.Prompts:
		p.item("Throughput", "%s requests/s, %s output tokens/s over %s s", Number(t.Requests), Number(t.OutputTokens), Number(r.Span.Seconds()))
	default:
		p.item("Throughput", "%s requests/s, %s output tokens/s, %s tokens/s over %s s",
			Number(t.Requests), Number(t.OutputTokens), Number(t.TotalTokens), Number(r.Span.Seconds()))
	}
	if t.GPUs > 0 {
		p.item("", "%s output tokens/s per GPU, of %s", Number(t.OutputPerGPU), analysis.Grouped(t.GPUs))
	}
	var speeds []string
	for _, s := range t.PerUser {
		speeds = append(speeds, s.P.String()+" "+Number(s.TokensPerSecond))
	}
	if len(speeds) > 0 {
		p.item("", "%s output tokens/s per user", strings.Join(speeds, ", "))
	}
}

// latencies is the table of distributions, and that of their intervals.
func (p *page) latencies(r *analysis.Report) {
	metrics := r.Metrics()
	t := table{left: 1}
	ps := percentiles(metrics)
	t.add(latencyHead(ps, "Latency, ms")...)
	for _, m := range metrics {
		name := m.Name
		if m.Part {
			name = "  " + name
		}
		t.add(latencyRow(m.Distribution, len(ps), name)...)
	}
	t.write(p)
	p.line("")
	p.intervals(metrics)
}

// definitions says what the figures of latencies and throughput are.
func (p *page) definitions(r *analysis.Report) {
	metrics := r.Metrics()
	for _, m := range metrics {
		p.item(m.Name, "%s", m.Definition)
	}
	p.meaning(metrics)
	p.item("percentiles", "linear interpolation between the two nearest values (type 7)")
	p.item("throughput", "completed requests, from the first arrival to the last end")
	if len(r.Throughput.PerUser) > 0 {
		p.item("per user", "1 / TPOT at that percentile of TPOT: how fast an answer streams once it has begun")
	}
	p.line("")
}

// meaning says what intervals mean, if there are any.
func (p *page) meaning(metrics []analysis.Metric) {
	if hasInterval(metrics) {
		p.item("interval", "of 100 runs like this one, about 95 have intervals that hold what a run without end would show; n>= is about how many values one takes")
	}
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

// latencyHead is the heads of the columns of distributions, behind those of first.
func latencyHead(ps []analysis.Percentile, first ...string) []string {
	head := append(first, "count", "mean")
	for _, q := range ps {
		head = append(head, q.String())
	}
	return append(head, "max")
}

// latencyRow is the row of d, with n percentiles, behind the cells of first.
func latencyRow(d *analysis.Distribution, n int, first ...string) []string {
	if !d.OK {
		return append(first, "0", "no data")
	}
	row := append(first, analysis.Grouped(d.Count), milliseconds(d.Mean))
	for _, q := range d.Quantiles[:n] {
		row = append(row, milliseconds(q.Value))
	}
	return append(row, milliseconds(d.Max))
}

// engine is what the steps say.
func (p *page) engine(r *analysis.Report) {
	e := &r.Engine
	if e.Steps == 0 {
		return
	}
	p.item("Engine", "%s steps, %s prefill and %s decode tokens, busy %s of the time",
		analysis.Grouped(e.Steps), analysis.Grouped(e.PrefillTokens), analysis.Grouped(e.DecodeTokens), Percent(e.Utilisation))
	if e.Replicas > 1 {
		p.item("", "%d replicas; the levels below are of one of them", e.Replicas)
	}
	t := table{left: 1}
	t.add("  while busy", "mean", "peak")
	t.add("  running", Number(e.Running.Mean), analysis.Grouped(e.Running.Peak))
	t.add("  left waiting", Number(e.Waiting.Mean), analysis.Grouped(e.Waiting.Peak))
	if k := e.KVBlocks; k > 0 {
		t.add("  KV use", Percent(e.Blocks.Mean/float64(k)), Percent(float64(e.Blocks.Peak)/float64(k)), fmt.Sprintf("of %s blocks", analysis.Grouped(k)))
	} else {
		t.add("  KV blocks", Number(e.Blocks.Mean), analysis.Grouped(e.Blocks.Peak))
	}
	t.write(p)
	p.line("")
}

// warnings lists what to beware of, either what is to be known first or the rest,
// and tells whether there was any.
func (p *page) warnings(list []analysis.Warning, first bool) (any bool) {
	for i := range list {
		if w := &list[i]; w.First() == first {
			p.item("Warning", "%s", w.Text)
			any = true
		}
	}
	return any
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

// Percent prints a share, rounding neither to 0 % nor to 100 % what is not.
func Percent(share float64) string {
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
