package transcript

import (
	"servesim/sim"
	"servesim/sim/observe"
)

// Never marks an instant of a Call that did not come about or is not known.
const Never = observe.Never

// Unknown marks a number of tokens that is not known.
const Unknown = int32(-1)

// Kind says what a chunk of a stream carries.
type Kind uint8

// The kinds of chunks, as OpenAI's streaming API has them.
const (
	// Content is text of the answer.
	Content Kind = iota
	// Role is the opening chunk of a chat, without text.
	Role
	// Reasoning is text that a reasoning parser keeps from the answer.
	Reasoning
	// Tool is a part of a tool call.
	Tool
	// Finish is a chunk without text that carries the finish reason.
	Finish
	// Usage is the closing chunk that carries token counts and no choices.
	Usage
	// Done is the line that ends the stream.
	Done
)

// Chunk is one message of a streamed answer.
type Chunk struct {
	// At is when the client got it.
	At sim.Time
	// Tokens is the number of output tokens that it carries, 0 for a chunk
	// without text, Unknown for one whose text was not counted.
	Tokens int32
	// Kind says what it is.
	Kind Kind
}

// Call is one request and its answer, as the client that made it saw them. All
// instants are on one clock.
type Call struct {
	// ID numbers the calls of a run; Name is what the source calls this one.
	ID   int64
	Name string
	// Class, Session and Turn are empty or 0 if the source has none.
	Class   string
	Session string
	Turn    int32

	// Scheduled is when the load's schedule wanted it sent, Sent when the client
	// sent it, after any wait for one of its own slots. Scheduled is Sent where
	// the source has one instant alone.
	Scheduled, Sent sim.Time
	// Chunks are the messages of the answer in order of At.
	Chunks []Chunk
	// Closed is when the stream ended or the call failed, or Never. Chunks that
	// were on their way when the client gave up come after it.
	Closed sim.Time
	// Response is how long each chunk was on its way from the engine to the
	// client, as far as that is known; 0 otherwise.
	Response sim.Duration

	// Prompt and Output are the engine's token counts, Wanted the output tokens
	// asked for, Cached the prompt tokens that a prefix cache had; each may be
	// Unknown.
	Prompt, Output, Wanted, Cached int32
	// Outcome says how it ended and Error why it failed.
	Outcome observe.Outcome
	Error   string
}

// Facts says which of the things that calls can hold their source knows. What it
// does not know is never computed with.
type Facts struct {
	// Clock tells that instants of different calls are on one clock; otherwise
	// each call is sent at 0, and nothing about the run's time or load can be said.
	Clock bool
	// Schedule tells that Scheduled is known apart from Sent.
	Schedule bool
	// First tells that the instant of the first chunk is known.
	First bool
	// Gaps tells that the instant of each chunk is known; otherwise at most the
	// first and the last one are, and the last carries all tokens but the first's.
	Gaps bool
	// Prompts and Outputs tell that token counts are known.
	Prompts, Outputs bool
	// Failures tells that failed calls are in the file.
	Failures bool
	// Cached tells that hits of a prefix cache are known.
	Cached bool
	// Wall is how long the source says that the run took, from its first schedule
	// to the end of its last call; 0 if it doesn't, and the calls tell.
	Wall sim.Duration
}

// Sink takes the calls of a run. It must not keep or change what it is given.
type Sink interface {
	// Call takes a call that has ended. An error ends the run.
	Call(*Call) error
}
