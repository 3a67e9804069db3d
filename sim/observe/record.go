package observe

import "servesim/sim"

// Outcome says how a request left the system. Every request has exactly one.
type Outcome uint8

// The outcomes.
const (
	// Completed: the client got every token, and in time: Last + Response is not
	// after its timeout.
	Completed Outcome = iota
	// Rejected: the engine refused or dropped it; Request.Reason says why.
	Rejected
	// TimedOut: it was not finished when the client's timeout ended.
	TimedOut
	// Cancelled: the client gave it up before it was finished.
	Cancelled
	// Unfinished: the run ended first, by its horizon or because a request
	// that can never fit blocked the queue.
	Unfinished
	// ReplicaFailed: the replica that had it failed, and it was not tried again;
	// Request.Reason says why.
	ReplicaFailed
)

// outcomeNames returns the names of the outcomes, in order.
func outcomeNames() [int(ReplicaFailed) + 1]string {
	return [...]string{"completed", "rejected", "timed_out", "cancelled", "unfinished", "replica_failed"}
}

// String returns the name of o as records and reports spell it.
func (o Outcome) String() string {
	if names := outcomeNames(); int(o) < len(names) {
		return names[o]
	}
	return "unknown"
}

// Outcomes lists every outcome, in order.
func Outcomes() []Outcome {
	return []Outcome{Completed, Rejected, TimedOut, Cancelled, Unfinished, ReplicaFailed}
}

// Never marks an instant of a Request that did not come about.
const Never = sim.Time(-1)

// Held says why the first request that waited was not admitted to a step.
type Held uint8

// The reasons.
const (
	// NotHeld: nobody waited.
	NotHeld Held = iota
	// HeldSlots: as many sequences ran as may (max_num_seqs).
	HeldSlots
	// HeldBlocks: too few KV blocks were free, or the step preempted for want of them.
	HeldBlocks
	// HeldBudget: too little was left of the step's token budget.
	HeldBudget
	// HeldPartial: as many long prompts were being computed as may be at once.
	HeldPartial
	// HeldOrder: the policy did not admit then, whatever was free.
	HeldOrder
)

// heldNames returns the names of the reasons, in order.
func heldNames() [int(HeldOrder) + 1]string {
	return [...]string{"", "slots", "blocks", "budget", "partial", "order"}
}

// String returns the name of h as records spell it, "" for NotHeld.
func (h Held) String() string {
	if names := heldNames(); int(h) < len(names) {
		return names[h]
	}
	return "unknown"
}

// Attempt is the time that a request had spent on a replica when that failed. What
// the replica had done for it is lost.
type Attempt struct {
	// Replica is the one that failed.
	Replica int32
	// From is when the request joined its queue, To when it failed.
	From, To sim.Time
	// Output is the number of output tokens that it had made, Computed of those run
	// through its model, in steps that ended before.
	Output   int32
	Computed int64
}

// Span is Steps successive steps of one replica, from the one whose serial is Step.
type Span struct{ Step, Steps int64 }

// Request is what became of one request. The instants are at the engine; they
// satisfy Arrival ≤ Sent ≤ Sent + Detour ≤ Queued ≤ Scheduled ≤ First ≤ Last ≤ End, as far as they
// came about.
//
// What the client sees is
//
//	TTFT = (Sent-Arrival) + (Scheduled-Sent) + (First-Scheduled)     network, queue, prefill
//	E2E  = TTFT + (Last-First) + Response                            decode, network
type Request struct {
	// ID, Name, Line, Class, Session and Priority are those of the workload's request.
	ID       int64
	Name     string
	Line     int64
	Class    string
	Session  int64
	Priority int32
	// Replica is the engine that served it last, from 0.
	Replica int32
	// Outcome says how it ended, and Reason why it was rejected, lost or left unfinished.
	Outcome Outcome
	Reason  string

	// Arrival is when the client made the call.
	Arrival sim.Time
	// Sent is when it joined the engine's queue: Arrival plus the network's and
	// the front end's delay. Never if it ended before. Of a request with a Detour it
	// is when it reached the pool.
	Sent sim.Time
	// Detour is how long after Sent it joined the queue of Replica: what it spent on
	// replicas that failed, and waiting for one that would take it. If none did, it
	// is the time up to End.
	Detour sim.Duration
	// Attempts is its lost ones, in order, which lie within the Detour. All that the
	// record says of steps and tokens is of the attempt after the last of them.
	Attempts []Attempt
	// Queued is when the engine first chose with it in the queue: the end of the
	// step that was under way at Sent, or with asynchronous scheduling that of
	// the step after, which was planned by then. Never if it ended before, and in
	// records that do not tell.
	Queued sim.Time
	// Scheduled is when the step that first computed any of its tokens began, or Never.
	Scheduled sim.Time
	// First is when its first output token was made, or Never.
	First sim.Time
	// Last is when its latest output token was made, or Never.
	Last sim.Time
	// End is when it left the engine: Last if the engine made all its tokens, the
	// instant of the rejection, timeout or cancellation otherwise.
	End sim.Time
	// Response is the network's delay of the answer.
	Response sim.Duration

	// Prompt is the prompt's length in tokens.
	Prompt int32
	// Wanted is the number of output tokens that the workload asked for.
	Wanted int32
	// Output is the number of output tokens made. A completed request has
	// fewer than Wanted only where max_model_len cut it off.
	Output int32
	// Cached is the number of prompt tokens that a prefix cache saved.
	Cached int32
	// Preemptions counts how often it lost its KV blocks.
	Preemptions int32
	// Computed is the number of tokens that were run through the model for it,
	// prompt and output alike, in steps that ended before it left. For a request
	// that got all its tokens it is Prompt + Output - 1 - Cached + Recomputed.
	Computed int64
	// Recomputed is the number of those that were run again because a
	// preemption had dropped them.
	Recomputed int64
	// MaxGap is the longest time between two successive output tokens, 0 if
	// there were not two.
	MaxGap sim.Duration
	// Made is the steps of its replica that each made one output token for it, at
	// their end: the longest spans there are, in order. Their steps sum to Output,
	// unless the records do not tell: Made is then empty.
	Made []Span
	// Lost is, for each preemption, the serial of the step that was formed then
	// or, if it came to nothing, the one after: the request lost its blocks when
	// that step began.
	Lost []int64
}

// Joined returns when r joined the queue of Replica: Sent + Detour. It is Never if r
// ended before Sent, and End if no replica took it after its Detour.
func (r *Request) Joined() sim.Time {
	if r.Sent == Never {
		return Never
	}
	return r.Sent.Add(r.Detour)
}

// Gaps is a run of inter-token gaps: each of Seqs sequences saw Steps gaps in
// a row, of First, First+Inc, First+2·Inc and so on.
type Gaps struct {
	Seqs  int32
	Steps int64
	First sim.Duration
	Inc   sim.Duration
}

// Chunk is the part of one request's prompt that a step computes.
type Chunk struct {
	// ID is the request's.
	ID int64
	// Start is the number of its tokens computed before, Tokens the number
	// computed by this step.
	Start, Tokens int32
	// Resumed tells that tokens are computed again, which a preemption dropped.
	Resumed bool
	// Ghost tells that the request was preempted to form the step, which computes
	// the tokens all the same; they are lost (vLLM V1 up to v0.15).
	Ghost bool
}

// StepRun is one or more engine steps in a row with the same batch, whose
// durations are First, First+Inc, First+2·Inc and so on. A run of one batch
// may be cut into several StepRuns at any step: only its expansion into steps
// has meaning.
type StepRun struct {
	// Replica is the engine, from 0.
	Replica int32
	// Serial is the first step's number among those of its replica, from 0. That
	// of the next run is larger by Steps, whether the replica failed between or not.
	Serial int64
	// Start is when the first step began.
	Start sim.Time
	// Cut tells that this is one step that did not end: its replica failed First
	// after it began. It made no tokens, and Chunks were not computed to the end.
	Cut bool
	// Steps is the number of steps, at least 1; 1 if Chunks is not empty.
	Steps int64
	// First is the duration of the first step, Inc how much longer each
	// following one is.
	First, Inc sim.Duration
	// Base is how long the first step would have lasted without its Chunks: First
	// if there are none, 0 if there are no Decodes. It is at most First, and 0 in
	// records that do not tell.
	Base sim.Duration
	// Decodes is the number of sequences that decode one token in each step,
	// DecodeKV the sum of their context lengths in tokens in the first one.
	Decodes  int32
	DecodeKV int64
	// Chunks are the prompt chunks of the step.
	Chunks []Chunk
	// Gaps are the inter-token gaps that end in these steps, those included
	// whose client gave up while the step was under way.
	Gaps []Gaps
	// Running and Waiting are the numbers of requests that hold a slot and that
	// queue for one, taken when the run began, after its admissions.
	Running, Waiting int32
	// Oldest is the earliest Joined of the requests that the replica had then and
	// whose records were not out, whether they ran, queued or were not yet seen.
	// Never if there were none, and in records that do not tell.
	Oldest sim.Time
	// Held is why the first of those that waited was not admitted.
	Held Held
	// Preempted is the number of requests preempted to form the first step.
	Preempted int32
	// BlocksUsed is the number of KV blocks in use in the last step.
	BlocksUsed int64
}

// Duration returns how long all the steps of r last.
func (r *StepRun) Duration() sim.Duration {
	n := sim.Duration(r.Steps)
	return n*r.First + r.Inc*(n*(n-1)/2)
}

// Sink takes the records of a run as they come about. A sink must not keep or
// change what it is given: the engine uses it again. An error ends the run.
type Sink interface {
	// Request takes a request that has left the system, in order of End. Of those
	// of a replica that end at one instant the completed come first, each kind in
	// order of ID.
	Request(*Request) error
	// Step takes the next steps of an engine, in order of Start.
	Step(*StepRun) error
}

// Tee is a Sink that hands each record to each of its sinks in turn.
type Tee []Sink

// Request implements Sink.
func (t Tee) Request(r *Request) error {
	for _, s := range t {
		if err := s.Request(r); err != nil {
			return err
		}
	}
	return nil
}

// Step implements Sink.
func (t Tee) Step(r *StepRun) error {
	for _, s := range t {
		if err := s.Step(r); err != nil {
			return err
		}
	}
	return nil
}
