package scheduler

import (
	"cmp"
	"slices"
)

// retract sends requests back to the queue until the rest can decode: those with
// the fewest tokens made, and of these those with the longest prompts, first.
func (p *sglang) retract() {
	p.order = p.handles(p.order[:0], &p.running)
	slices.SortStableFunc(p.order, func(a, b Handle) int {
		return cmp.Or(cmp.Compare(p.emittedBy(b), p.emittedBy(a)), cmp.Compare(p.seqs[a].prompt, p.seqs[b].prompt))
	})
	for first := true; len(p.order) > 1 && (first || !p.room(int64(len(p.order)))); first = false {
		last := len(p.order) - 1
		h := p.order[last]
		p.order = p.order[:last]
		p.sendBack(h)
		p.makeRoom(sgRetractSteps * int64(len(p.order)))
	}
	made, wanted := int64(0), int64(0)
	p.running = emptyList()
	for _, h := range p.order {
		made += int64(p.emittedBy(h))
		wanted += int64(p.seqs[h].output)
	}
	for _, h := range p.order {
		p.push(h)
	}
	p.ratio = min(1, float64(made+sgRetractSteps*int64(len(p.order)))/float64(wanted+1))
}

// sendBack takes h out of the running list and puts it at the end of the queue. A
// token of it that the scheduler has not seen is lost.
func (p *sglang) sendBack(h Handle) {
	s := &p.seqs[h]
	if s.state == decoding {
		p.group.leave(p.seqs, h)
	}
	loss := Loss{Seq: h, Tokens: s.computed, Emitted: s.emitted}
	if p.more[h].entry >= p.unseenAt {
		loss.Discarded = true
		s.emitted--
		loss.Emitted = s.emitted
	}
	if i := slices.Index(p.pending, h); i >= 0 {
		p.pending = slices.Delete(p.pending, i, i+1)
	}
	s.state = ended // and no member of the group
	p.unkeep(h)
	p.drop(h)
	s.state = waiting
	p.pushBack(&p.queue, h)
	p.step.Preempted = append(p.step.Preempted, loss)
}
