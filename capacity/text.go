package capacity

import (
	"fmt"
	"math"
	"strconv"
	"strings"

	"servesim/analysis"
	"servesim/report"
)

// Text returns a for people.
func (a *Answer) Text() string {
	var p page
	n, gpus := float64(a.Plan.Replicas()), float64(a.Plan.GPUs())
	p.item("Load", "%s; %s requests/s today", a.Load, digits(a.Today))
	at, step := digits(a.Rate), digits(100*a.Resolution)
	if a.Unbounded {
		p.item("Capacity", "at least %s requests/s, the highest rate that this workload can have: every limit is kept", at)
	} else {
		p.item("Capacity", "%s requests/s, 95 %% interval %s to %s, in steps of %s %%: %s a GPU, %s a replica",
			at, digits(a.Lo), digits(a.Hi), step, digits(a.Rate/gpus), digits(a.Rate/n))
	}
	if why := a.BindingText(); why != "" {
		p.item("Binding", "%s", why)
	}
	if s := &a.Saturation; s.OK {
		p.item("Saturation", "%s requests/s and %s output tokens/s come out when %s requests/s come in; the capacity is %.0f %% of it",
			digits(s.RequestsPerS), report.Number(s.OutputTokensPerS), digits(s.Offered), 100*a.Rate/s.RequestsPerS)
	} else {
		p.item("Saturation", "not reached at any rate that was simulated")
	}
	if h := a.Headroom(); h >= 0 {
		p.item("Headroom", "%.1f %% above today's rate until a limit is missed", 100*h)
	} else {
		p.item("Headroom", "none: today's rate is %.1f %% above the capacity", 100*(a.Today/a.Rate-1))
	}
	p.cost(&a.Cost)
	if b := a.Instant; b != nil {
		p.item("Instant", "if replicas came and went at once, a window of %v each, the workload would take %s at its peak and %s in the mean, each carrying %s requests/s at most: %s GPU hours at least, against %s with as many all the time",
			b.Window, analysis.Counted(b.Peak, "replica"), digits(b.Mean), digits(b.PerReplica), digits(b.GPUHours), digits(b.FixedGPUHours))
	}
	p.line("")
	p.table(a)
	p.line("")
	p.item("Simulated", "%s, %s in all; each rate until the intervals settle it", analysis.Counted(int64(a.Trials), "rate"), analysis.Counted(a.Requests, "request"))
	p.item("Power", "an upper bound, of GPUs alone: idle power, and TDP while a step runs")
	return p.String()
}

// page is text in the making.
type page struct{ strings.Builder }

// item adds what goes by a name.
func (p *page) item(name, format string, args ...any) {
	p.line("%s", report.Fold(fmt.Sprintf("%-*s%s", report.Hang, name, fmt.Sprintf(format, args...)), report.Hang))
}

// line adds a line.
func (p *page) line(format string, args ...any) { fmt.Fprintf(p, format+"\n", args...) }

// cost says what a deployment costs.
func (p *page) cost(c *Cost) {
	if math.IsNaN(c.USDPerHour) {
		p.item("Cost", "unknown: the profile has no price; give --price GPU=USD")
	} else {
		whose := "the profile's price"
		if c.Given {
			whose = "given"
		}
		p.item("Cost", "%s $/h: %s at %s $/h (%s); %s a million output tokens, %s a million of good requests",
			cents(c.USDPerHour), analysis.Counted(c.GPUs, "GPU"), cents(c.USDPerGPUHour), whose, dollars(c.USDPerMTok), dollars(c.USDPerGoodMTok))
	}
	if !math.IsNaN(c.KW) {
		p.item("Energy", "at most %s kW; %s kWh a million output tokens, %s a million of good requests", digits(c.KW), digits(c.KWhPerMTok), digits(c.KWhPerGoodMTok))
	}
}

// table writes the rates around an answer.
func (p *page) table(a *Answer) {
	heads := []string{"of it", "requests/s", "TTFT p50", "p90", "p99", "TPOT p50", "p90", "p99", "goodput", "limits"}
	var rows [][]string
	for _, r := range a.Table {
		row := []string{fmt.Sprintf("%.0f %%", 100*r.Share), digits(r.Trial.Rate)}
		for _, key := range []string{"ttft", "tpot"} {
			for _, q := range r.Trial.quantiles(key) {
				row = append(row, report.Number(q))
			}
		}
		share := "no limits"
		if g, ok := r.Trial.Goodput(); ok {
			share = fmt.Sprintf("%.2f %%", 100*g)
		}
		rows = append(rows, append(row, share, r.Trial.word()))
	}
	p.WriteString(report.Columns(heads, 0, rows))
	p.item("", "times in ms; goodput is the share of requests that are good")
}

// word says how t did by its limits.
func (t *Trial) word() string {
	switch {
	case t.Overloaded:
		return "overloaded"
	case t.Judgement == Holds:
		return "kept"
	case t.Judgement == Fails:
		return "missed"
	}
	return "too close"
}

// Distribution returns what all runs of t say of a metric by its key, such as ttft,
// nil if there is no such metric or nothing to say.
func (t *Trial) Distribution(key string) *analysis.Distribution {
	metrics := t.Report.Metrics()
	if t.Pool != nil {
		metrics = t.Pool.Metrics
	}
	for _, m := range metrics {
		if m.Key == key && m.Distribution.OK {
			return m.Distribution
		}
	}
	return nil
}

// quantiles returns P50, P90 and P99 of a metric in ms, NaN without data.
func (t *Trial) quantiles(key string) [3]float64 {
	out := [3]float64{math.NaN(), math.NaN(), math.NaN()}
	d := t.Distribution(key)
	if d == nil {
		return out
	}
	for _, q := range d.Quantiles {
		for i, name := range []string{"p50", "p90", "p99"} {
			if q.P.String() == name {
				out[i] = q.Value.Milliseconds()
			}
		}
	}
	return out
}

// Goodput returns the share of good requests of all runs, ok being false without
// limits on them.
func (t *Trial) Goodput() (share float64, ok bool) {
	if t.Report.Goodput == nil {
		return math.NaN(), false
	}
	if t.Pool != nil {
		return t.Pool.Share, true
	}
	share, _ = t.Report.Goodput.Share()
	return share, true
}

// BindingText says which limit is missed first as the rate rises, "" if none is.
func (a *Answer) BindingText() string {
	l, overloaded := a.Binding()
	switch {
	case overloaded:
		return fmt.Sprintf("the queue grows without end at %s requests/s", digits(a.Over.Rate))
	case l == nil:
		return ""
	}
	return fmt.Sprintf("%s: %s at %s requests/s, %s at %s", l.Limit, found(same(a.At.Limits, l)), digits(a.Rate), found(l), digits(a.Over.Rate))
}

// same returns the limit of list that is that of l.
func same(list []Limit, l *Limit) *Limit {
	for i := range list {
		if list[i].Limit == l.Limit {
			return &list[i]
		}
	}
	return l
}

// found says what was found of a limit.
func found(l *Limit) string {
	switch {
	case l.IsGoodput:
		share, _ := l.Share()
		return fmt.Sprintf("%.3f %%", 100*share)
	case l.Value.Unbounded:
		return "requests that failed"
	}
	return report.Number(l.Value.Value.Milliseconds()) + " ms"
}

// missed lists the limits that t misses.
func missed(t *Trial) string {
	var list []string
	for i := range t.Limits {
		if l := &t.Limits[i]; !l.Holds {
			list = append(list, fmt.Sprintf("%s, found %s", l.Limit, found(l)))
		}
	}
	return strings.Join(list, "; ")
}

// digits writes x with three digits or more.
func digits(x float64) string {
	switch {
	case math.IsNaN(x):
		return "no data"
	case math.IsInf(x, 1):
		return "any"
	case x >= 1000:
		return analysis.Grouped(int64(math.RoundToEven(x)))
	}
	return strconv.FormatFloat(x, 'g', 4, 64)
}

// cents writes an amount of dollars to the cent.
func cents(x float64) string { return strconv.FormatFloat(x, 'f', 2, 64) }

// dollars writes what something costs.
func dollars(x float64) string {
	if math.IsNaN(x) {
		return "no data"
	}
	return "$" + strconv.FormatFloat(x, 'f', 3, 64)
}

// Text returns f for people.
func (f *Fleet) Text() string {
	var p page
	p.item("Rate", "%s requests/s", digits(f.Rate))
	best := &f.Choices[0]
	spare := ""
	if f.Spare > 0 {
		spare = fmt.Sprintf(", of which %d may be lost", f.Spare)
	}
	kept := "every limit is kept"
	if best.At.Judgement == Close {
		kept += ", but within the interval: it is too close to call, and one replica more is safe"
	}
	p.item("Fewest", "%s: %s of %s TP%d%s; %s", analysis.Counted(best.GPUs, "GPU"), analysis.Counted(best.Replicas, "replica"), best.GPU, best.TP, spare, kept)
	if l := best.At.Binding(); l != nil {
		p.item("Binding", "%s: %s", l.Limit, found(l))
	}
	if t := best.Less; t != nil {
		close := ""
		if t.Judgement == Close {
			close = " (too close to call)"
		}
		p.item("", "one replica less misses %s%s", missed(t), close)
	}
	p.cost(&best.Cost)
	p.line("")
	heads := []string{"GPU", "TP", "replicas", "GPUs", "$/h", "$ a Mtok", "$ a good Mtok", "kWh a Mtok", "goodput", "busy"}
	var rows [][]string
	for i := range f.Choices {
		rows = append(rows, f.Choices[i].row())
	}
	p.WriteString(report.Columns(heads, 1, rows))
	for i := range f.Choices {
		if c := &f.Choices[i]; c.Reason != "" {
			p.item("", "%s%s", c.name(), c.Reason)
		}
	}
	p.item("Simulated", "%s, %s in all", analysis.Counted(int64(f.Trials), "pool"), analysis.Counted(f.Requests, "request"))
	return p.String()
}

// row is c in a table.
func (c *Choice) row() []string {
	row := []string{c.GPU, strconv.FormatInt(c.TP, 10)}
	if c.Replicas == 0 {
		return append(row, "none")
	}
	share := "no limits"
	if g, ok := c.Whole.Goodput(); ok {
		share = fmt.Sprintf("%.2f %%", 100*g)
	}
	k := &c.Cost
	return append(row, analysis.Grouped(c.Replicas), analysis.Grouped(c.GPUs), cents(k.USDPerHour), dollars(k.USDPerMTok), dollars(k.USDPerGoodMTok), digits(k.KWhPerMTok), share,
		fmt.Sprintf("%.0f %%", 100*c.Whole.Report.Engine.Utilisation))
}
