package claim

import (
	"fmt"
	"strings"

	"servesim/analysis"
	"servesim/report"
	"servesim/sim/gpu"
)

// page is text in the making.
type page struct{ strings.Builder }

// item adds what goes by a name.
func (p *page) item(name, format string, args ...any) {
	p.WriteString(report.Item(name, fmt.Sprintf(format, args...)))
}

// Text returns a for people.
func (a *Answer) Text() string {
	var p page
	p.item("Claim", "%s%s", a.Claim.String(), a.unsaid())
	e := &a.Plan.Scenario.Engine
	p.item("Tried", "%s on %s under %s, max_num_batched_tokens %d, max_num_seqs %d", a.Plan.Machine.Model.Name, a.Plan.Machine.Profile.Name, e.Policy, *e.MaxNumBatchedTokens, *e.MaxNumSeqs)
	if a.File != "" {
		p.item("", "of %s the workload, the limits and the pool aren't used", a.File)
	}
	for _, c := range a.Plan.Cautions() {
		p.item("Caution", "%s", c)
	}
	for i := range a.Readings {
		p.verdict(&a.Readings[i])
	}
	for i := range a.Readings {
		v := &a.Readings[i]
		title := "Where"
		if v.Name != "" {
			title += ", of " + v.Name
		}
		p.WriteString("\n" + title + "\n" + v.table())
	}
	p.WriteString("\n")
	p.legend(a)
	for i, q := range a.Questions {
		name := ""
		if i == 0 {
			name = "Ask"
		}
		p.item(name, "%d. %s", i+1, q.Text)
	}
	if why := a.unable(); len(why) > 0 {
		p.item("Can't run", "%s", strings.Join(why, "; "))
	}
	p.item("Simulated", "%s, of %s requests", analysis.Counted(int64(len(a.Points)), "combination"), analysis.Grouped(a.requests()))
	return p.String()
}

// requests returns how many requests all points had.
func (a *Answer) requests() (n int64) {
	for i := range a.Points {
		n += a.Points[i].Count
	}
	return n
}

// unsaid says what the claim leaves open, and how it is answered.
func (a *Answer) unsaid() string {
	text := ""
	if len(a.Readings) > 1 {
		text = fmt.Sprintf("; it doesn't say whether of %s or of %s: both are answered", a.Readings[0].Name, a.Readings[1].Name)
	}
	switch {
	case a.GPUs > 0:
		text += fmt.Sprintf("; of %s", analysis.Counted(a.GPUs, "GPU"))
	case a.Claim.deployment():
		text += fmt.Sprintf("; it doesn't say of how many GPUs: up to %d, a server's, are tried", ServerGPUs)
	case a.Claim.Scope == User && !a.Claim.Quantity.Latency():
		text += "; a user's speed is 1 / TPOT"
	}
	return text
}

// verdict says whether a reading is possible and, if it isn't, what is in the way.
func (p *page) verdict(v *Verdict) {
	name := "Verdict"
	of := ""
	if v.Name != "" {
		of = "of " + v.Name + ": "
	}
	most := v.Most(v.Best)
	best := fmt.Sprintf("%s (%s)", v.write(most), v.describe(v.Best))
	if v.Possible > 0 {
		p.item(name, "%spossible in %s of %s; the best is %s", of, analysis.Grouped(int64(v.Possible)), analysis.Counted(int64(v.Ran), "combination"), best)
		return
	}
	p.item(name, "%snot possible in any of %s; the best is %s: %s", of, analysis.Counted(int64(v.Ran), "combination"), best, v.misses(most))
	ceiling, what := v.Ceiling(v.Highest), "in the same batches"
	if v.alone() {
		what = "with one request alone"
	}
	text := fmt.Sprintf("at the rates of the GPU's datasheet, with nothing between its kernels, it would be %s %s (%s), bound by %s",
		v.write(ceiling), what, v.describe(v.Highest), boundName(v.Highest.bound(&v.Reading)))
	if v.reach(ceiling) {
		p.item("", "%s: the GPU allows it, this engine doesn't reach it", text)
		return
	}
	p.item("", "even %s: %s", text, v.misses(ceiling))
}

// alone tells whether the ceiling of r is that of one request alone, whatever the load.
func (r *Reading) alone() bool { return r.Quantity.Latency() || r.Scope == User }

// boundName names a bound for people.
func boundName(b gpu.Bound) string {
	switch b {
	case gpu.ComputeBound:
		return "FLOP/s"
	case gpu.MemoryBound:
		return "memory bandwidth"
	case gpu.LinkBound:
		return "NVLink"
	}
	return "nothing"
}

// write writes x in the unit of r.
func (r *Reading) write(x float64) string { return report.Number(x) + " " + r.Unit() }

// misses says by how much x misses the claim.
func (r *Reading) misses(x float64) string {
	times := report.Number(1 / r.Share(x))
	if r.Quantity.Latency() {
		return times + " times what is claimed"
	}
	return "the claim is " + times + " times that"
}

// describe names p with all that the claim may leave open, on as many GPUs as it allows.
func (r *Reading) describe(p *Point) string {
	n := r.replicas(p)
	return fmt.Sprintf("%s on %s, %s, %s", p.Layout, analysis.Counted(n*p.TP, "GPU"), p.Lengths, loadName(p.Users*n))
}

// extrapolated is the share of steps outside what was measured from which on a row is
// marked.
const extrapolated = 0.5

// table has a row for each of v.
func (v *Verdict) table() string {
	heads := []string{"prompt/output", "weights/KV", "TP", "GPUs", "users", "batch", v.Unit(), "of it", "TTFT p50 s", "p99", "TPOT p50 ms", "p99"}
	var rows [][]string
	before := Lengths{}
	for _, p := range v.Rows {
		lengths := p.Lengths.String()
		if p.Lengths == before {
			lengths = ""
		}
		before = p.Lengths
		n := v.Needs(p)
		figure := v.one(p)
		if v.deployment() {
			figure *= float64(n)
		}
		users := "offline"
		if p.Users > 0 {
			users = analysis.Grouped(p.Users * n)
		}
		mark := ""
		if p.Outside > extrapolated {
			mark = "*"
		}
		verdict := "no"
		if v.Reached(p) {
			verdict = "yes"
		}
		rows = append(rows, []string{
			lengths, p.precision(), fmt.Sprint(p.TP), fmt.Sprint(n * p.TP), users, fmt.Sprintf("%.0f", p.Batch), report.Number(figure) + mark,
			fmt.Sprintf("%s %.0f %%", verdict, 100*v.Share(figure)),
			report.Number(p.TTFT.P50 / 1000), report.Number(p.TTFT.P99 / 1000), report.Number(p.TPOT.P50), report.Number(p.TPOT.P99),
		})
	}
	return report.Columns(heads, 2, rows)
}

// legend says what tables mean.
func (p *page) legend(a *Answer) {
	v := &a.Readings[0]
	which := "with the fewest GPUs, and of these the fewest users, that reach the claim"
	if v.alone() {
		which = "with the most users, and of these the fewest GPUs, with which the claim holds"
	}
	p.item("Rows", "for each pair of lengths and format of weights the combination %s (yes), or the one that comes nearest (no); batch is the mean of requests computed at once by a replica of TP GPUs; latencies are what users see then", which)
	for i := range a.Readings {
		for _, row := range a.Readings[i].Rows {
			if row.Outside > extrapolated {
				p.item("Caution", "* most steps are outside the measurements that step times were fitted on")
				return
			}
		}
	}
}
