package scenario

import (
	"cmp"
	"fmt"
	"math"
	"reflect"
	"strings"

	"servesim/analysis"
	"servesim/internal/strict"
	"servesim/report"
	"servesim/sim/scheduler"
	"servesim/sim/workload"
)

// Facts says what ran, before the numbers that came of it.
func (r *Result) Facts() []Fact {
	var l facts
	r.Plan.describe(&l)
	r.parts(&l)
	if keys := r.Plan.Scenario.Transform.keys(); keys != "" {
		l.item("Transform", "%s", keys)
	}
	for _, c := range r.Counts {
		if c.N > 0 || strings.HasPrefix(c.What, "merge: ") {
			l.item("", "%s: %s", c.What, analysis.Grouped(c.N))
		}
	}
	for _, c := range r.Plan.traceCautions(r.Traces) {
		l.item("Caution", "%s", c)
	}
	if r.Outside > 0 {
		l.item("Caution", "%.2g %% of the steps are outside the measurements that step times were fitted on", 100*r.Outside)
	}
	return l
}

// parts says of each part of the workload what it is and what was read of it: of
// a drawn one that stands alone, describe has said it.
func (r *Result) parts(l *facts) {
	all := r.Plan.Scenario.Workload.Parts()
	for i, p := range all {
		name := p.name()
		switch t := r.Traces[i]; {
		case t != nil:
			if i == 0 {
				name = "Trace"
			}
			l.trace(name, t, p.labelled())
		case len(all) > 1:
			if i == 0 {
				name = "Workload"
			}
			l.item(name, "%s%s", drawn(&p.Spec), p.labelled())
		}
	}
}

// traceCautions says what of traces p doesn't model, a sentence each; those that
// are nil aren't there.
func (p *Plan) traceCautions(traces []*workload.Report) []string {
	var t workload.Report
	for _, one := range traces {
		if one != nil {
			t.Hashed, t.Kept = t.Hashed+one.Hashed, t.Kept+one.Kept
		}
	}
	switch {
	case p.Config.Policy != scheduler.VLLMV0:
		return nil
	case p.Scenario.Workload.Prefix != nil:
		return []string{"the prefix cache of vLLM's V0 engine is not modelled: what prompts have in common by workload.prefix is computed for each"}
	case t.Hashed == 0:
		return nil
	}
	return []string{fmt.Sprintf("the prefix cache of vLLM's V0 engine is not modelled: prompt tokens that the real engine would find in its cache are computed; %s of %s requests, %.3g %%, carry prefix hashes",
		analysis.Grouped(t.Hashed), analysis.Grouped(t.Kept), 100*float64(t.Hashed)/float64(t.Kept))}
}

// Facts says what p runs, before it does.
func (p *Plan) Facts() []Fact {
	var l facts
	p.describe(&l)
	return l
}

// describe says what a plan runs.
func (p *Plan) describe(l *facts) {
	s := p.Scenario
	l.item("Scenario", "%s, seed %d", cmp.Or(s.Name, "without a name"), *s.Seed)
	if s.Workload.Trace == "" && len(s.Workload.Merge) == 0 {
		l.item("Workload", "%s", drawn(&s.Workload.Spec))
	}
	if p := s.Workload.Prefix; p != nil {
		l.item("Prefixes", "%s", p)
	}
	l.item("Engine", "%s: %s", s.Engine.Policy, strings.Join(p.limits(), ", "))
	if n := p.Replicas(); n > 1 {
		l.item("Pool", "%d replicas (%d GPUs), router %s; what follows is each one's", n, p.GPUs(), s.Pool.Router)
	}
	l.drillFacts(p.Drill())
	l.item("Machine", "%d x %s, %s, weights %s, KV %s", *s.Hardware.TensorParallelSize, p.Machine.Profile.Name, p.Machine.Model.Name, p.Machine.Weights, p.Machine.KV)
	l.item("Memory", "%s", p.memory())
	for _, c := range p.Cautions() {
		l.item("Caution", "%s", c)
	}
}

// limits names the options of the engine that shape a schedule.
func (p *Plan) limits() []string {
	e := &p.Scenario.Engine
	chunked := "chunked prefill on"
	if !*e.EnableChunkedPrefill {
		chunked = "chunked prefill off"
	}
	list := []string{
		chunked,
		fmt.Sprintf("max_num_batched_tokens %d", *e.MaxNumBatchedTokens),
		fmt.Sprintf("max_num_seqs %d", *e.MaxNumSeqs),
		fmt.Sprintf("max_model_len %d", *e.MaxModelLen),
	}
	if t := *e.LongPrefillTokenThreshold; t > 0 {
		list = append(list, fmt.Sprintf("long_prefill_token_threshold %d", t))
	}
	if value(e.AsyncScheduling) {
		list = append(list, "async scheduling")
	}
	return list
}

// Prompts says how a vLLM engine divides prompts among steps, such as "computes each
// prompt whole, in one step"; empty of other engines, and where options make exceptions.
func (p *Plan) Prompts() string {
	e := &p.Scenario.Engine
	switch {
	case !strings.HasPrefix(e.Policy, "vllm@") || *e.LongPrefillTokenThreshold > 0:
		return ""
	case !*e.EnableChunkedPrefill:
		return "computes each prompt whole, in one step"
	}
	return fmt.Sprintf("cuts prompts into chunks, of at most %s tokens a step", analysis.Grouped(int64(*e.MaxNumBatchedTokens)))
}

// drawn describes a drawn workload.
func drawn(s *workload.Spec) string {
	var parts []string
	if c := s.ClosedLoop; c != nil {
		loop := "closed loop of " + analysis.Counted(value(c.Users), "user") + ", no think time"
		if c.ThinkTime != nil {
			loop = strings.Replace(loop, "no think time", "think time "+strings.Join(strict.Pairs(*c.ThinkTime), " "), 1)
		}
		if c.Turns != nil {
			loop += "; conversations of turns " + strings.Join(strict.Pairs(*c.Turns), " ")
		}
		parts = append(parts, loop)
	} else if s.Arrival != nil {
		arrivals := s.Arrival.Process + " arrivals"
		if rate, ok := s.MeanRate(); ok {
			arrivals += " at " + perSecond(rate)
			if s.Arrival.Process == "piecewise" || s.Arrival.Process == "on_off" {
				arrivals += " in the mean"
			}
		}
		parts = append(parts, arrivals)
	}
	if s.Requests != nil {
		parts = append(parts, analysis.Counted(*s.Requests, "request"))
	}
	if s.Duration != nil {
		parts = append(parts, "for "+s.Duration.String())
	}
	text := strings.Join(parts, ", ")
	if name := presetOf(*s); name != "" {
		return name + ": " + text
	}
	return text
}

// perSecond writes a rate of requests.
func perSecond(rate float64) string {
	if rate == math.Trunc(rate) && rate < 1e15 {
		return analysis.Grouped(int64(rate)) + " requests/s"
	}
	return report.Number(rate) + " requests/s"
}

// presetOf returns the name of the preset that s is, whatever its rate and its
// length, or "". A scenario that prints its defaults doesn't say it any more.
func presetOf(s workload.Spec) string {
	shape := func(s workload.Spec) workload.Spec {
		s.Requests, s.Duration, s.RatePerS = nil, nil, nil
		return s
	}
	for _, p := range workload.Presets() {
		base, err := workload.Spec{Preset: p.Name}.Resolve()
		if err == nil && reflect.DeepEqual(shape(base), shape(s)) {
			return p.Name
		}
	}
	return ""
}

// A Fact is something that a reader should know of what ran. One without a name
// goes on from the one before.
type Fact struct{ Name, Text string }

// facts is a list of them in the making.
type facts []Fact

// item adds a fact.
func (l *facts) item(name, format string, args ...any) {
	*l = append(*l, Fact{name, fmt.Sprintf(format, args...)})
}

// trace accounts for every row of a trace, in facts of which the first is called
// name; more ends the first of them.
func (l *facts) trace(name string, t *workload.Report, more string) {
	rate := ""
	if t.Span > 0 {
		rate = " (" + perSecond(float64(t.Kept)/t.Span.Seconds()) + ")"
	}
	l.item(name, "%s (%s): %s, %s over %s s%s, %s prompt and %s output tokens%s",
		t.File, t.Format, analysis.Counted(t.Rows, "row"), analysis.Counted(t.Kept, "request"),
		report.Number(t.Span.Seconds()), rate, analysis.Grouped(t.PromptTokens), analysis.Grouped(t.OutputTokens), more)
	for _, d := range t.Dropped {
		l.item("", "%s dropped: %s", analysis.Counted(d.N, "row"), d.What)
	}
	if t.Raised > 0 {
		l.item("", "%s of 0 raised to 1", analysis.Counted(t.Raised, "length"))
	}
	if t.OutOfOrder > 0 {
		l.item("", "%s out of order, sorted", analysis.Counted(t.OutOfOrder, "row"))
	}
	for _, n := range t.Notes {
		l.item("", "%s", n)
	}
}
