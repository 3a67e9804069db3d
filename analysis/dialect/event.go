package dialect

import (
	"servesim/analysis/transcript"
	"servesim/sim"
)

// Event is an instant of a call from or to which something is measured.
type Event uint8

// The events. Those of chunks are of the chunks of one Set.
const (
	// Scheduled is when the load's schedule wanted the call sent.
	Scheduled Event = iota
	// Sent is when the client sent it.
	Sent
	// FirstMade is when the engine made the first text: FirstText less the time
	// that it was on its way. LastMade is the same of the last.
	FirstMade
	LastMade
	// FirstChoice and LastChoice are of chunks with choices, text or not.
	FirstChoice
	LastChoice
	// FirstText, SecondText and LastText are of chunks with text of any kind.
	FirstText
	SecondText
	LastText
	// FirstVisible, SecondVisible and LastVisible are of chunks with text of the
	// answer proper, neither reasoning nor tool calls.
	FirstVisible
	SecondVisible
	LastVisible
	// LastLine is the last line of the stream, whatever it carries.
	LastLine
	// Closed is when the stream ended.
	Closed
	events
)

// String says e in words.
func (e Event) String() string {
	return [...]string{
		"schedule", "send", "first token made", "last token made", "first chunk", "last chunk",
		"first text", "second text", "last text", "first visible text", "second visible text", "last visible text",
		"last line", "close", "unknown",
	}[min(e, events)]
}

// Set is the chunks of a stream that a tool looks at.
type Set uint8

// The sets, each within the one before.
const (
	// Choices are all chunks with choices, whether they carry text or not.
	Choices Set = iota
	// Text are the chunks with text of any kind.
	Text
	// Visible are the chunks with text of the answer proper.
	Visible
)

// has tells whether c is in s.
func (s Set) has(c *transcript.Chunk) bool {
	switch s {
	case Choices:
		return c.Choice()
	case Text:
		return c.Text()
	}
	return c.Text() && c.Kind == transcript.Content
}

// String says in words what s is.
func (s Set) String() string {
	return [...]string{"chunks", "chunks with text", "chunks with visible text", "unknown chunks"}[min(s, Visible+1)]
}

// view is a call as the measures see it.
type view struct {
	call *transcript.Call
	// at is when each event came about, Never if it did not.
	at [events]sim.Time
	// messages is the number of chunks but the line that ends the stream, texts
	// that of Text, visible that of Visible.
	messages, texts, visible int64
	// choices is the number of chunks with choices, and single tells that each
	// chunk with text has one token.
	choices int64
	single  bool
	// hidden are the tokens of text that isn't visible, and first those of the
	// first text; Unknown if not known.
	hidden, first int64
	// gaps has room for the pauses.
	gaps *pauses
}

// see returns the view of c, with room for its pauses.
func see(c *transcript.Call, room *pauses) view {
	room.n = 0
	v := view{call: c, first: int64(transcript.Unknown), single: true, gaps: room}
	for i := range v.at {
		v.at[i] = transcript.Never
	}
	v.at[Scheduled], v.at[Sent], v.at[Closed] = c.Scheduled, c.Sent, c.Closed
	for i := range c.Chunks {
		v.chunk(&c.Chunks[i])
	}
	if v.texts > 0 {
		v.at[FirstMade] = v.at[FirstText] - sim.Time(c.Response)
		v.at[LastMade] = v.at[LastText] - sim.Time(c.Response)
	}
	return v
}

// chunk takes in the next chunk.
func (v *view) chunk(c *transcript.Chunk) {
	v.at[LastLine] = c.At
	if c.Kind != transcript.Done {
		v.messages++
	}
	if Choices.has(c) {
		v.choices++
		if v.at[FirstChoice] == transcript.Never {
			v.at[FirstChoice] = c.At
		}
		v.at[LastChoice] = c.At
	}
	if !Text.has(c) {
		return
	}
	if v.texts == 0 {
		v.at[FirstText], v.first = c.At, int64(c.Tokens)
	}
	if v.texts == 1 {
		v.at[SecondText] = c.At
	}
	v.at[LastText] = c.At
	v.texts++
	v.single = v.single && c.Tokens == 1
	if !Visible.has(c) {
		if v.hidden != int64(transcript.Unknown) && c.Tokens != transcript.Unknown {
			v.hidden += int64(c.Tokens)
		} else {
			v.hidden = int64(transcript.Unknown)
		}
		return
	}
	if v.visible == 0 {
		v.at[FirstVisible] = c.At
	}
	if v.visible == 1 {
		v.at[SecondVisible] = c.At
	}
	v.at[LastVisible] = c.At
	v.visible++
}

// count is the number of chunks of set with text.
func (v *view) count(set Set) int64 {
	if set == Visible {
		return v.visible
	}
	return v.texts
}

// end is when the call was over for its client, as far as is known.
func (v *view) end() sim.Time {
	if v.at[Closed] != transcript.Never {
		return v.at[Closed]
	}
	return max(v.at[LastLine], v.at[Sent])
}
