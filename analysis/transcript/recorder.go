package transcript

import (
	"servesim/sim"
	"servesim/sim/observe"
)

// Recorder is a Sink that makes the record of a request of each call, and of the
// pauses between its chunks with text records of gaps, for what judges simulated
// runs.
//
// TTFT counts from when the load's schedule wanted a call sent. Of the engine the
// records know nothing: they are as if a request joined the queue when it was sent
// and was first computed when its first token came.
type Recorder struct {
	facts Facts
	to    observe.Sink
	steps []observe.StepRun // a gap each, of the call under way
	empty int64
}

// NewRecorder returns a Recorder of calls of which facts are known.
func NewRecorder(facts Facts, to observe.Sink) *Recorder { return &Recorder{facts: facts, to: to} }

// Empty returns the number of answers without a token, whose calls count as failed.
func (r *Recorder) Empty() int64 { return r.empty }

// Call implements Sink. Its errors are those of the sink of records.
func (r *Recorder) Call(c *Call) error {
	q := observe.Request{
		ID: c.ID, Name: c.Name, Class: c.Class, Outcome: c.Outcome, Reason: c.Error,
		Arrival: c.Scheduled, Sent: c.Sent, Queued: Never, First: Never, Last: Never, Response: c.Response,
		Prompt: max(c.Prompt, 0), Wanted: max(c.Wanted, c.Output, 0), Output: max(c.Output, 0), Cached: max(c.Cached, 0),
	}
	r.steps = r.steps[:0]
	for i := range c.Chunks {
		if k := &c.Chunks[i]; k.Text() {
			r.text(&q, k.At.Add(-c.Response))
		}
	}
	if c.Outcome == observe.Completed && (q.First == Never || q.Output < 1) {
		r.empty++
		q.Outcome, q.Reason = observe.Rejected, "an answer without a token"
	}
	q.Scheduled, q.End = q.First, q.Last
	if q.Outcome != observe.Completed {
		q.End = max(c.Closed, c.Sent)
	}
	for i := range r.steps {
		if err := r.to.Step(&r.steps[i]); err != nil {
			return err
		}
	}
	return r.to.Request(&q)
}

// text takes a chunk of q that left the engine at an instant.
func (r *Recorder) text(q *observe.Request, at sim.Time) {
	if q.First == Never {
		q.First = at
	} else if r.facts.Gaps {
		gap := at.Sub(q.Last)
		q.MaxGap = max(q.MaxGap, gap)
		r.steps = append(r.steps, observe.StepRun{
			Start: q.Last, Steps: 1, First: gap, Gaps: []observe.Gaps{{Seqs: 1, Steps: 1, First: gap}},
		})
	}
	q.Last = at
}
