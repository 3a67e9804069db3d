package transcript

import (
	"fmt"
	"strings"

	"servesim/sim"
	"servesim/sim/observe"
)

// RoleChunk says when a stream opens with a chunk that names the role and has no
// text.
type RoleChunk uint8

// The places of the role chunk.
const (
	// NoRole is none: completions have none, and many servers of chats put the
	// role into the first chunk with text.
	NoRole RoleChunk = iota
	// RoleAccepted is as soon as the engine has the request in its queue: a client
	// that takes any chunk for the first token then measures next to nothing.
	RoleAccepted
	// RoleFirst is together with the first token, as in vLLM's chats.
	RoleFirst
	roleChunks
)

// String returns the name of r in scenarios.
func (r RoleChunk) String() string {
	return [...]string{"none", "accepted", "first_token", "unknown"}[min(r, roleChunks)]
}

// MarshalText writes r as String does.
func (r RoleChunk) MarshalText() ([]byte, error) { return []byte(r.String()), nil }

// UnmarshalText reads what String writes.
func (r *RoleChunk) UnmarshalText(text []byte) error {
	var names []string
	for c := range roleChunks {
		if c.String() == string(text) {
			*r = c
			return nil
		}
		names = append(names, c.String())
	}
	return fmt.Errorf("%q is not a place of the role chunk; the places are %s", text, strings.Join(names, ", "))
}

// Streaming is how a server cuts the tokens of an answer into chunks. The zero
// value sends each token as it is made and nothing else, as vLLM's completions
// do at their defaults (stream_interval 1, no usage asked for), of tokens that
// are whole characters.
type Streaming struct {
	// Interval is the number of tokens of a chunk, as vLLM's stream_interval has
	// it: the first token comes alone, what is left at the end together. 0 is 1.
	Interval int32
	// Coalesce is the least time between two chunks of a stream: the front end
	// is busy with one for so long, and sends what has been made meanwhile in the
	// next.
	Coalesce sim.Duration
	// Role is when the role comes, if it does.
	Role RoleChunk
	// Finish and Usage tell that, with the last chunk of text, one without text
	// comes that says why the answer ends, and one with the token counts.
	Finish, Usage bool
	// DoneDelay is how long after all that the line comes which ends the stream;
	// 0 leaves it out, since nothing can tell that from its end.
	DoneDelay sim.Duration
}

// Check returns an error that says what of s can't be.
func (s *Streaming) Check() error {
	switch {
	case s.Interval < 0:
		return fmt.Errorf("stream_interval is %d tokens; it is 1 or more", s.Interval)
	case s.Coalesce < 0:
		return fmt.Errorf("coalesce is %v; it is 0 or more", s.Coalesce)
	case s.DoneDelay < 0:
		return fmt.Errorf("done_delay is %v; it is 0 or more", s.DoneDelay)
	}
	return nil
}

// Record returns s as the header of a run's records has it.
func (s Streaming) Record() *observe.Streaming {
	return &observe.Streaming{Interval: s.Interval, Coalesce: s.Coalesce, Role: s.Role.String(), Finish: s.Finish, Usage: s.Usage, DoneDelay: s.DoneDelay}
}

// Recorded returns the Streaming that the header of a run's records tells of, the
// zero value if it doesn't.
func Recorded(r *observe.Streaming) (s Streaming, err error) {
	if r == nil {
		return s, nil
	}
	s = Streaming{Interval: r.Interval, Coalesce: r.Coalesce, Finish: r.Finish, Usage: r.Usage, DoneDelay: r.DoneDelay}
	return s, s.Role.UnmarshalText([]byte(r.Role))
}

// A stream cuts the tokens of one answer into chunks.
type stream struct {
	how    *Streaming
	chunks []Chunk
	text   bool // there is a chunk with text
	last   sim.Time
	held   int32    // tokens that aren't sent yet
	due    sim.Time // when they are, or Never if more must come first
}

// begin begins an answer, with room from the one before.
func (s *stream) begin(how *Streaming) {
	*s = stream{how: how, chunks: s.chunks[:0], due: Never}
}

// token takes the next token, which would reach the client at t by itself.
func (s *stream) token(t sim.Time) {
	if s.due != Never && s.due < t {
		s.send()
	}
	s.held++
	if s.due == Never && (!s.text || s.held >= s.how.Interval) {
		s.ready(t)
	}
}

// ready makes the tokens that are held due at t, or as soon after as can be.
func (s *stream) ready(t sim.Time) {
	s.due = t
	if s.text {
		s.due = max(t, s.last.Add(s.how.Coalesce))
	}
}

// send sends the tokens that are held.
func (s *stream) send() {
	if !s.text && s.how.Role == RoleFirst {
		s.chunks = append(s.chunks, Chunk{At: s.due, Kind: Role})
	}
	s.chunks = append(s.chunks, Chunk{At: s.due, Tokens: s.held})
	s.text, s.last, s.held, s.due = true, s.due, 0, Never
}

// end sends what is due, of a whole answer, whose last token came at t, all that
// is held and what follows it, and returns when the last of it comes.
func (s *stream) end(t sim.Time, whole bool) sim.Time {
	if whole && s.held > 0 && s.due == Never {
		s.ready(t)
	}
	if s.due != Never {
		s.send()
	}
	t = max(t, s.last)
	if !whole {
		return t
	}
	if s.how.Finish {
		s.chunks = append(s.chunks, Chunk{At: t, Kind: Finish})
	}
	if s.how.Usage {
		s.chunks = append(s.chunks, Chunk{At: t, Kind: Usage})
	}
	if s.how.DoneDelay > 0 {
		t = t.Add(s.how.DoneDelay)
		s.chunks = append(s.chunks, Chunk{At: t, Kind: Done})
	}
	return t
}
