package gate

import (
	"servesim/analysis/dialect"
	"servesim/analysis/transcript"
	"servesim/sim/observe"
)

// A hearing is a transcript.Sink that makes records of measured calls, for what
// judges simulated ones: TTFT counts from when the load's schedule wanted a call
// sent, and a gap is between two chunks with text.
type hearing struct {
	facts transcript.Facts
	run   *run
	calls *dialect.Sink
	empty int64 // answers without a token
}

// Call implements transcript.Sink.
func (h *hearing) Call(c *transcript.Call) error {
	r := observe.Request{
		ID: c.ID, Class: c.Class, Outcome: c.Outcome,
		Arrival: c.Scheduled, Sent: c.Sent, Queued: observe.Never, Scheduled: c.Sent, First: observe.Never, Last: observe.Never,
		Prompt: c.Prompt, Wanted: max(c.Wanted, c.Output), Output: c.Output,
	}
	var s observe.StepRun
	for i := range c.Chunks {
		k := &c.Chunks[i]
		if !k.Text() {
			continue
		}
		if r.First == observe.Never {
			r.First = k.At
		} else if h.facts.Gaps {
			gap := k.At.Sub(r.Last)
			r.MaxGap = max(r.MaxGap, gap)
			s.Gaps = append(s.Gaps, observe.Gaps{Seqs: 1, Steps: 1, First: gap})
		}
		r.Last = k.At
	}
	if c.Outcome == observe.Completed && (r.First == observe.Never || c.Output < 1) {
		h.empty++
		r.Outcome = observe.Unfinished
	}
	r.End = max(r.Last, c.Closed, c.Sent)
	if r.Outcome == observe.Completed {
		r.End = r.Last
		if err := h.run.pool.Step(&s); err != nil {
			return err
		}
	}
	if err := h.run.pool.Request(&r); err != nil {
		return err
	}
	return h.run.Request(&r)
}
