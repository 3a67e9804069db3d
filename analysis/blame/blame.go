package blame

import (
	"errors"
	"fmt"

	"servesim/sim"
	"servesim/sim/observe"
)

// Options say what a Blame reports beside the sums.
type Options struct {
	// Top is the number of culprits of the run to name; 0 is ten.
	Top int
	// Each, if it is not nil, is called with every life when it is complete, in an
	// order that follows from the records. It must not keep what it is given. An
	// error ends the run.
	Each func(*Life) error
	// Gaps, if it is not nil, is called with all gaps between tokens, in order of their
	// steps and before Each is with a life that ends in these.
	Gaps func(*Seen)
}

// Blame is a Sink that charges the latency of each request. It needs the records
// that engine.Config.Detail gives, in the order in which a run gives them.
type Blame struct {
	options   Options
	timelines []*timeline // by replica
	book      book
	bands     [metrics]scale
	none      Parts // no time
	gaps      gapScale
	requests  int64 // of all outcomes
	life      Life  // scratch
	tally     tally // scratch
}

// New returns a Blame that has seen nothing.
func New(o Options) *Blame {
	if o.Top == 0 {
		o.Top = 10
	}
	b := &Blame{options: o, bands: newScales(), gaps: gapScale{tell: o.Gaps}}
	b.book = book{most: o.Top, free: nobody, gaps: &b.gaps}
	return b
}

// maxReplicas bounds what a record may take for the number of a replica.
const maxReplicas = 1 << 20

// timeline returns that of a replica.
func (b *Blame) timeline(replica int32) (*timeline, error) {
	if replica < 0 || replica >= maxReplicas {
		return nil, fmt.Errorf("blame: found replica %d; it must be from 0 to %d", replica, maxReplicas-1)
	}
	for len(b.timelines) <= int(replica) {
		b.timelines = append(b.timelines, &timeline{lastDecode: observe.Never})
	}
	return b.timelines[replica], nil
}

// errNoDetail says that records lack what blame is computed from.
var errNoDetail = errors.New("blame: the records lack the steps, or how long they would have lasted without their prompts, or which of them made a request's tokens; simulate again and let them be written in detail")

// Step implements observe.Sink.
func (b *Blame) Step(r *observe.StepRun) error {
	t, err := b.timeline(r.Replica)
	if err != nil {
		return err
	}
	if err := t.check(r); err != nil {
		return err
	}
	t.push(r)
	b.gaps.step(t, r, &b.book)
	if err := b.clear(t, t.end()); err != nil {
		return err
	}
	bound := r.Start
	if r.Oldest != observe.Never {
		bound = min(bound, r.Oldest)
	}
	t.trim(t.keep(bound), &b.book)
	return nil
}

// check returns what is wrong with r as the next run of the timeline.
func (t *timeline) check(r *observe.StepRun) error {
	if r.Decodes > 0 && r.Base == 0 {
		return errNoDetail
	}
	if r.Steps < 1 || r.Steps > 1 && len(r.Chunks) > 0 {
		return fmt.Errorf("blame: step %d: a run of %d steps with %d prompts; it must be 1 or more steps, and 1 with prompts", r.Serial, r.Steps, len(r.Chunks))
	}
	if t.any && (r.Serial != t.next || r.Start < t.end()) {
		return fmt.Errorf("blame: step %d at %v follows step %d, which ended at %v", r.Serial, r.Start, t.next-1, t.end())
	}
	if r.First < 0 || r.Duration() < 0 || r.First+r.Inc*sim.Duration(r.Steps-1) < 0 {
		return fmt.Errorf("blame: step %d: %d steps of %v, each %v longer, take less than no time", r.Serial, r.Steps, r.First, r.Inc)
	}
	if r.Base < 0 || r.Base > r.First {
		return fmt.Errorf("blame: step %d: lasts %v, and %v without its prompts", r.Serial, r.First, r.Base)
	}
	for _, c := range r.Chunks {
		if c.Tokens < 1 {
			return fmt.Errorf("blame: step %d: %d tokens of request %d", r.Serial, c.Tokens, c.ID)
		}
	}
	return nil
}

// Request implements observe.Sink.
func (b *Blame) Request(r *observe.Request) error {
	made := int64(0)
	for _, s := range r.Made {
		made += s.Steps
	}
	t, err := b.timeline(r.Replica)
	if err != nil {
		return err
	}
	if made != int64(r.Output) || len(r.Lost) != int(r.Preemptions) || r.Output > 0 && !t.any {
		return errNoDetail
	}
	b.requests++
	if r.Sent == observe.Never || r.End <= t.end() {
		return b.settle(t, r)
	}
	c := *r
	c.Made, c.Lost = append([]observe.Span(nil), r.Made...), append([]int64(nil), r.Lost...)
	c.Attempts = append([]observe.Attempt(nil), r.Attempts...)
	t.pending = append(t.pending, c)
	return nil
}

// clear settles the pending requests that ended by instant by.
func (b *Blame) clear(t *timeline, by sim.Time) error {
	left := t.pending[:0]
	for i := range t.pending {
		if t.pending[i].End > by {
			left = append(left, t.pending[i])
			continue
		}
		if err := b.settle(t, &t.pending[i]); err != nil {
			return err
		}
	}
	t.pending = left
	return nil
}

// settle charges the life of r, whose every step the timeline has.
func (b *Blame) settle(t *timeline, r *observe.Request) error {
	l := &b.life
	*l = Life{Request: r, timeline: t}
	y := &b.tally
	y.t, y.r, y.life, y.into, y.gap, y.book = t, r, l, nil, nil, &b.book
	y.run()
	w, err := l.check()
	if err != nil {
		return err
	}
	b.count(l, w)
	if b.options.Each != nil {
		return b.options.Each(l)
	}
	return nil
}

// wholes is the sums of the parts of a life.
type wholes struct{ toFirst, afterFirst, gap sim.Duration }

// check returns the sums of the parts of l, or a fault if they are not the whole, or
// one is less than nothing: the records then contradict each other.
func (l *Life) check() (w wholes, err error) {
	signs := sim.Duration(0)
	for c, d := range l.ToFirst {
		w.toFirst += d
		signs |= d | l.AfterFirst[c] | l.Gap[c]
		w.afterFirst += l.AfterFirst[c]
		w.gap += l.Gap[c]
	}
	r := l.Request
	whole := r.End.Sub(r.Arrival)
	if r.Outcome == observe.Completed {
		whole += r.Response
	}
	if signs < 0 || w.toFirst+w.afterFirst != whole {
		err = fmt.Errorf("blame: request %d: its instants do not fit its steps, or each other: arrival %v, sent %v, queued %v, scheduled %v, first token %v, last %v, end %v",
			r.ID, r.Arrival, r.Sent, r.Queued, r.Scheduled, r.First, r.Last, r.End)
	}
	return w, err
}

// Report returns what has been charged. Nothing may be added after.
func (b *Blame) Report() (*Report, error) {
	for _, t := range b.timelines {
		if err := b.clear(t, sim.MaxTime); err != nil {
			return nil, err
		}
	}
	for _, t := range b.timelines {
		t.close(&b.book)
	}
	return b.report(), nil // of the gaps too, whose prompts are known now
}
