package dialect

import (
	"math"

	"servesim/analysis"
	"servesim/analysis/transcript"
	"servesim/sim"
	"servesim/sim/observe"
)

// Window is the time that a rate is divided by.
type Window uint8

// The windows.
const (
	// Wall is from the first call's schedule to the end of the last call, failed
	// ones included.
	Wall Window = iota
	// Calls is from the first send to the end of the last call, failed ones included.
	Calls
	// Valid is from the first send to the last text, of calls that completed with text.
	Valid
	// Successes is from the first send to the last close, of calls that completed.
	Successes
	// LastIssued is from the first schedule to the close of the call that was
	// scheduled last.
	LastIssued
	// Issuing is from the first schedule to the last one.
	Issuing
	windows
)

// String says w in words.
func (w Window) String() string {
	return [...]string{
		"first schedule to end of all calls", "first send to end of all calls", "first send to last text of valid calls",
		"first send to last close of completed calls", "first schedule to close of the call scheduled last",
		"first schedule to last schedule", "unknown",
	}[min(w, windows)]
}

// Amount is what a rate counts.
type Amount uint8

// The amounts.
const (
	// Requests are calls.
	Requests Amount = iota
	// OutputTokens, PromptTokens and AllTokens are tokens of completed calls.
	OutputTokens
	PromptTokens
	AllTokens
	// Latency is the time of the dialect's E2E, so that the rate is a mean number
	// of calls at once.
	Latency
	// PerUser is the inverse of a percentile of the dialect's TPOT.
	PerUser
	// PeakChunks is the most chunks with choices in one second, PeakCalls the most
	// calls at once.
	PeakChunks
	PeakCalls
)

// Whose is the calls that a rate of requests counts.
type Whose uint8

// The calls that count.
const (
	// Completed are the calls that completed.
	Completed Whose = iota
	// Every is all calls, failed ones included.
	Every
	// CompletedLessOne is one fewer than completed, for the first one begins the
	// window; EveryLessOne is one fewer than all.
	CompletedLessOne
	EveryLessOne
	// Chunked are the calls that completed with a chunk with choices.
	Chunked
)

// Rate is a number per time, of a whole run.
type Rate struct {
	// Key is the tool's name of it in files, Label the one that it prints.
	Key, Label string
	// Name is the common name that tools use for such a rate, "" if none does.
	Name   Name
	Unit   Unit
	Amount Amount
	Whose  Whose
	Count  Count
	Window Window
	// Of is the percentile that PerUser is about.
	Of analysis.Percentile
}

// times are the instants that windows are made of.
type times struct {
	scheduled, lastScheduled   sim.Time // of all calls
	lastID                     int64    // of the call scheduled last
	lastClose                  sim.Time // and when it closed
	sent, end                  sim.Time // of all calls
	sentValid, endValid        sim.Time // of calls that completed with text
	sentSuccess, closedSuccess sim.Time // of calls that completed
}

// newTimes returns the times of no calls.
func newTimes() times {
	n := transcript.Never
	return times{n, n, -1, n, n, n, n, n, n, n}
}

// take takes in a call.
func (t *times) take(v *view) {
	c := v.call
	earliest(&t.scheduled, c.Scheduled)
	earliest(&t.sent, c.Sent)
	t.end = max(t.end, v.end())
	if c.Scheduled > t.lastScheduled || c.Scheduled == t.lastScheduled && c.ID > t.lastID {
		t.lastScheduled, t.lastID, t.lastClose = c.Scheduled, c.ID, v.end()
	}
	if c.Outcome != observe.Completed {
		return
	}
	earliest(&t.sentSuccess, c.Sent)
	t.closedSuccess = max(t.closedSuccess, v.end())
	if v.texts > 0 {
		earliest(&t.sentValid, c.Sent)
		t.endValid = max(t.endValid, v.at[LastText])
	}
}

// earliest sets first to t if that is earlier or the first there is.
func earliest(first *sim.Time, t sim.Time) {
	if *first == transcript.Never || t < *first {
		*first = t
	}
}

// span returns the length of w, 0 if there were no calls for it.
func (t *times) span(w Window) sim.Duration {
	from, to := t.scheduled, t.end
	switch w {
	case Calls:
		from = t.sent
	case Valid:
		from, to = t.sentValid, t.endValid
	case Successes:
		from, to = t.sentSuccess, t.closedSuccess
	case LastIssued:
		to = t.lastClose
	case Issuing:
		to = t.lastScheduled
	}
	if from == transcript.Never || to < from {
		return 0
	}
	return to.Sub(from)
}

// tally counts the output tokens of completed calls by one Count.
type tally struct {
	count   Count
	tokens  int64
	unknown int64 // calls whose count isn't known
}

// take takes in a completed call.
func (t *tally) take(v *view) {
	n, ok := t.count.of(v)
	if !ok {
		t.unknown++
		return
	}
	t.tokens += n
}

// totals are what rates count, and the calls by how they ended.
type totals struct {
	calls, completed int64
	prompt           int64
	promptUnknown    int64
	chunks, chunked  int64 // chunks with text of completed calls, and their tokens
	unchunked        int64 // completed calls without a chunk with choices
	unchunkedPrompt  int64 // and the tokens of their prompts
}

// take takes in a call of a source that knows facts f.
func (t *totals) take(v *view, f transcript.Facts) {
	t.calls++
	if v.call.Outcome != observe.Completed {
		return
	}
	t.completed++
	if v.call.Prompt >= 0 {
		t.prompt += int64(v.call.Prompt)
	} else {
		t.promptUnknown++
	}
	if !v.answered(Chunked, f) {
		t.unchunked++
		t.unchunkedPrompt += int64(max(v.call.Prompt, 0))
	}
	t.chunks += v.texts
	if v.call.Output > 0 {
		t.chunked += int64(v.call.Output)
	}
}

// of returns the number of calls that are counted by w.
func (t *totals) of(w Whose) int64 {
	switch w {
	case Every:
		return t.calls
	case CompletedLessOne:
		return max(t.completed-1, 0)
	case EveryLessOne:
		return max(t.calls-1, 0)
	case Chunked:
		return t.completed - t.unchunked
	}
	return t.completed
}

// prompts returns the prompt tokens of the calls that are counted by w.
func (t *totals) prompts(w Whose) int64 {
	if w == Chunked {
		return t.prompt - t.unchunkedPrompt
	}
	return t.prompt
}

// per returns n divided by span in seconds, NaN if there is no span.
func per(n float64, span sim.Duration) float64 {
	if span <= 0 {
		return math.NaN()
	}
	return n / span.Seconds()
}
