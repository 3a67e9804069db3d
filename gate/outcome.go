package gate

import (
	"fmt"
	"math"
	"slices"
	"strconv"

	"servesim/analysis"
	"servesim/report"
	"servesim/scenario"
)

// Outcome is what runs say of a gate.
type Outcome struct {
	Gate *Gate
	// Measured tells that the runs were read from files, not simulated.
	Measured bool
	// Rows are the loads, in the order of Gate.Levels.
	Rows []Row
	// Checks are the limits at the target, goodput first.
	Checks []Check
	// Fall is by how much goodput falls beyond the target.
	Fall Fall
	// Verdict is FAIL if any check is, else TOO CLOSE TO CALL if any is, else PASS.
	Verdict analysis.Judgement
	// Cautions are where the verdict rests on less than it seems to.
	Cautions []string
	// Advice says what to measure next, and why.
	Advice string
}

// Row is what the runs at one load say together.
type Row struct {
	Level Level
	// Pool is all runs together.
	Pool *analysis.Replicated
	// Shares are the shares of good requests of each run, in the order of the runs.
	Shares []float64
	// Each is how many requests met each limit on requests, in the order of the gate's
	// limits; Binding is the one that the most missed, -1 if none did.
	Each    []analysis.LimitAttainment
	Binding int
	// QueueShare is the share of TTFT that requests spent in the engine's queue, NaN
	// if that isn't known.
	QueueShare float64
	// Overloaded is the number of runs in which the queue grew as long as requests
	// arrived.
	Overloaded int
	// Span is how long requests came, the mean over runs, in seconds; it has no meaning
	// without Clock.
	Span float64
	// Figures are those of the gate's dialect.
	Figures []Figure
	// ToolGood is the share of good requests by the dialect's rule, the mean over runs;
	// NaN if it has none.
	ToolGood float64
	// Clock tells that instants of different calls are on one clock, without which
	// there is no throughput.
	Clock bool
}

// Check is how the runs did by one limit.
type Check struct {
	Name      string
	Judgement analysis.Judgement
	// Unit is "share", "ms" or "1/s", and Value what was found, NaN if it never
	// came about. Lo and Hi are its 95 % interval, if Known.
	Unit          string
	Value, Lo, Hi float64
	Known         bool
	// Count and Failed are the number of values and of failed requests among them, 0
	// if they don't matter.
	Count, Failed int64
	// Why says why there is no interval, empty if there is one.
	Why string
}

// Fall is by how many points goodput is less at 150 % of the target than at it.
type Fall struct {
	// Points is the mean over runs, each with the one of the same number at the other
	// load, and Lo and Hi its 95 % interval.
	Points, Lo, Hi float64
	Known          bool
	// Flagged tells that Points are more than LargestFall.
	Flagged bool
}

// conclude judges rows. An error is a limit on nothing.
func (g *Gate) conclude(rows []Row, measured bool, cautions []string) (*Outcome, error) {
	o := &Outcome{Gate: g, Measured: measured, Rows: rows, Cautions: cautions, Verdict: analysis.Pass}
	at := o.row(strconv.Itoa(target))
	for i := len(at.Pool.Verdicts) - 1; i >= 0; i-- { // goodput is the last of them
		o.Checks = append(o.Checks, checkOf(&at.Pool.Verdicts[i]))
	}
	for i := range g.Thresholds {
		o.Checks = append(o.Checks, g.Thresholds[i].check(at))
	}
	worst := map[analysis.Judgement]int{analysis.Pass: 0, analysis.TooClose: 1, analysis.Fail: 2}
	for _, c := range o.Checks {
		if c.Why != "" && !math.IsNaN(c.Value) {
			o.Cautions = append(o.Cautions, fmt.Sprintf("%s is judged by its value alone (%s)", c.Name, c.Why))
		}
		if c.Judgement == analysis.NoData {
			return nil, usagef("%s: refused: %s is a limit on nothing: no request at 100 %% is in its scope; take it out, or let the workload have such requests", g.File, c.Name)
		}
		if worst[c.Judgement] > worst[o.Verdict] {
			o.Verdict = c.Judgement
		}
	}
	o.fall()
	o.tool()
	o.steady(at)
	o.Advice = o.advise()
	return o, nil
}

// row returns what was found at a level.
func (o *Outcome) row(name string) *Row { return &o.Rows[o.Gate.at(name)] }

// checkOf returns a verdict as a check.
func checkOf(v *analysis.Verdict) Check {
	c := Check{Name: v.Limit, Judgement: v.Judgement, Count: v.Count, Failed: v.Failed}
	switch {
	case v.IsGoodput:
		c.Unit, c.Known, c.Why = "share", v.ShareInterval.OK, v.ShareInterval.Why()
		c.Value, _ = v.Share()
		c.Lo, c.Hi = v.ShareInterval.Lo, v.ShareInterval.Hi
	case v.Value.Unbounded:
		c.Unit, c.Value = "ms", math.NaN()
	default:
		c.latency(v.Value.Value, v.Value.Interval)
	}
	return c
}

// fall compares the loads at and beyond the target.
func (o *Outcome) fall() {
	a, b := o.row(strconv.Itoa(target)).Shares, o.row(strconv.Itoa(beyond)).Shares
	var points []float64
	for i := range min(len(a), len(b)) {
		points = append(points, float64(100*(a[i]-b[i])))
	}
	r := analysis.RateOf(points)
	o.Fall = Fall{Points: r.Mean, Lo: r.Lo, Hi: r.Hi, Known: r.OK, Flagged: r.Mean > LargestFall}
}

// tool adds a caution if the dialect's own goodput would give another answer.
func (o *Outcome) tool() {
	g, at := o.Gate, o.row(strconv.Itoa(target))
	least := g.Class.Target.Fraction()
	if math.IsNaN(at.ToolGood) || (at.ToolGood >= least) == (at.Pool.Share >= least) {
		return
	}
	o.Cautions = append(o.Cautions, fmt.Sprintf("by the rules of %s %s of requests were good, by servesim's %s: the verdict depends on whose rules they are",
		g.Dialect.Tool, percent(at.ToolGood), percent(at.Pool.Share)))
}

// mostRamp is the share of a run that may be over before a first answer is, on the
// mean: until then fewer requests are under way than later.
const mostRamp = 0.1

// steady adds a caution if the runs at a load are no steady state.
func (o *Outcome) steady(r *Row) {
	if r.Overloaded > 0 {
		o.Cautions = append(o.Cautions, fmt.Sprintf("in %d of %s at %s the queue grew as long as requests came, so that figures there get worse as runs get longer",
			r.Overloaded, analysis.Counted(int64(len(r.Shares)), "run"), r.Level.Title))
	}
	if p := o.Gate.plan; p != nil && !o.Measured && p.Given("run.warmup") {
		return // the begin isn't in the figures
	}
	for _, m := range r.Pool.Metrics {
		if m.Key != analysis.E2EL.String() || !m.OK || !r.Clock || r.Span <= 0 {
			continue
		}
		if e2e := m.Mean.Seconds(); e2e > float64(mostRamp*r.Span) {
			o.Cautions = append(o.Cautions, fmt.Sprintf("runs are short: requests come for %s s at %s, and an answer takes %s s, in which the engine fills from empty; give [runs] more requests, or the scenario run.warmup",
				report.Number(r.Span), r.Level.Title, report.Number(e2e)))
		}
	}
}

// percent writes a share with one digit, and more as far as they tell it from 100 %
// and from the targets of the classes.
func percent(share float64) string {
	if math.IsNaN(share) {
		return "no data"
	}
	const most = 7
	marks := []float64{1}
	for _, c := range Classes() {
		marks = append(marks, c.Target.Fraction())
	}
	for digits := 1; ; digits++ {
		text := strconv.FormatFloat(100*share, 'f', digits, 64)
		hides := slices.ContainsFunc(marks, func(m float64) bool {
			return share != m && text == strconv.FormatFloat(100*m, 'f', digits, 64)
		})
		if !hides || digits == most {
			return text + " %"
		}
	}
}

// usagef returns a scenario.UsageError with a formatted text.
func usagef(format string, args ...any) error {
	return &scenario.UsageError{Err: fmt.Errorf(format, args...)}
}
