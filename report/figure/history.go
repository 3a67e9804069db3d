package figure

import (
	"fmt"

	"servesim/analysis/blame"
	"servesim/sim"
	"servesim/sim/observe"
)

// History is an observe.Sink that collects how a run went: its gaps between tokens and
// the prompts that made them long, its queue, its batches, and what latencies were
// spent on. It needs the records that package blame needs, in detail. Finish ends it.
type History struct {
	// Each, if it isn't nil, gets every life, as blame.Options.Each does.
	Each func(*blame.Life) error

	blame  *blame.Blame
	report *blame.Report
	end    sim.Time // of the latest step or request
	steps  int64

	waiting, running, blocks level
	kvBlocks                 int64
	preempted                grid[int64]
	gaps                     gaps
	batches                  []*batches // by replica, nil if it took no step
	around                   around
}

// NewHistory returns an empty History. kvBlocks is the number of KV blocks of all
// replicas, 0 if it isn't known.
func NewHistory(kvBlocks int64) *History {
	h := &History{
		waiting: newLevel(), running: newLevel(), blocks: newLevel(), kvBlocks: kvBlocks,
		preempted: newGrid(func(a, b *int64, _ sim.Duration) { *a += *b }),
		gaps:      newGaps(),
	}
	h.blame = blame.New(blame.Options{
		Each: func(l *blame.Life) error {
			h.gaps.known(l.Request.ID, l.Request.Prompt)
			if h.Each != nil {
				return h.Each(l)
			}
			return nil
		},
		Gaps: h.seen,
	})
	return h
}

// Request implements observe.Sink. The errors are those of blame.Blame.
func (h *History) Request(r *observe.Request) error {
	h.end = max(h.end, r.End)
	if r.Sent != observe.Never && r.End >= r.Sent {
		until := r.End
		if r.Scheduled != observe.Never {
			until = r.Scheduled
		}
		h.waiting.hold(r.Sent, until, 1)
	}
	return h.blame.Request(r)
}

// Step implements observe.Sink. The errors are those of blame.Blame, and that the
// steps end after the last instant there is.
func (h *History) Step(r *observe.StepRun) error {
	if err := h.blame.Step(r); err != nil {
		return err
	}
	end := r.Start.Add(r.Duration())
	if end < r.Start {
		return fmt.Errorf("step %d at %v lasts beyond the 106 days that a run can last", r.Serial, r.Start)
	}
	h.end, h.steps = max(h.end, end), h.steps+r.Steps
	h.running.hold(r.Start, end, int64(r.Running))
	h.blocks.hold(r.Start, end, r.BlocksUsed)
	if r.Preempted > 0 {
		*h.preempted.at(r.Start) += int64(r.Preempted)
	}
	for int(r.Replica) >= len(h.batches) { // whose number blame has checked
		h.batches = append(h.batches, nil)
	}
	if h.batches[r.Replica] == nil {
		h.batches[r.Replica] = new(batches)
	}
	h.batches[r.Replica].add(r, &h.around)
	return nil
}

// seen takes gaps of a step.
func (h *History) seen(s *blame.Seen) {
	last := s.Gaps.First + s.Gaps.Inc*sim.Duration(s.Gaps.Steps-1)
	if longest := max(s.Gaps.First, last); longest > h.around.gap {
		h.around.begin(longest, s.Step)
		if k := int(s.Step.Replica); k < len(h.batches) && h.batches[k] != nil {
			h.around.steps = h.batches[k].latest()
		}
	}
	h.gaps.add(s)
}

// Finish ends the run: nothing may be added after. The errors are those of blame.Blame.
func (h *History) Finish() (err error) {
	if h.report != nil {
		return nil
	}
	h.report, err = h.blame.Report()
	h.gaps.finish()
	return err
}

// Blame returns what latencies were spent on. It is nil before Finish.
func (h *History) Blame() *blame.Report { return h.report }
