package workload

import (
	"errors"
	"math"

	"servesim/sim"
)

// Request is one call to the engine, as the client makes it.
type Request struct {
	// ID numbers the requests of a source from 0 in the order it yields them.
	ID int64
	// Name is the id that the trace gives the request, or empty.
	Name string
	// Line is the line of the trace file that the request comes from, counted
	// from 1, or 0 if it was generated.
	Line int64
	// Arrival is the instant at which the client makes the call. The first
	// request of a trace arrives at 0.
	Arrival sim.Time
	// Prompt is the length of the prompt in tokens, at least 1.
	Prompt int32
	// Output is the number of tokens that the model will generate, at least 1.
	Output int32
	// Session groups the turns of one conversation or user; 0 is none.
	Session int64
	// Class labels the request for reports by class, or is empty.
	Class string
	// Priority is the engine's priority value: smaller runs first. It matters
	// only to a priority policy.
	Priority int32
	// Cancel is how long after Arrival the client gives the call up; 0 is never.
	Cancel sim.Duration
	// Blocks are hashes of the prompt's prefix blocks of BlockTokens tokens
	// each, each hash standing for its block and everything before it; nil if
	// the trace has none. The caller of Source.Next must not keep or change it.
	Blocks []uint64
	// BlockTokens is the number of tokens that one of Blocks covers.
	BlockTokens int32
	// LeadTokens, if it is not 0, is the number that the first of Blocks covers.
	LeadTokens int32
	// Continued tells that Blocks cover the answer too, as the tokens that follow
	// the prompt: the next turn of a conversation begins with both. No request that
	// arrives before this one has left may have a hash of what its answer ends in.
	// Only a source that nothing transforms may set it or LeadTokens.
	Continued bool
}

// Covered returns the number of tokens, from the prompt's first, that the Blocks
// of r tell of.
func (r *Request) Covered() int32 {
	n := int64(len(r.Blocks))
	if n == 0 {
		return 0
	}
	covered, length := n*int64(r.BlockTokens), int64(r.Prompt)
	if r.LeadTokens > 0 {
		covered += int64(r.LeadTokens) - int64(r.BlockTokens)
	}
	if r.Continued {
		length += int64(r.Output)
	}
	return int32(min(covered, length, math.MaxInt32))
}

// Source yields requests in order of arrival. Implementations are for one
// goroutine.
type Source interface {
	// Next returns the next request. Arrivals never decrease and IDs count up
	// from 0 by 1. The error is io.EOF after the last request; any other error
	// names the file, line and field at fault, and ends the run.
	Next() (Request, error)
}

// Reactive is a Source some of whose requests wait for others to end, such as
// a closed loop of users. Its Next yields the requests that wait for nobody.
type Reactive interface {
	Source
	// Done tells that request id left the system at instant t, in whatever
	// way, and returns the request that this releases; its Arrival is at or
	// after t. ok is false if nothing is released. IDs continue those of Next
	// and earlier Dones.
	Done(id int64, t sim.Time) (r Request, ok bool)
}

// ErrNoReactive reports that a transform cannot be applied to a Reactive source.
var ErrNoReactive = errors.New("a closed loop has no arrival times of its own, so they cannot be transformed")
