package main

import (
	"fmt"
	"strconv"
	"strings"

	"servesim/sim/workload"
)

// lines says what ran, before the numbers that came of it: a line a part.
func (r *result) lines() []string {
	var l lines
	r.plan.describe(&l)
	if r.trace != nil {
		l.trace(r.trace)
	}
	if keys := r.plan.scenario.Transform.keys(); keys != "" {
		l.item("Transform", "%s", keys)
	}
	for _, c := range r.counts {
		l.item("", "%s: %s", c.What, grouped(c.N))
	}
	for _, c := range traceCautions(r.trace) {
		l.item("Caution", "%s", c)
	}
	if r.outside > 0 {
		l.item("Caution", "%.2g %% of the steps are outside the measurements that step times were fitted on", 100*r.outside)
	}
	return l
}

// traceCautions says what of a trace isn't modelled, a sentence each; t is nil if
// there is none.
func traceCautions(t *workload.Report) []string {
	if t == nil || t.Hashed == 0 {
		return nil
	}
	return []string{fmt.Sprintf("prefix caching is not modelled: prompt tokens that the real engine would find in its cache are computed; %s of %s requests, %.3g %%, carry prefix hashes",
		grouped(t.Hashed), grouped(t.Kept), 100*float64(t.Hashed)/float64(t.Kept))}
}

// describe says what a plan runs.
func (p *plan) describe(l *lines) {
	s := p.scenario
	l.item("Scenario", "%s, seed %d", orElse(s.Name, "without a name"), *s.Seed)
	if s.Workload.Trace == "" {
		l.item("Workload", "%s", drawn(&s.Workload.Spec))
	}
	l.item("Engine", "%s: %s", s.Engine.Policy, strings.Join(p.limits(), ", "))
	l.item("Machine", "%d x %s, %s, weights %s, KV %s", *s.Hardware.TensorParallelSize, p.machine.profile.Name, p.machine.model.Name, p.machine.weights, p.machine.kv)
	l.item("Memory", "%s", p.memory())
	for _, c := range p.cost.Caveats() {
		l.item("Caution", "%s", c)
	}
}

// limits names the options of the engine that shape a schedule.
func (p *plan) limits() []string {
	e := &p.scenario.Engine
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

// drawn describes a drawn workload.
func drawn(s *workload.Spec) string {
	var parts []string
	if s.ClosedLoop != nil {
		parts = append(parts, "closed loop of users")
	} else if s.Arrival != nil {
		arrivals := s.Arrival.Process + " arrivals"
		rate := s.RatePerS
		if rate == nil {
			rate = s.Arrival.RatePerS
		}
		if rate != nil {
			arrivals += fmt.Sprintf(" at %g requests/s", *rate)
		}
		parts = append(parts, arrivals)
	}
	if s.Requests != nil {
		parts = append(parts, grouped(*s.Requests)+" requests")
	}
	if s.Duration != nil {
		parts = append(parts, "for "+s.Duration.String())
	}
	return strings.Join(parts, ", ")
}

// lines are lines of text in the making.
type lines []string

// trace accounts for every row of a trace.
func (l *lines) trace(t *workload.Report) {
	l.item("Trace", "%s (%s): %s rows, %s requests over %.4g s, %s prompt and %s output tokens",
		t.File, t.Format, grouped(t.Rows), grouped(t.Kept), t.Span.Seconds(), grouped(t.PromptTokens), grouped(t.OutputTokens))
	for _, d := range t.Dropped {
		l.item("", "%s rows dropped: %s", grouped(d.N), d.What)
	}
	if t.Raised > 0 {
		l.item("", "%s lengths of 0 raised to 1", grouped(t.Raised))
	}
	if t.OutOfOrder > 0 {
		l.item("", "%s rows out of order, sorted", grouped(t.OutOfOrder))
	}
	for _, n := range t.Notes {
		l.item("", "%s", n)
	}
}

// item adds a line that begins with a name, in the columns of package report.
func (l *lines) item(name, format string, args ...any) {
	*l = append(*l, fmt.Sprintf("%-12s%s", name, fmt.Sprintf(format, args...)))
}

// grouped writes n with a comma after every three digits.
func grouped(n int64) string {
	s := strconv.FormatInt(n, 10)
	sign := ""
	if n < 0 {
		sign, s = "-", s[1:]
	}
	for i := len(s) - 3; i > 0; i -= 3 {
		s = s[:i] + "," + s[i:]
	}
	return sign + s
}
