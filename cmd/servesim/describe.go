package main

import (
	"fmt"
	"io"
	"strconv"
	"strings"

	"servesim/sim/workload"
)

// writePreamble says what ran, before the numbers that came of it.
func (r *result) writePreamble(out io.Writer) error {
	var b strings.Builder
	r.plan.describe(&b)
	if r.trace != nil {
		describeTrace(&b, r.trace)
	}
	for _, c := range r.counts {
		item(&b, "Transform", "%s: %s", c.What, grouped(c.N))
	}
	if r.outside > 0 {
		item(&b, "Caution", "%.2g %% of the steps are outside the measurements that step times were fitted on", 100*r.outside)
	}
	_, err := io.WriteString(out, b.String())
	return err
}

// describe says what a plan runs, a line a part.
func (p *plan) describe(b *strings.Builder) {
	s := p.scenario
	item(b, "Scenario", "%s, seed %d", orElse(s.Name, "without a name"), *s.Seed)
	if s.Workload.Trace == "" {
		item(b, "Workload", "%s", drawn(&s.Workload.Spec))
	}
	item(b, "Engine", "%s: %s", s.Engine.Policy, strings.Join(p.limits(), ", "))
	item(b, "Machine", "%d x %s, %s, weights %s, KV %s", *s.Hardware.TensorParallelSize, p.machine.profile.Name, p.machine.model.Name, p.machine.weights, p.machine.kv)
	item(b, "Memory", "%s", p.memory())
	for _, c := range p.cost.Caveats() {
		item(b, "Caution", "%s", c)
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

// describeTrace accounts for every row of a trace.
func describeTrace(b *strings.Builder, t *workload.Report) {
	item(b, "Trace", "%s (%s): %s rows, %s requests over %.4g s, %s prompt and %s output tokens",
		t.File, t.Format, grouped(t.Rows), grouped(t.Kept), t.Span.Seconds(), grouped(t.PromptTokens), grouped(t.OutputTokens))
	for _, d := range t.Dropped {
		item(b, "", "%s rows dropped: %s", grouped(d.N), d.What)
	}
	if t.Raised > 0 {
		item(b, "", "%s lengths of 0 raised to 1", grouped(t.Raised))
	}
	if t.OutOfOrder > 0 {
		item(b, "", "%s rows out of order, sorted", grouped(t.OutOfOrder))
	}
	for _, n := range t.Notes {
		item(b, "", "%s", n)
	}
}

// item writes a line that begins with a name, in the columns of package report.
func item(b *strings.Builder, name, format string, args ...any) {
	fmt.Fprintf(b, "%-12s%s\n", name, fmt.Sprintf(format, args...))
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
