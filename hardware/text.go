package hardware

import (
	"cmp"
	"fmt"
	"math"
	"slices"
	"strconv"
	"strings"

	"servesim/analysis"
	"servesim/capacity"
	"servesim/report"
	"servesim/sim/gpu"
)

// Text returns c for people.
func (c *Comparison) Text() string {
	p := page{sides: c.serves()}
	p.item("Limits", "%s", c.SLO.String())
	p.item("Load", "%s; the same requests for all", c.Load)
	for _, s := range c.Sides {
		if s.Reason != "" {
			p.item("Out", "%s: %s", s.Label, s.Reason)
		}
	}
	p.line("")
	p.figures(c)
	p.line("")
	for _, s := range p.sides {
		p.item("Binding", "%s: %s", s.Label, cmp.Or(s.Answer.BindingText(), "no limit, at any rate that can be simulated"))
	}
	p.line("")
	p.flips(c)
	p.phase("Steps with prompt tokens", func(s *Side) *Phase { return s.Prefill }, c.Share)
	p.phase("Steps of decodes alone", func(s *Side) *Phase { return s.Decode }, c.Share)
	p.line("")
	p.item("Simulated", "%s; rates in steps of %s %%, each until the intervals settle it, latencies over %d runs, operators over one",
		analysis.Counted(c.Requests, "request"), short(100*c.Resolution), measuredRuns)
	p.item("Power", "an upper bound, of GPUs alone: idle power, and TDP or --power while a step runs")
	return p.String()
}

// serves returns the sides that serve.
func (c *Comparison) serves() []*Side {
	return slices.DeleteFunc(slices.Clone(c.Sides), func(s *Side) bool { return s.Reason != "" })
}

// page is text in the making, about sides that serve.
type page struct {
	strings.Builder
	sides []*Side
}

// line adds a line.
func (p *page) line(format string, args ...any) { fmt.Fprintf(p, format+"\n", args...) }

// item adds what goes by a name.
func (p *page) item(name, format string, args ...any) {
	p.WriteString(report.Item(name, fmt.Sprintf(format, args...)))
}

// table writes rows with a column for each side, behind as many that name them.
func (p *page) table(names int, rows [][]string) {
	heads := make([]string, names)
	for _, s := range p.sides {
		heads = append(heads, s.Label)
	}
	p.WriteString(report.Columns(heads, names, rows))
}

// row returns a row: what names it, and what of says of each side.
func (p *page) row(of func(s *Side) string, names ...string) []string {
	row := names
	for _, s := range p.sides {
		row = append(row, of(s))
	}
	return row
}

// figures writes what each side carries, what users see and what it costs.
func (p *page) figures(c *Comparison) {
	answer := func(of func(a *capacity.Answer) float64, names ...string) []string {
		return p.row(func(s *Side) string { return short(of(s.Answer)) }, names...)
	}
	cost := func(of func(c *capacity.Cost) float64, digits int, names ...string) []string {
		return p.row(func(s *Side) string { return fixed(of(&s.Answer.Cost), digits) }, names...)
	}
	rows := [][]string{
		p.row(func(s *Side) string { return analysis.Grouped(s.Plan.GPUs()) }, "Machine", "GPUs"),
		answer(func(a *capacity.Answer) float64 { return a.Rate }, "Capacity", "requests/s"),
		p.row(func(s *Side) string { return short(s.Answer.Lo) + ".." + short(s.Answer.Hi) }, "", "95 % interval"),
		answer(func(a *capacity.Answer) float64 { return a.Rate / float64(a.Plan.Replicas()) }, "", "a replica"),
		answer(func(a *capacity.Answer) float64 { return a.Rate / float64(a.Plan.GPUs()) }, "", "a GPU"),
		p.row(func(s *Side) string { return short(s.GoodPerGPU()) }, "", c.good("good ")+"tokens/s a GPU"),
	}
	rows = append(rows, p.latencies("One rate", func(s *Side) *capacity.Trial { return s.AtRate })...)
	rows = append(rows, p.latencies(short(100*c.Share)+" % each", func(s *Side) *capacity.Trial { return s.AtShare })...)
	rows = append(rows,
		cost(func(c *capacity.Cost) float64 { return c.USDPerGPUHour }, 2, "Cost", "$ a GPU and hour"),
		cost(func(c *capacity.Cost) float64 { return c.USDPerMTok }, 3, "", "$ a million tokens"),
		cost(func(c *capacity.Cost) float64 { return c.USDPerGoodMTok }, 3, "", "$ a million good ones"),
		cost(func(c *capacity.Cost) float64 { return c.KW }, 3, "Energy", "kW at most"),
		cost(func(c *capacity.Cost) float64 { return c.KWhPerMTok }, 3, "", "kWh a million tokens"),
		cost(func(c *capacity.Cost) float64 { return c.KWhPerGoodMTok }, 3, "", "kWh a million good ones"))
	if c.good("x") == "" { // nobody says which requests are good
		rows = slices.DeleteFunc(rows, func(row []string) bool { return strings.Contains(row[1], "good") })
	}
	p.table(2, append(rows, p.row(func(s *Side) string { return report.Percent(s.AtShare.Outside) }, "Fit", "steps outside it")))
	rate := "the lowest of the capacities"
	if c.RateGiven {
		rate = "that of --rate"
	}
	p.item("", "times in ms, ± the longer half of the 95 %% interval; tokens are output tokens%s; one rate is %s, %s %% each is of each one's capacity; costs are at the capacity",
		c.good(", good ones those of good requests"), rate, short(100*c.Share))
	p.unknown()
}

// good returns text if limits say which requests are good, else nothing.
func (c *Comparison) good(text string) string {
	if len(c.SLO.Goodput) == 0 {
		return ""
	}
	return text
}

// unknown says which costs aren't known, and what to do about it.
func (p *page) unknown() {
	var told []string
	for _, s := range p.sides {
		name := s.Plan.Machine.Profile.Name
		if slices.Contains(told, name) {
			continue
		}
		told = append(told, name)
		if math.IsNaN(s.Answer.Cost.USDPerGPUHour) {
			p.item("", "profile %s has no price; give --price %[1]s=USD", name)
		}
		if math.IsNaN(s.Answer.Cost.KW) {
			p.item("", "profile %s doesn't say what an idle GPU draws; give it power.idle_w", name)
		}
	}
}

// latencies returns rows of what users see in the trials of sides.
func (p *page) latencies(where string, of func(s *Side) *capacity.Trial) [][]string {
	rows := [][]string{p.row(func(s *Side) string { return short(of(s).Rate) }, where, "requests/s")}
	for _, key := range latencyKeys() {
		rows = append(rows, p.row(func(s *Side) string { return quantile(of(s), key.key) }, "", "P99 "+key.name))
	}
	return append(rows, p.row(func(s *Side) string {
		share, ok := of(s).Goodput()
		switch {
		case of(s).Overloaded:
			return "overloaded"
		case !ok:
			return "no limits"
		}
		return report.Percent(share)
	}, "", "goodput"))
}

// A latencyKey is a latency whose P99 is compared.
type latencyKey struct{ key, name string }

// latencyKeys lists them.
func latencyKeys() []latencyKey {
	return []latencyKey{
		{analysis.TTFT.String(), "TTFT"}, {analysis.TPOT.String(), "TPOT"},
		{analysis.ITL.String(), "ITL"}, {analysis.MaxGap.String(), "worst gap"},
	}
}

// flips writes at which ratios of prices the choices flip.
func (p *page) flips(c *Comparison) {
	if len(c.Flips) == 0 {
		p.item("Flip", "what serves has one kind of GPU, and so one price: no price changes the order")
		return
	}
	var rows [][]string
	for i := range c.Flips {
		f := &c.Flips[i]
		today, cheaper := fixed(f.Today, 3), "both the same"
		s, sure := f.Choice()
		switch {
		case math.IsNaN(f.Today):
			today, cheaper = "no price", "no price"
		case sure:
			cheaper = s.Label
		case s != nil:
			cheaper = s.Label + " (in doubt)"
		}
		rows = append(rows, []string{f.More.Label, f.Less.Label, fixed(f.Ratio, 3), fixed(f.Lo, 3) + ".." + fixed(f.Hi, 3), today, cheaper})
	}
	p.line("Ratio of prices, of a GPU and hour, at which a %stoken costs the same; below it the first is cheaper", c.good("good "))
	p.WriteString(report.Columns([]string{"first", "second", "ratio", "interval", "today", "cheaper"}, 2, rows))
}

// leastShown is the share of the time of steps that an operator takes to be shown.
const leastShown = 0.01

// phase writes what a kind of steps waits for.
func (p *page) phase(title string, of func(s *Side) *Phase, share float64) {
	names := p.largest(of)
	p.line("\n%s, at %s %% of each capacity: share of their time, what it waits for, share of that roofline", title, short(100*share))
	alone := func(x func(f *Phase) float64, names ...string) []string {
		return p.row(func(s *Side) string { return cell(x(of(s)), gpu.Unbound, 0) }, names...)
	}
	rows := [][]string{alone(func(f *Phase) float64 { return f.Share }, "of all step time")}
	for _, name := range names {
		rows = append(rows, p.row(func(s *Side) string {
			o := of(s).operator(name)
			return cell(o.Share, o.Bound, o.Reached)
		}, name))
	}
	rows = append(rows,
		alone(func(f *Phase) float64 {
			rest := 1.0
			for _, name := range names {
				rest -= f.operator(name).Share
			}
			return rest
		}, "others"),
		alone(func(f *Phase) float64 { return f.Compute }, "bound by compute"),
		alone(func(f *Phase) float64 { return f.Memory }, "bound by memory"),
		alone(func(f *Phase) float64 { return f.Link }, "bound by links"),
		alone(func(f *Phase) float64 { return f.Neither }, "by none of them"))
	p.table(1, rows)
}

// largest returns the operators that are shown, those first that take most of a side.
func (p *page) largest(of func(s *Side) *Phase) []string {
	most := map[string]float64{}
	var names []string
	for _, s := range p.sides {
		for _, o := range of(s).Operators {
			if math.Abs(o.Share) >= leastShown && most[o.Name] == 0 {
				names = append(names, o.Name)
			}
			most[o.Name] = max(most[o.Name], math.Abs(o.Share))
		}
	}
	slices.SortFunc(names, func(a, b string) int { return cmp.Or(cmp.Compare(most[b], most[a]), cmp.Compare(a, b)) })
	return names
}

// operator returns the operator of f called name, an empty one if there is none.
func (f *Phase) operator(name string) Operator {
	for _, o := range f.Operators {
		if o.Name == name {
			return o
		}
	}
	return Operator{}
}

// cell writes a share of the time, and what it waits for.
func cell(share float64, b gpu.Bound, reached float64) string {
	if b == gpu.Unbound {
		return fmt.Sprintf("%s %13s", report.Percent(share), "")
	}
	return fmt.Sprintf("%s %-7s %3.0f %%", report.Percent(share), b, 100*reached)
}

// quantile writes P99 of a metric of t with its interval, in ms.
func quantile(t *capacity.Trial, key string) string {
	q, ok := p99(t, key)
	if !ok {
		return "no data"
	}
	text := report.Number(q.Value.Milliseconds())
	if i := q.Interval; i.OK {
		text += " ± " + digits(max(i.Hi-q.Value, q.Value-i.Lo).Milliseconds(), 2)
	}
	return text
}

// p99 returns P99 of a metric of t.
func p99(t *capacity.Trial, key string) (analysis.QuantileValue, bool) {
	if d := t.Distribution(key); d != nil {
		for _, q := range d.Quantiles {
			if q.P.String() == "p99" {
				return q, true
			}
		}
	}
	return analysis.QuantileValue{}, false
}

// digits writes x to n digits, without an exponent.
func digits(x float64, n int) string {
	rounded, _ := strconv.ParseFloat(strconv.FormatFloat(x, 'g', n, 64), 64) // its own output
	return strconv.FormatFloat(rounded, 'f', -1, 64)
}

// short writes x with four digits.
func short(x float64) string {
	switch {
	case math.IsInf(x, 1):
		return "any"
	case x >= 1000:
		return report.Number(x)
	}
	return digits(x, 4)
}

// fixed writes x with n digits behind the point.
func fixed(x float64, n int) string {
	switch {
	case math.IsNaN(x):
		return "no data"
	case math.IsInf(x, 1):
		return "any"
	}
	return strconv.FormatFloat(x, 'f', n, 64)
}
