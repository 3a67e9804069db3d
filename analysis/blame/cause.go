package blame

import (
	"strings"

	"servesim/sim"
)

// Cause is what a part of a request's latency was spent on.
type Cause uint8

// The causes, in the order of a request's life, and then those of what goes wrong.
const (
	// NetworkRequest: from the client's call to the engine's queue.
	NetworkRequest Cause = iota
	// InFlight: waiting, on arrival, for the end of the step under way.
	InFlight
	// Ahead: waiting for the step after, which asynchronous scheduling had planned.
	Ahead
	// Slots: queued while as many sequences ran as may.
	Slots
	// Blocks: queued, or passed over, while too few KV blocks were free.
	Blocks
	// Budget: queued, or passed over, while decodes took the token budget.
	Budget
	// Behind: waiting, before its own prompt was computed, while others' were.
	Behind
	// Order: queued while the policy admitted nobody, whatever was free.
	Order
	// Prefill: the steps that computed its own prompt, less what others' prompts
	// took of them.
	Prefill
	// PrefillSlowed: what others' prompts took of those steps.
	PrefillSlowed
	// Decode: the steps that made its tokens, at the length that the decodes of
	// the batch alone would have given them.
	Decode
	// DecodeSlowed: how much longer those steps were for the prompts in them.
	DecodeSlowed
	// Stalled: steps with prompts that made no token for it though its own prompt
	// was done.
	Stalled
	// LeftOut: steps without prompts that made no token for it though its own
	// prompt was done, for want of blocks or budget.
	LeftOut
	// Preempted: waiting to be admitted again after a preemption.
	Preempted
	// Redo: computing again what a preemption had dropped.
	Redo
	// NetworkResponse: from the last token to the client.
	NetworkResponse
	// Failed: on replicas that failed, from joining their queue to the failure,
	// whatever they did for it.
	Failed
	// NoReplica: at the router, waiting to be tried again or for a replica that takes
	// requests.
	NoReplica
	// Idle: nothing ran, as when the head of the queue can never be served.
	Idle
)

// Causes is the number of causes.
const Causes = int(Idle) + 1

// causeNames returns the names of the causes, in order, as reports spell them.
func causeNames() [Causes]string {
	return [...]string{
		"network request", "step in flight", "step planned ahead", "slot", "KV blocks", "token budget",
		"behind prompts", "policy's order", "own prefill", "prefill beside prompts", "decode",
		"decode beside prompts", "stalled by prompts", "left out", "preempted", "computing again",
		"network response", "on a failed replica", "for a replica", "idle",
	}
}

// String returns the name of c.
func (c Cause) String() string {
	if names := causeNames(); int(c) < len(names) {
		return names[c]
	}
	return "unknown"
}

// Key returns the name of c in programs' terms: lower case, words joined by
// underscores.
func (c Cause) Key() string { return key(c.String()) }

// key returns a name in programs' terms.
func key(name string) string {
	return strings.NewReplacer(" ", "_", "'", "").Replace(strings.ToLower(name))
}

// Named tells that time charged to c is charged to certain prompts.
func (c Cause) Named() bool {
	return c == Behind || c == PrefillSlowed || c == DecodeSlowed || c == Stalled
}

// Parts is a latency by cause.
type Parts [Causes]sim.Duration

// Sum returns the whole.
func (p *Parts) Sum() (d sim.Duration) {
	for _, part := range p {
		d += part
	}
	return d
}

// add adds q to p.
func (p *Parts) add(q *Parts) {
	for c := range p {
		p[c] += q[c]
	}
}
