package stepwise

import (
	"slices"

	"servesim/sim/scheduler"
)

// v0 is vLLM's V0 scheduler.
type v0 struct {
	core
	swapped []*request
	cpu     int64 // blocks of the CPU's memory that are free
}

func (s *v0) fits(*request) string { return "" }

func (s *v0) add(q *request) { s.waiting = append(s.waiting, q) }

func (s *v0) plan() plan {
	if s.EnableChunkedPrefill {
		return s.planChunked()
	}
	var p plan
	if len(s.swapped) == 0 {
		s.prefills(&p)
	}
	if len(p.items) == 0 {
		if s.SchedulingPolicy == scheduler.Priority && len(s.waiting) > 0 {
			s.force(&p)
		}
		s.decodes(&p)
		s.running = append(s.running, s.swapIn(&p, int(s.MaxNumBatchedTokens)-len(p.items), len(s.running))...)
	}
	return s.order(p)
}

// order says why the head of the queue waits if it is for the order alone.
func (s *v0) order(p plan) plan {
	if len(s.waiting)+len(s.swapped) > 0 {
		p.hold(scheduler.HeldOrder)
	}
	return p
}

// ignored drops the waiting request q if it can never be served.
func (s *v0) ignored(p *plan, q *request, n, limit int, reason string) bool {
	if n <= limit {
		if s.usable-s.pool.Need(int64(q.known())) >= s.watermark() {
			return false
		}
		reason = "prompt needs more KV blocks than the pool has"
	}
	s.waiting = without(s.waiting, q)
	p.dropped = append(p.dropped, drop{q, reason})
	return true
}

// later tells that q must wait for blocks.
func (s *v0) later(q *request) bool {
	return s.pool.Free()-s.pool.Need(int64(q.known())) < s.watermark()
}

// held tells why q, beside seqs others, is not admitted.
func (s *v0) held(p *plan, q *request, over bool, seqs int) bool {
	switch {
	case seqs >= int(s.MaxNumSeqs):
		p.hold(scheduler.HeldSlots)
	case over:
		p.hold(scheduler.HeldBudget)
	case s.later(q):
		p.hold(scheduler.HeldBlocks)
	default:
		return false
	}
	return true
}

// start admits q with a first chunk of n tokens.
func (s *v0) start(p *plan, q *request, n int) {
	s.waiting = without(s.waiting, q)
	s.running = append(s.running, q)
	s.take(q, q.known())
	it := itemOf(q, n)
	it.admitted = true
	p.items = append(p.items, it)
}

func (s *v0) prefills(p *plan) {
	budget := int(s.MaxNumBatchedTokens)
	for len(s.waiting) > 0 {
		q := s.waiting[0]
		n := q.known()
		if s.ignored(p, q, n, int(min(s.MaxModelLen, s.MaxNumBatchedTokens)), "prompt exceeds max_model_len or max_num_batched_tokens") {
			continue
		}
		if s.held(p, q, n > budget, len(s.running)) {
			return
		}
		s.start(p, q, n)
		budget -= n
	}
}

// force preempts running requests for the more urgent head of the queue.
func (s *v0) force(p *plan) {
	byUrgency(s.running)
	head := s.waiting[0]
	for len(s.running) > 0 {
		last := s.running[len(s.running)-1]
		if !urgent(head, last) {
			break
		}
		if !s.later(head) && head.known() <= int(s.MaxNumBatchedTokens) && len(s.running) < int(s.MaxNumSeqs) {
			break
		}
		s.running = s.running[:len(s.running)-1]
		s.lose(p, last)
		s.waiting = append(s.waiting, last)
	}
	byUrgency(s.waiting)
}

func (s *v0) decodes(p *plan) {
	for i := 0; i < len(s.running); i++ {
		q := s.running[i]
		if !s.free(p, q, 1, &s.waiting) {
			return
		}
		s.take(q, q.known())
		p.items = append(p.items, itemOf(q, 1))
	}
}

// free preempts from the end of the running list, to the front of queue, until
// touched blocks are free; false if q itself had to go.
func (s *v0) free(p *plan, q *request, touched int64, queue *[]*request) bool {
	for s.pool.Free() < touched {
		last := s.running[len(s.running)-1]
		s.running = s.running[:len(s.running)-1]
		if s.PreemptionMode == scheduler.Swap {
			s.swapOut(p, last)
			if last == q {
				return false
			}
			continue
		}
		hopeless := !last.decoding && len(s.running) == 0 && !s.AllowLivelock
		s.lose(p, last)
		if hopeless {
			p.dropped = append(p.dropped, drop{last, "prompt fills the KV blocks and leaves none for the append test"})
		} else {
			*queue = slices.Insert(*queue, 0, last)
			p.held = scheduler.HeldBlocks // it is the head
		}
		if last == q {
			return false
		}
	}
	return true
}

// long tells that q has more tokens to compute than the threshold.
func (s *v0) long(q *request) bool {
	return !q.decoding && q.known()-q.computed > int(s.LongPrefillTokenThreshold)
}

// slot is the most tokens that one prompt may take in a step.
func (s *v0) slot() int {
	most := int(s.MaxNumPartialPrefills)
	prompts, longs := 0, 0
	for _, q := range s.running {
		if !q.decoding {
			prompts++
		}
		if s.long(q) {
			longs++
		}
	}
	for _, q := range s.waiting {
		if prompts >= most {
			break
		}
		if s.long(q) && longs >= int(s.MaxLongPartialPrefills) {
			continue
		}
		if s.long(q) {
			longs++
		}
		prompts++
	}
	if most == 1 {
		return int(s.MaxNumBatchedTokens)
	}
	return int(s.MaxNumBatchedTokens) / max(1, min(prompts, most))
}

func (s *v0) planChunked() plan {
	var p plan
	var victims []*request
	budget, slot := int(s.MaxNumBatchedTokens), s.slot()
	i := 0
	for ; i < len(s.running); i++ {
		q := s.running[i]
		n := 1
		if !q.decoding {
			n = q.known() - q.computed
		}
		if n = min(n, budget, slot); n == 0 {
			break
		}
		touched := int64(1)
		if !q.decoding && q.known()%int(s.BlockSize) == 0 {
			touched = 0
		}
		if !s.free(&p, q, touched, &victims) {
			break
		}
		s.take(q, q.known())
		p.items = append(p.items, itemOf(q, n))
		budget -= n
	}
	unserved := slices.Clone(s.running[min(i, len(s.running)):])
	s.running = unserved
	for _, class := range []func(item) bool{
		func(it item) bool { return it.decode },
		func(it item) bool { return it.last },
		func(it item) bool { return !it.decode && !it.last },
	} {
		for _, it := range p.items {
			if class(it) {
				s.running = append(s.running, it.r)
			}
		}
	}
	longs := 0
	for _, q := range s.running {
		if s.long(q) {
			longs++
		}
	}
	served := len(p.items)
	entered := s.swapIn(&p, budget, served)
	for _, it := range p.items[served:] {
		budget -= it.tokens
	}
	slices.SortStableFunc(entered, func(a, b *request) int { return btoi(b.decoding) - btoi(a.decoding) })
	s.running = append(entered, s.running...)
	s.chunkedPrefills(&p, budget, slot, longs)
	s.waiting = append(victims, s.waiting...)
	return s.order(p)
}

// chunkedPrefills admits prompts, cut to the budget and the slot, beside longs long
// ones that run.
func (s *v0) chunkedPrefills(p *plan, budget, slot, longs int) {
	served := len(p.items)
	several := s.MaxNumPartialPrefills > 1
	for _, q := range slices.Clone(s.waiting) {
		if budget == 0 {
			p.hold(scheduler.HeldBudget)
			return
		}
		n := min(q.known(), budget, slot)
		long := several && s.long(q)
		if n <= int(s.MaxModelLen) && long && longs >= int(s.MaxLongPartialPrefills) {
			p.hold(scheduler.HeldPartial)
			continue
		}
		if s.ignored(p, q, n, int(s.MaxModelLen), "prompt exceeds max_model_len") {
			continue
		}
		if s.held(p, q, n == 0, served) {
			return
		}
		if long {
			longs++
		}
		s.start(p, q, n)
		budget -= n
		served++
	}
}
