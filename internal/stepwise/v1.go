package stepwise

import (
	"slices"

	"servesim/sim/scheduler"
)

// v1 is vLLM's V1 scheduler.
type v1 struct{ core }

func (s *v1) priority() bool { return s.SchedulingPolicy == scheduler.Priority }

func (s *v1) chunks() bool {
	return s.EnableChunkedPrefill || s.Unchunked == scheduler.UnchunkedIgnore
}

// threshold cuts n to long_prefill_token_threshold.
func (s *v1) threshold(n int) int {
	if t := int(s.LongPrefillTokenThreshold); 0 < t && t < n {
		return t
	}
	return n
}

func (s *v1) fits(q *request) string {
	if s.AllowLivelock {
		return ""
	}
	if s.pool.Need(int64(q.rec.Prompt)+int64(q.limit)-1) > s.usable {
		return "needs more KV blocks than the pool has"
	}
	if !s.chunks() && s.threshold(int(q.rec.Prompt)) > int(s.MaxNumBatchedTokens) {
		return "prompt exceeds max_num_batched_tokens with chunked prefill off"
	}
	return ""
}

func (s *v1) add(q *request) {
	s.waiting = append(s.waiting, q)
	if s.priority() {
		byUrgency(s.waiting)
	}
}

// putBack returns q to the front of the queue, or to its place by priority.
func (s *v1) putBack(q *request) {
	s.waiting = slices.Insert(s.waiting, 0, q)
	if s.priority() {
		byUrgency(s.waiting)
	}
}

func (s *v1) plan() plan {
	var p plan
	budget := int(s.MaxNumBatchedTokens)
	for i := 0; i < len(s.running) && budget > 0; i++ {
		q := s.running[i]
		n := s.threshold(q.known() - q.computed)
		n = min(n, budget)
		n = min(n, int(s.MaxModelLen)-1-q.computed)
		if n <= 0 || q.ended {
			continue
		}
		self := false
		for !self && !s.take(q, q.computed+n) {
			victim := s.running[len(s.running)-1]
			if s.priority() {
				victim = slices.MaxFunc(s.running, func(a, b *request) int {
					if urgent(a, b) {
						return -1
					}
					return 1
				})
			}
			self = victim == q
			i = s.preempt(&p, victim, i, &budget)
		}
		if self {
			break
		}
		s.register(q, min(q.computed+n, q.known()-s.flying(q)))
		p.items = append(p.items, itemOf(q, n))
		budget -= n
	}
	if len(p.preempted) == 0 {
		s.admit(&p, budget)
	} else {
		p.hold(scheduler.HeldBlocks)
	}
	s.planned(&p)
	return p
}

// preempt takes victim off the running list while its i-th sequence is being
// served, and returns where the loop goes on.
func (s *v1) preempt(p *plan, victim *request, i int, budget *int) int {
	at := slices.Index(s.running, victim)
	in := slices.IndexFunc(p.items, func(it item) bool { return it.r == victim })
	switch {
	case in >= 0 && s.Victim == scheduler.VictimGhost:
		it := &p.items[in]
		it.ghost, it.lostDecode, it.decode, it.last = true, it.decode, false, false
	case in >= 0:
		*budget += p.items[in].tokens
		p.items = slices.Delete(p.items, in, in+1)
		i--
	case s.Victim == scheduler.VictimShift && at < i:
		i--
	}
	s.running = slices.Delete(s.running, at, at+1)
	s.lose(p, victim)
	s.putBack(victim)
	return i
}

// admit spends the rest of the budget on the queue.
func (s *v1) admit(p *plan, budget int) {
	var aside []*request
	for len(s.waiting) > 0 && budget > 0 && len(s.running) < int(s.MaxNumSeqs) {
		q := s.waiting[0]
		found := s.lookup(q)
		start := max(q.computed, len(found)*int(s.BlockSize))
		n := s.threshold(q.known() - start)
		if !s.chunks() && n > budget {
			if n > int(s.MaxNumBatchedTokens) && !s.AllowLivelock {
				s.waiting = s.waiting[1:]
				p.dropped = append(p.dropped, drop{q, "resumed length exceeds max_num_batched_tokens with chunked prefill off"})
				continue
			}
			p.hold(scheduler.HeldBudget)
			if s.Unchunked == scheduler.UnchunkedStop {
				break
			}
			s.waiting = s.waiting[1:]
			aside = append(aside, q)
			continue
		}
		n = min(n, budget)
		if n < q.known()-start && q.known() >= int(s.MaxModelLen) && !s.AllowLivelock {
			s.waiting = s.waiting[1:]
			p.dropped = append(p.dropped, drop{q, "prompt of max_model_len tokens, cut into chunks, never completes"})
			continue
		}
		spare := int64(0)
		if len(s.running) > 0 {
			spare = s.watermark()
		}
		room := func(tokens int) bool {
			return s.pool.Need(int64(tokens))-int64(len(found)) <= s.pool.Free()-s.idle(found)-spare
		}
		if s.ReserveFullISL && !room(q.known()) || !room(start+n) {
			p.hold(scheduler.HeldBlocks)
			break
		}
		s.waiting = s.waiting[1:]
		s.running = append(s.running, q)
		s.adopt(q, found)
		s.take(q, start+n)
		s.register(q, start+n)
		it := itemOf(q, n)
		it.admitted = true
		p.items = append(p.items, it)
		budget -= n
	}
	for _, q := range aside {
		s.putBack(q)
	}
	switch {
	case len(s.waiting) == 0:
	case budget == 0:
		p.hold(scheduler.HeldBudget)
	case len(s.running) == int(s.MaxNumSeqs):
		p.hold(scheduler.HeldSlots)
	}
}
