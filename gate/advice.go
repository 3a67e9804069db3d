package gate

import (
	"fmt"
	"math"
	"slices"
	"strconv"

	"servesim/analysis"
	"servesim/report"
)

// advise says what to measure next: where it breaks if it does, what would settle the
// verdict if nothing has, and else what is known least.
func (o *Outcome) advise() string {
	switch o.Verdict {
	case analysis.Fail:
		return o.adviseFailed()
	case analysis.TooClose:
		return o.adviseClose()
	}
	if o.Fall.Flagged {
		return fmt.Sprintf("%s: goodput falls by %s points there, %s; the gate passes, but with less than half the load again to spare%s",
			o.between(strconv.Itoa(target), strconv.Itoa(beyond)), report.Number(o.Fall.Points), o.cause(o.row(strconv.Itoa(beyond))), o.search())
	}
	for _, c := range o.Checks {
		if c.Why != "" {
			return fmt.Sprintf("more runs at %d %%, or longer ones: %s is judged by its value alone (%s)", target, c.Name, c.Why)
		}
	}
	if name, width := o.widest(); width > wide {
		return fmt.Sprintf("more runs at %d %%: %s is known least, its 95 %% interval is %.0f %% of it; what the gate limits is settled", target, name, 100*width)
	}
	before := target
	for i := range o.Rows {
		r := &o.Rows[i]
		if r.Level.Share > target && r.Pool.Share < o.Gate.Class.Target.Fraction() {
			return fmt.Sprintf("%s: the edge lies there, %s%s", o.between(strconv.Itoa(before), r.Level.Name), o.cause(r), o.search())
		}
		if r.Level.Share > target && r.Level.Name != peakName {
			before = int(r.Level.Share)
		}
	}
	last := &o.Rows[len(o.Rows)-1]
	return fmt.Sprintf("above %s (%s), where goodput is still %s: nothing here says where it breaks; add larger shares to the sweep%s",
		last.Level.Title, last.Level.Load(), percent(last.Pool.Share), o.search())
}

// wide is the width of an interval, as a share of its value, from which on nothing
// else is worth knowing first.
const wide = 0.5

// adviseFailed is what to measure after a limit was missed: if it is goodput, between
// the last load that keeps it and the target, and what makes it bind.
func (o *Outcome) adviseFailed() string {
	at := o.row(strconv.Itoa(target))
	if o.Checks[0].Judgement != analysis.Fail {
		for _, c := range o.Checks {
			if c.Judgement == analysis.Fail {
				return fmt.Sprintf("what decides %s, which fails while goodput does not: servesim run with --dialect %s shows its distribution", c.Name, o.Gate.Dialect.Name)
			}
		}
	}
	good := ""
	for i := range o.Rows {
		if o.Rows[i].Level.Share < target && o.Rows[i].Pool.Share >= o.Gate.Class.Target.Fraction() {
			good = o.Rows[i].Level.Name
		}
	}
	if good == "" {
		first := &o.Rows[0]
		return fmt.Sprintf("one request alone (concurrency 1): goodput is %s at %s already, %s, so that load isn't what breaks it; the limits may be out of reach for this model, layout and workload",
			percent(first.Pool.Share), first.Level.Title, o.cause(first))
	}
	return fmt.Sprintf("%s: goodput breaks there, %s%s", o.between(good, strconv.Itoa(target)), o.cause(at), o.search())
}

// search says what finds the rate at which goodput breaks. What was measured has no
// scenario to search on, and users who wait for their answers have no rate.
func (o *Outcome) search() string {
	if o.Measured || o.row(strconv.Itoa(target)).Level.Users > 0 {
		return ""
	}
	return "; servesim capacity on this scenario, with the same limits, finds the rate where it does"
}

// adviseClose is what to measure to settle the verdict.
func (o *Outcome) adviseClose() string {
	for _, c := range o.Checks {
		if c.Judgement != analysis.TooClose {
			continue
		}
		if c.Unit != "share" {
			return fmt.Sprintf("more runs at %d %% (replications = %d): %s lies within its interval, %s to %s",
				target, 4*o.Gate.Runs, c.Name, c.text(c.Lo), c.text(c.Hi))
		}
		off := math.Abs(c.Value - o.Gate.Class.Target.Fraction())
		half := (c.Hi - c.Lo) / 2
		runs := 10 * o.Gate.Runs
		if off > 0 && half/off < 3 {
			runs = int(math.Ceil(float64(1.2*float64(o.Gate.Runs)) * half / off * half / off))
		}
		return fmt.Sprintf("more runs at %d %%: goodput is %s, its interval %s to %s holds the target; about %s would settle it if it is what it seems (replications = %d); %s",
			target, percent(c.Value), percent(c.Lo), percent(c.Hi), analysis.Counted(int64(max(runs, 2*o.Gate.Runs)), "run"), max(runs, 2*o.Gate.Runs), o.cause(o.row(strconv.Itoa(target))))
	}
	return ""
}

// widest returns the percentile at the target, of a metric that the gate limits, of
// which the least is known, and the width of its interval as a share of it.
func (o *Outcome) widest() (name string, width float64) {
	for _, m := range o.row(strconv.Itoa(target)).Pool.Metrics {
		for _, q := range m.Quantiles {
			if !q.Interval.OK || q.Value <= 0 || !o.Gate.limited(m.Key) {
				continue
			}
			if w := float64(q.Interval.Hi-q.Interval.Lo) / float64(q.Value); w > width {
				name, width = fmt.Sprintf("%s %s", m.Name, q.P), w
			}
		}
	}
	return name, width
}

// limited tells whether g limits the metric that has a key.
func (g *Gate) limited(key string) bool {
	for _, l := range analysis.Objectives() {
		if l.String() == key && limits(&g.SLO, l) {
			return true
		}
	}
	return slices.ContainsFunc(g.Thresholds, func(t Threshold) bool { return t.Metric == key })
}

// between says between which two loads to measure.
func (o *Outcome) between(a, b string) string {
	low, high := &o.row(a).Level, &o.row(b).Level
	return fmt.Sprintf("between %s and %s of the target (%s and %s)", low.Title, high.Title, low.Load(), high.Load())
}

// cause says which limit binds at a load, and what is known of why.
func (o *Outcome) cause(r *Row) string {
	if r.Binding < 0 {
		return "for failed requests alone"
	}
	l, e := &o.Gate.SLO.Goodput[r.Binding], &r.Each[r.Binding]
	text := fmt.Sprintf("%s binds, missed by %s of %s", l, analysis.Grouped(e.Requests-e.Met), analysis.Counted(e.Requests, "request"))
	switch {
	case r.Overloaded > 0:
		return text + fmt.Sprintf(", and in %d of %s the queue grew to the end", r.Overloaded, analysis.Counted(int64(len(r.Shares)), "run"))
	case l.Objective == analysis.TTFT && r.QueueShare >= 0.5:
		return text + fmt.Sprintf(", and %s of TTFT is spent in the queue: vary replicas or KV cache, not prefill", percent(r.QueueShare))
	case l.Objective == analysis.TTFT && r.QueueShare < 0.5:
		return text + ", and most of TTFT is prefill and network: vary max_num_batched_tokens, or the lengths of prompts"
	case l.Objective == analysis.MaxGap:
		return text + ": prompts stall answers beside them: vary max_num_batched_tokens"
	case l.Objective == analysis.TPOT:
		return text + ": batches are large or share steps with prompts: vary max_num_seqs and max_num_batched_tokens"
	}
	return text
}
