package analysis

import (
	"math"

	"servesim/sim"
	"servesim/sim/observe"
)

// Report is what a run says: everything that Summary computed from its records.
type Report struct {
	// Header names the run; zero if Options had none.
	Header observe.Header
	// Unseen is what the records don't tell, as Options has it.
	Unseen Unseen
	// Percentiles are those of every distribution, in ascending order.
	Percentiles []Percentile
	Counts      Counts
	// Start is the first arrival and Span the time from it to the last instant at
	// which a client got its whole answer or a request otherwise left the system,
	// failed ones included.
	Start sim.Time
	Span  sim.Duration

	// The latencies are of completed requests, as their clients see them.
	//
	// TTFT is First-Arrival. It is the sum of Network (Sent-Arrival), Queue
	// (Scheduled-Sent) and Prefill (First-Scheduled).
	TTFT, Network, Queue, Prefill Distribution
	// TPOT is (Last-First)/(Output-1) of each request with two output tokens or
	// more, rounded to the nearest picosecond, halves up.
	TPOT Distribution
	// ITL is every gap between two successive tokens of a sequence, whatever
	// became of its request.
	ITL Distribution
	// MaxGap is the longest of the gaps of each request with two output tokens or more.
	MaxGap Distribution
	// E2E is Last-Arrival+Response.
	E2E Distribution
	// MeanDecode and MeanResponse are the means of Last-First and of Response, so
	// that E2E's mean is that of Network, Queue, Prefill, Decode and Response,
	// each rounded to the nearest picosecond.
	MeanDecode, MeanResponse sim.Duration

	// ByOutput are the completed requests by their output tokens, ByClass by their
	// class; nil if all are in one range, or of one class.
	ByOutput, ByClass []Group

	Tokens     Tokens
	Throughput Throughput
	// Goodput is nil if Options had no limits on requests.
	Goodput *Attainment
	// Verdicts are those on the limits on the run, in order, and then the one on the
	// least goodput.
	Verdicts []Verdict
	Engine   Engine
	// Saturation is whether the engines kept up. In a state that isn't steady the
	// report has no intervals: there is no steady state for them to tell of.
	Saturation Saturation
	// WarmUp is what the rest leaves out, nil if nothing was to be.
	WarmUp *WarmUp
	// Drill is how the run went through failures of replicas, nil if none were to fail.
	Drill *DrillReport
	// Warnings say what to beware of in the rest.
	Warnings []Warning
}

// Counts is how many requests there were and what became of them.
type Counts struct {
	// Requests is the number of all requests.
	Requests int64
	// Outcome is the number of requests of each outcome, in the order of observe.Outcomes.
	Outcome [outcomes]int64
	// Reasons are the reasons given for outcomes, by outcome, then most frequent first.
	Reasons []ReasonCount
	// Preemptions is how often requests lost their KV blocks, and Preempted the
	// number of requests that did.
	Preemptions, Preempted int64
	// CutShort is the number of completed requests with fewer output tokens than wanted.
	CutShort int64
}

// Of returns the number of requests of an outcome.
func (c *Counts) Of(o observe.Outcome) int64 {
	if int(o) >= len(c.Outcome) {
		return 0
	}
	return c.Outcome[o]
}

// ReasonCount is how many requests had one outcome for one reason.
type ReasonCount struct {
	Outcome observe.Outcome
	Reason  string
	Count   int64
}

// Tokens are sums over requests, in tokens.
type Tokens struct {
	// Prompt and Output are those of completed requests.
	Prompt, Output int64
	// Unfinished are the output tokens made for requests that did not complete.
	Unfinished int64
	// Cached are prompt tokens that a prefix cache saved, Computed those run
	// through the model, and Recomputed the ones of these that a preemption had
	// dropped; all three over all requests.
	Cached, Computed, Recomputed int64
	// Begun are the prompt tokens of the requests of which any was computed, those
	// that Cached is a part of.
	Begun int64
}

// Throughput is what completed requests got over the Span of a run. Each is
// NaN if the span is 0.
type Throughput struct {
	Requests     float64 // requests/s
	OutputTokens float64 // tokens/s
	TotalTokens  float64 // prompt and output tokens/s
	// GPUs is the number of GPUs that these are of, 0 if Options had none, and
	// OutputPerGPU the OutputTokens of each, in tokens/s.
	GPUs         int64
	OutputPerGPU float64
	// PerUser is 1/TPOT at each percentile of TPOT: the speed at which an answer
	// streams once it has begun, which that share of users got at least.
	PerUser []UserSpeed
}

// UserSpeed is how fast an answer streams.
type UserSpeed struct {
	// P is a percentile of TPOT.
	P Percentile
	// TokensPerSecond is 1 / TPOT there, +Inf where that is 0.
	TokensPerSecond float64
}

// Engine is what the engines' steps say. It is of no use if Steps is 0, as for
// records without steps.
type Engine struct {
	// Steps is the number of steps and Replicas the number of engines, which without
	// Options.Replicas leaves out those after the last that took a step.
	Steps    int64
	Replicas int
	// Busy is the time that steps took, over all engines, and Utilisation its
	// share of Replicas × Span.
	Busy        sim.Duration
	Utilisation float64
	// PrefillTokens and DecodeTokens are the tokens that steps ran through the model.
	PrefillTokens, DecodeTokens int64
	// Running, Waiting and Blocks are the requests that hold a slot, those that
	// queue for one, and the KV blocks in use, of one engine while it is busy.
	Running, Waiting, Blocks Level
	// KVBlocks is the number of KV blocks of one engine; 0 if Options had none.
	KVBlocks int64
}

// Level is how high a number stood.
type Level struct {
	// Peak is its highest value.
	Peak int64
	// Mean weighs each run of steps by its duration, with the value that the run
	// reports: at its beginning for requests, at its end for blocks.
	Mean float64
}

// perSecond returns n per second of span, NaN if span is 0.
func perSecond(n int64, span sim.Duration) float64 {
	if span <= 0 {
		return math.NaN()
	}
	return float64(n) / span.Seconds()
}
