package export

import "fmt"

// Support says of a kind of figure whether a run can give it.
type Support struct {
	// Figure names it.
	Figure string
	// Lack says what the file would have to hold; empty if it holds it.
	Lack string
}

// Support says which figures the run can give, and why it can't give the others.
func (r *Run) Support() []Support {
	f, m := &r.Facts, &r.missing
	of := func(n int64, what string) string {
		if n == r.Completed {
			return what + " not in the file"
		}
		return fmt.Sprintf("%s not in the file for %d of %d answers", what, n, r.Completed)
	}
	const clock = "the instants at which calls were sent are not in the file"
	first := of(m.first, "the instant of the first token is")
	outputs := of(m.outputs, "the number of output tokens is")
	prompts := of(m.prompts, "the number of prompt tokens is")
	gaps := of(m.gaps, "the instants of the tokens between the first and the last are")
	token, rate := first, clock // the first thing that is missing
	if f.First {
		token = outputs
	}
	timed := f.Clock || f.Wall > 0 // from the calls, or by what the file says of the run
	if timed {
		rate = outputs
	}
	replay := clock
	switch {
	case f.Clock && !f.Prompts:
		replay = prompts
	case f.Clock:
		replay = outputs
	}
	return []Support{
		{"E2E", unless(r.Completed > 0, "no call was answered")},
		{"TTFT", unless(f.First, first)},
		{"TPOT, a call's mean ITL", unless(f.First && f.Outputs, token)},
		{"ITL of every gap, worst gaps", unless(f.Gaps, gaps)},
		{"requests/s", unless(timed, clock)},
		{"tokens/s", unless(timed && f.Outputs, rate)},
		{"time between schedule and send", unless(f.Schedule, "when the load's schedule wanted calls sent is not in the file")},
		{"failed calls", unless(f.Failures, "the tool doesn't write all of them")},
		{"hits of a prefix cache", unless(f.Cached, of(m.cached, "the number of cached tokens is"))},
		{"replay as a trace", unless(f.Clock && f.Prompts && f.Outputs, replay)},
	}
}

// unless returns why, or "" if ok.
func unless(ok bool, why string) string {
	if ok {
		return ""
	}
	return why
}
