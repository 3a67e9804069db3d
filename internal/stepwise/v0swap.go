package stepwise

import "servesim/sim/scheduler"

// swapOut moves the blocks of q, which is off the running list, to the CPU.
func (s *v0) swapOut(p *plan, q *request) {
	if int64(len(q.blocks)) > s.cpu {
		s.lose(p, q)
		p.dropped = append(p.dropped, drop{q, "the CPU has too few KV blocks to swap to, at which the engine itself ends"})
		return
	}
	q.swapped = int64(len(q.blocks))
	s.cpu -= q.swapped
	s.release(q)
	s.swapped = append(s.swapped, q)
	p.held, p.again = scheduler.HeldBlocks, true
}

// swapIn brings back what is swapped out while it fits, unless the step preempted,
// and returns it.
func (s *v0) swapIn(p *plan, budget, seqs int) (entered []*request) {
	if len(p.preempted) > 0 || p.again {
		return nil
	}
	for len(s.swapped) > 0 {
		q, n := s.swapped[0], 1
		if !q.decoding {
			n = q.known() - q.computed
		}
		need := s.pool.Need(int64(q.known()))
		if need > s.usable || !s.AllowLivelock && (need > s.usable-s.watermark() || n > int(s.MaxNumBatchedTokens)) {
			s.back(q)
			p.dropped = append(p.dropped, drop{q, "swapped out, and larger than can be swapped in again"})
			continue
		}
		if s.held(p, q, n > budget, seqs) {
			break
		}
		s.back(q)
		s.take(q, q.known())
		p.items = append(p.items, itemOf(q, n))
		entered = append(entered, q)
		budget -= n
		seqs++
	}
	return entered
}

// back takes q off those that are swapped out.
func (s *v0) back(q *request) {
	s.cpu += q.swapped
	q.swapped = 0
	s.swapped = without(s.swapped, q)
}

func (s *v0) remove(q *request) {
	if q.swapped > 0 {
		s.back(q)
	}
	s.core.remove(q)
}

func (s *v0) counts() (running, waiting int) {
	return len(s.running), len(s.waiting) + len(s.swapped)
}

func btoi(b bool) int {
	if b {
		return 1
	}
	return 0
}
