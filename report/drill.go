package report

import (
	"fmt"
	"math"

	"servesim/analysis"
	"servesim/sim"
	"servesim/sim/observe"
)

// drillNames names the phases of a drill.
func drillNames() [3]string {
	return [...]string{"ended before", "while one was out", "came after"}
}

// drill is how the run went through failures of replicas.
func (p *page) drill(d *analysis.DrillReport) {
	if d == nil {
		return
	}
	if d.From == observe.Never {
		p.item("Drill", "the run ended before any replica stopped taking requests")
		p.line("")
		return
	}
	back := "and to the end"
	if d.To != observe.Never {
		back = fmt.Sprintf("and all did from %s s on", Number(d.To.Sub(0).Seconds()))
	}
	p.item("Drill", "some replica took no requests from %s s on, for %s s in all, %s", Number(d.From.Sub(0).Seconds()), Number(d.Out.Seconds()), back)
	t := table{left: 1}
	t.add("  requests", "count", "good", "share", "TTFT p50, ms", "p99")
	for k, name := range drillNames() {
		f := &d.Phases[k]
		row := []string{"  " + name, analysis.Grouped(f.Requests), analysis.Grouped(f.Good)}
		if share, ok := f.Share(); ok {
			row = append(row, Percent(share))
		} else {
			row = append(row, "no data")
		}
		for _, q := range f.TTFT.Quantiles {
			if share := q.P.Fraction(); share == 0.5 || share == 0.99 {
				row = append(row, milliseconds(q.Value))
			}
		}
		t.add(row...)
	}
	t.write(p)
	p.item("", "%s lost; %s tried again, %s in all, of which %s completed; %s rejected while no replica took requests; %s computed in vain",
		analysis.Counted(d.Lost, "request"), analysis.Grouped(d.Again), analysis.Counted(d.Attempts, "time"), analysis.Grouped(d.Recovered),
		analysis.Grouped(d.NoReplica), analysis.Counted(d.LostTokens, "token"))
	p.item("", "%s", inSystem(d))
	p.item("", "a drill is one event and no steady state, so that there are no intervals")
	p.line("")
}

// inSystem says how many requests there were, and when they were as few as before.
func inSystem(d *analysis.DrillReport) string {
	text := fmt.Sprintf("at most %s in the system, at %s s", analysis.Counted(d.Peak, "request"), Number(d.PeakAt.Sub(0).Seconds()))
	switch {
	case math.IsNaN(d.Level):
		return text + "; none came before, to compare with"
	case d.To == observe.Never:
		return fmt.Sprintf("%s; %s in the mean before", text, Number(d.Level))
	case d.Drained == observe.Never:
		return fmt.Sprintf("%s; %s in the mean before, to which they did not come back", text, Number(d.Level))
	}
	return fmt.Sprintf("%s; %s in the mean before, to which they were back %s s after the last replica was (to %s ms)",
		text, Number(d.Level), Number(d.Drained.Sub(d.To).Seconds()), Number(d.Resolution.Milliseconds()))
}

// drillObject is how the run went through failures, for programs.
func drillObject(d *analysis.DrillReport) object {
	instant := func(t sim.Time) any {
		if t == observe.Never {
			return nil
		}
		return int64(t)
	}
	phases := object{}
	for k, key := range [...]string{"before", "during", "after"} {
		f := &d.Phases[k]
		share, _ := f.Share()
		phases = append(phases, Member{key, object{{"requests", f.Requests}, {"good", f.Good}, {"share", real(share)}, {"ttft", distribution(&f.TTFT)}}})
	}
	return object{
		{"definition", "before: requests that had ended when the first replica stopped taking requests; during: those in the system while some replica took none; after: those that came when all did; good: met every limit on requests, or completed if there are none"},
		{"from_ps", instant(d.From)}, {"to_ps", instant(d.To)}, {"out_ps", int64(d.Out)},
		{"phases", phases},
		{"lost", d.Lost}, {"rejected_without_replica", d.NoReplica}, {"tried_again", d.Again}, {"attempts", d.Attempts},
		{"recovered", d.Recovered}, {"lost_tokens", d.LostTokens},
		{"level", real(d.Level)}, {"peak", d.Peak}, {"peak_at_ps", instant(d.PeakAt)}, {"drained_ps", instant(d.Drained)}, {"resolution_ps", int64(d.Resolution)},
	}
}
