package transcript

import (
	"cmp"
	"slices"

	"servesim/sim"
	"servesim/sim/observe"
)

// Chronicle is an observe.Sink that keeps the records of a Recorder and hands them
// on as a run would have come by them: gaps and requests each in the order in which
// they ended, and what ended together as it was given. That order is what 95 %
// intervals go by. A gap takes 16 bytes, a request some 250.
type Chronicle struct {
	requests []observe.Request
	gaps     []gap
}

// gap is a pause between two tokens, and when it was over.
type gap struct {
	end    sim.Time
	length sim.Duration
}

// Request implements observe.Sink.
func (c *Chronicle) Request(r *observe.Request) error {
	kept := *r
	kept.Made = nil
	c.requests = append(c.requests, kept)
	return nil
}

// Step implements observe.Sink.
func (c *Chronicle) Step(s *observe.StepRun) error {
	c.gaps = append(c.gaps, gap{s.Start.Add(s.First), s.First})
	return nil
}

// Replay hands everything on, in the order of time if all instants are on one
// clock and else as it was given. Equal gaps that end together are one record. Its
// errors are those of to.
func (c *Chronicle) Replay(clock bool, to observe.Sink) error {
	if clock {
		slices.SortFunc(c.gaps, func(a, b gap) int {
			return cmp.Or(cmp.Compare(a.end, b.end), cmp.Compare(a.length, b.length))
		})
		slices.SortStableFunc(c.requests, func(a, b observe.Request) int { return cmp.Compare(a.End, b.End) })
	}
	s := observe.StepRun{Steps: 1, Gaps: []observe.Gaps{{Steps: 1}}}
	for i := 0; i < len(c.gaps); {
		g, from := c.gaps[i], i
		for i < len(c.gaps) && c.gaps[i] == g {
			i++
		}
		s.Start, s.First = g.end.Add(-g.length), g.length
		s.Gaps[0].First, s.Gaps[0].Seqs = g.length, int32(i-from)
		if err := to.Step(&s); err != nil {
			return err
		}
	}
	for i := range c.requests {
		if err := to.Request(&c.requests[i]); err != nil {
			return err
		}
	}
	return nil
}
