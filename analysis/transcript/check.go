package transcript

import (
	"fmt"

	"servesim/sim/observe"
)

// Text tells whether c carries text of any kind.
func (c *Chunk) Text() bool { return c.Kind != Role && c.Kind < Finish && c.Tokens != 0 }

// Choice tells whether c has choices, as OpenAI's API calls what is neither the
// closing count of tokens nor the line that ends the stream.
func (c *Chunk) Choice() bool { return c.Kind < Usage }

// Check returns an error if c can't be: instants below 0 or out of order, or a
// number of tokens below 0 that isn't Unknown.
func (c *Call) Check() error {
	if c.Scheduled < 0 || c.Sent < c.Scheduled {
		return c.fault("scheduled at %v and sent at %v; both are at least 0, and it is sent when it is scheduled or later", c.Scheduled, c.Sent)
	}
	if c.Response < 0 {
		return c.fault("an answer that is on its way for %v", c.Response)
	}
	if c.Closed != Never && c.Closed < c.Sent {
		return c.fault("closed at %v, before it was sent at %v", c.Closed, c.Sent)
	}
	for _, n := range [...]int32{c.Prompt, c.Output, c.Wanted, c.Cached} {
		if n < Unknown {
			return c.fault("%d tokens; a number is at least 0, or %d where it isn't known", n, Unknown)
		}
	}
	return c.checkChunks()
}

// checkChunks is the part of Check that is about chunks.
func (c *Call) checkChunks() error {
	before := c.Sent.Add(c.Response)
	if c.Response > 0 && before < c.Sent {
		return c.fault("sent at %v with an answer on its way for %v, beyond the range of time", c.Sent, c.Response)
	}
	for i := range c.Chunks {
		k := &c.Chunks[i]
		switch {
		case k.At < before && i == 0:
			return c.fault("its first chunk comes at %v, before it can: it was sent at %v and the answer is on its way for %v", k.At, c.Sent, c.Response)
		case k.At < before:
			return c.fault("chunk %d comes at %v, before the one ahead of it at %v", i+1, k.At, before)
		case k.Tokens < Unknown || k.Kind > Done:
			return c.fault("chunk %d has %d tokens and kind %d", i+1, k.Tokens, k.Kind)
		}
		before = k.At
	}
	if n := len(c.Chunks); c.Outcome == observe.Completed && n > 0 && c.Closed != Never && c.Chunks[n-1].At > c.Closed {
		return c.fault("its last chunk comes at %v, after it closed at %v", c.Chunks[n-1].At, c.Closed)
	}
	return nil
}

// fault is an error about c.
func (c *Call) fault(format string, args ...any) error {
	name := c.Name
	if name != "" {
		name = fmt.Sprintf(" (%q)", name)
	}
	return fmt.Errorf("call %d%s: "+format, append([]any{c.ID, name}, args...)...)
}

// Tee is a Sink that hands each call to each of its sinks in turn.
type Tee []Sink

// Call implements Sink.
func (t Tee) Call(c *Call) error {
	for _, s := range t {
		if err := s.Call(c); err != nil {
			return err
		}
	}
	return nil
}

// Everything returns the Facts of a source that knows everything, as a simulated run.
func Everything() Facts {
	return Facts{Clock: true, Schedule: true, First: true, Gaps: true, Prompts: true, Outputs: true, Failures: true, Cached: true}
}
