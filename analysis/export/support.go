package export

// Support says of a kind of figure whether a run can give it.
type Support struct {
	// Figure names it.
	Figure string
	// Lack says what the file would have to hold; empty if it holds it.
	Lack string
}

// Support says which figures the run can give, and why it can't give the others.
func (r *Run) Support() []Support {
	f := &r.Facts
	const (
		first   = "no call has the instant of its first token"
		outputs = "the number of output tokens isn't in the file for every answer"
		prompts = "the number of prompt tokens isn't in the file for every answer"
		clock   = "the instants at which calls were sent aren't in the file"
		gaps    = "the instants of the tokens between the first and the last aren't in the file for every answer"
	)
	token, rate := first, clock // the first thing that is missing
	if f.First {
		token = outputs
	}
	if f.Clock {
		rate = outputs
	}
	replay := rate
	if f.Clock && !f.Prompts {
		replay = prompts
	}
	return []Support{
		{"E2E", unless(r.Completed > 0, "no call was answered")},
		{"TTFT", unless(f.First, first)},
		{"TPOT, a call's mean ITL", unless(f.First && f.Outputs, token)},
		{"ITL of every gap, worst gaps", unless(f.Gaps, gaps)},
		{"requests/s", unless(f.Clock, clock)},
		{"tokens/s", unless(f.Clock && f.Outputs, rate)},
		{"time between schedule and send", unless(f.Schedule, "when the load's schedule wanted calls sent isn't in the file")},
		{"failed calls", unless(f.Failures, "the tool doesn't write all of them")},
		{"hits of a prefix cache", unless(f.Cached, "the cached tokens aren't in the file for every answer")},
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
