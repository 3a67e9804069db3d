package page

import (
	"fmt"
	"strconv"
	"strings"

	"servesim/analysis"
	"servesim/sim"
	"servesim/sim/observe"
)

// verdictOfRun says in a sentence what came of a run.
func verdictOfRun(r *analysis.Report) string {
	var words []string
	if n := len(r.Verdicts); n > 0 {
		words = append(words, limitsMet(r.Verdicts))
	}
	words = append(words, served(r))
	var tails []string
	for _, m := range r.Metrics() {
		if q, ok := highest(m.Distribution); ok && (m.Key == "ttft" || m.Key == "itl") {
			tails = append(tails, fmt.Sprintf("%s %s is %s", upper(q.P.String()), m.Name, ms(q.Value)))
		}
	}
	if r.MaxGap.OK {
		tails = append(tails, "the worst gap between two tokens "+ms(r.MaxGap.Max))
	}
	if len(tails) > 0 {
		words = append(words, listed(tails))
	}
	if !r.Unseen.Clock {
		words = append(words, "load "+string(r.Saturation.State))
	}
	return capital(strings.Join(words, "; ")) + "."
}

// served says how many requests were good, or completed.
func served(r *analysis.Report) string {
	n := r.Counts.Requests
	if g := r.Goodput; g != nil {
		if share, ok := g.Share(); ok {
			text := fmt.Sprintf("%s of %s met every limit", percent(share), analysis.Counted(n, "request"))
			if g.Good < g.Requests && g.Binding >= 0 && g.Binding < len(g.Limits) {
				text += fmt.Sprintf(" (%s is missed most)", g.Limits[g.Binding].String())
			}
			return text
		}
	}
	done := r.Counts.Of(observe.Completed)
	if done == n {
		return "all of " + analysis.Counted(n, "request") + " completed"
	}
	return fmt.Sprintf("%s of %s completed", analysis.Grouped(done), analysis.Counted(n, "request"))
}

// limitsMet says how the limits on a run were kept.
func limitsMet(list []analysis.Verdict) string {
	count := map[analysis.Judgement]int{}
	for _, v := range list {
		count[v.Judgement]++
	}
	if count[analysis.Pass] == len(list) {
		return fmt.Sprintf("PASS: %s kept", analysis.Counted(int64(len(list)), "limit on the run"))
	}
	var words []string
	for _, j := range []analysis.Judgement{analysis.Fail, analysis.TooClose, analysis.NoData, analysis.Pass} {
		if count[j] > 0 {
			words = append(words, fmt.Sprintf("%d %s", count[j], j))
		}
	}
	return "of the limits on the run " + strings.Join(words, ", ")
}

// highest returns the highest percentile of d up to P99 that has values beyond it; ok is false if there is none.
func highest(d *analysis.Distribution) (q analysis.QuantileValue, ok bool) {
	if !d.OK {
		return q, false
	}
	for _, one := range d.Quantiles {
		if one.P.Fraction() <= 0.99 && float64(d.Count)*(1-one.P.Fraction()) >= 1 {
			q, ok = one, true
		}
	}
	return q, ok
}

// verdictOfPair says in a sentence what changed from one run to another.
func verdictOfPair(base, run string, p *analysis.Paired) string {
	var words []string
	for _, want := range [][2]string{{"max_gap", "p99"}, {"itl", "p99"}, {"ttft", "p99"}, {"tpot", "mean"}} {
		for i := range p.Changes {
			if c := &p.Changes[i]; c.Key == want[0] && c.Statistic == want[1] {
				words = append(words, changeText(c))
			}
		}
	}
	if len(words) == 0 {
		return fmt.Sprintf("%s against %s: no latency can be compared.", run, base)
	}
	if g := p.Goodput; g != nil {
		words = append(words, fmt.Sprintf("goodput goes from %s to %s", percent(g.Base), percent(g.Run)))
	}
	return fmt.Sprintf("From %s to %s: %s.", base, run, listed(words))
}

// changeText says how a statistic changed, and whether that is more than chance.
func changeText(c *analysis.Change) string {
	what := c.Name
	if c.Statistic == "mean" {
		what = "mean " + what
	} else {
		what = upper(c.Statistic) + " " + what
	}
	if c.Direction == analysis.Same {
		return what + " stays as it is"
	}
	verb, factor := "rises", ratio(c.Base, c.Run)
	if c.Run < c.Base {
		verb, factor = "falls", ratio(c.Run, c.Base)
	}
	text := fmt.Sprintf("%s %s%s from %s to %s", what, verb, factor, brief(c.Base), brief(c.Run))
	if c.Direction == analysis.Unclear {
		text += " (perhaps by chance)"
	}
	return text
}

// brief writes d in milliseconds with three digits, as sentences do.
func brief(d sim.Duration) string {
	x := d.Milliseconds()
	switch {
	case x >= 100:
		return analysis.Grouped(int64(x+0.5)) + " ms"
	case x >= 0.001:
		return strconv.FormatFloat(x, 'g', 3, 64) + " ms"
	}
	return ms(d)
}

// ratio says how many times as much b is as a, if it is three times or more.
func ratio(a, b sim.Duration) string {
	if a <= 0 || b < 3*a {
		return ""
	}
	x := float64(b) / float64(a)
	if x >= 10 {
		return fmt.Sprintf(" %.0f-fold,", x)
	}
	return fmt.Sprintf(" %.1f-fold,", x)
}

// verdictOfMany says which of runs does best by what.
func verdictOfMany(c *analysis.Comparison) string {
	var words []string
	for _, want := range []struct{ key, at string }{{"max_gap", "p99"}, {"itl", "p99"}, {"ttft", "p99"}} {
		best, worst := -1, -1
		value := func(i int) sim.Duration { d, _ := statistic(c.Runs[i].Report, want.key, want.at); return d }
		for i := range c.Runs {
			if _, ok := statistic(c.Runs[i].Report, want.key, want.at); !ok {
				continue
			}
			if best < 0 || value(i) < value(best) {
				best = i
			}
			if worst < 0 || value(i) > value(worst) {
				worst = i
			}
		}
		if best < 0 || value(best) == value(worst) {
			continue
		}
		words = append(words, fmt.Sprintf("%s %s is least in %s (%s; most in %s, %s)", upper(want.at), metricName(c.Runs[0].Report, want.key),
			c.Runs[best].Name, ms(value(best)), c.Runs[worst].Name, ms(value(worst))))
	}
	if len(words) == 0 {
		return fmt.Sprintf("%d runs of the same requests, alike in every tail.", len(c.Runs))
	}
	return fmt.Sprintf("Of %d runs of the same requests %s.", len(c.Runs), listed(words))
}

// statistic returns a percentile of a metric of r, by their names.
func statistic(r *analysis.Report, key, at string) (sim.Duration, bool) {
	for _, m := range r.Metrics() {
		if m.Key != key || !m.OK {
			continue
		}
		for _, q := range m.Quantiles {
			if q.P.String() == at {
				return q.Value, true
			}
		}
	}
	return 0, false
}

// metricName returns what tables call the metric with a key.
func metricName(r *analysis.Report, key string) string {
	for _, m := range r.Metrics() {
		if m.Key == key {
			return m.Name
		}
	}
	return key
}

// upper writes a percentile with a capital, as sentences do.
func upper(p string) string { return strings.ToUpper(p[:1]) + p[1:] }

// capital begins a sentence.
func capital(s string) string {
	if s == "" || s[0] < 'a' || s[0] > 'z' {
		return s
	}
	return string(s[0]-'a'+'A') + s[1:]
}

// listed joins parts of a sentence.
func listed(words []string) string {
	if len(words) < 2 {
		return strings.Join(words, "")
	}
	return strings.Join(words[:len(words)-1], ", ") + " and " + words[len(words)-1]
}
