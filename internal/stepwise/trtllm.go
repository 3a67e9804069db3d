package stepwise

import (
	"cmp"
	"slices"

	"servesim/sim/scheduler"
)

// trtllm is TensorRT-LLM's in-flight batching: a capacity scheduler, then a
// micro-batch scheduler, both over one list of what runs and what waits.
type trtllm struct{ core }

// ration is a request that may hold KV in the step, and the tokens it computes.
type ration struct {
	q      *request
	tokens int
}

func (s *trtllm) fits(q *request) string {
	tokens := int64(q.rec.Prompt) + int64(q.limit)
	if s.Policy == scheduler.TRTLLMMaxUtil {
		tokens--
	}
	switch {
	case s.AllowLivelock:
	case s.pool.Need(tokens) > s.usable:
		return "needs more KV blocks than the pool has"
	case !s.EnableChunkedPrefill && q.rec.Prompt > s.MaxNumBatchedTokens:
		return "prompt exceeds max_num_batched_tokens with chunked prefill off"
	}
	return ""
}

func (s *trtllm) add(q *request) { s.waiting = append(s.waiting, q) }

// active returns all requests in order of arrival.
func (s *trtllm) active() []*request {
	return byRank(append(slices.Clone(s.running), s.waiting...))
}

// byRank sorts list by arrival and returns it.
func byRank(list []*request) []*request {
	slices.SortFunc(list, func(a, b *request) int { return cmp.Compare(a.rank, b.rank) })
	return list
}

// started tells that q has KV.
func (s *trtllm) started(q *request) bool { return slices.Contains(s.running, q) }

func (s *trtllm) plan() plan {
	var p plan
	var turns []ration
	var slotless *request
	order := false
	if s.Policy == scheduler.TRTLLMMaxUtil {
		turns, slotless = s.utilize(&p)
	} else {
		turns, slotless, order = s.reserve()
	}
	left := s.run(turns)
	for _, decodes := range []bool{false, true} { // contexts stand first
		for _, t := range turns {
			if t.tokens > 0 && t.q.decoding == decodes {
				s.serve(&p, t)
			}
		}
	}
	switch {
	case len(s.waiting) == 0:
	case len(p.preempted) > 0:
		p.hold(scheduler.HeldBlocks)
	case order:
		p.hold(scheduler.HeldOrder)
	case s.waiting[0] == slotless:
		p.hold(scheduler.HeldSlots)
	case s.unit(s.waiting[0].known()) > left:
		p.hold(scheduler.HeldBudget)
	default:
		p.hold(scheduler.HeldBlocks)
	}
	return p
}

// unit returns the least part of a prompt of n tokens that a step can compute.
func (s *trtllm) unit(n int) int {
	if s.EnableChunkedPrefill {
		return min(n, int(s.BlockSize))
	}
	return n
}

// serve makes t a part of p.
func (s *trtllm) serve(p *plan, t ration) {
	it := itemOf(t.q, t.tokens)
	if it.admitted = !s.started(t.q); it.admitted {
		s.waiting = without(s.waiting, t.q)
		s.running = byRank(append(s.running, t.q))
	}
	if !s.core.take(t.q, t.q.known()) {
		panic("no blocks left for a sequence that was to run") // a fault of this package
	}
	p.items = append(p.items, it)
}

// reserve is the capacity scheduler that sets blocks for whole requests aside. It
// returns who may hold KV, who was refused for want of a slot, and whether nobody is to
// start because somebody decodes.
func (s *trtllm) reserve() (turns []ration, slotless *request, order bool) {
	rest := func(q *request) int64 {
		return s.pool.Need(int64(q.rec.Prompt)+int64(q.limit)) - int64(len(q.blocks))
	}
	free := s.pool.Free()
	for _, q := range s.running {
		if q.decoding {
			turns = append(turns, ration{q: q})
			free -= rest(q)
		}
	}
	if s.Policy == scheduler.TRTLLMStatic && len(turns) > 0 {
		return turns, nil, true
	}
	for _, q := range s.active() {
		if q.decoding {
			continue
		}
		if len(turns) == int(s.MaxNumSeqs) {
			slotless = q
			break
		}
		if rest(q) > free {
			break
		}
		turns = append(turns, ration{q: q})
		free -= rest(q)
	}
	slices.SortFunc(turns, func(a, b ration) int { return cmp.Compare(a.q.rank, b.q.rank) })
	return turns, slotless, false
}

// utilize is the capacity scheduler that looks at the next step alone. It
// returns who may hold KV, and who was refused for want of a slot.
func (s *trtllm) utilize(p *plan) (turns []ration, slotless *request) {
	list := s.active()
	free := s.pool.Free()
	for i := 0; i < len(list); {
		q := list[i]
		need := max(0, s.pool.Need(int64(q.known()))-int64(len(q.blocks)))
		if len(turns) < int(s.MaxNumSeqs) && need <= free {
			turns = append(turns, ration{q: q})
			free -= need
			i++
			continue
		}
		last := len(list) - 1
		for last >= i && !s.started(list[last]) {
			last--
		}
		if last < i {
			if len(turns) == int(s.MaxNumSeqs) {
				slotless = q
			}
			break
		}
		free += int64(len(list[last].blocks))
		s.pause(p, list[last])
		list = list[:last]
	}
	return turns, slotless
}

// pause makes q wait at its place.
func (s *trtllm) pause(p *plan, q *request) {
	s.running = without(s.running, q)
	s.lose(p, q)
	if !s.EnableChunkedPrefill && q.known() > int(s.MaxNumBatchedTokens) && !s.AllowLivelock {
		p.dropped = append(p.dropped, drop{q, "resumed length exceeds max_num_batched_tokens with chunked prefill off"})
		return
	}
	s.waiting = byRank(append(s.waiting, q))
}

// run is the micro-batch scheduler: it says how many tokens each of turns computes,
// and returns how many are left.
func (s *trtllm) run(turns []ration) (left int) {
	left = int(s.MaxNumBatchedTokens)
	rest := func(t *ration) int { return t.q.known() - t.q.computed - t.tokens }
	if !s.EnableChunkedPrefill {
		for i := range turns {
			if rest(&turns[i]) > left {
				break
			}
			left -= rest(&turns[i])
			turns[i].tokens = rest(&turns[i])
		}
		return left
	}
	var contexts []*ration
	all := 0
	for i := range turns {
		if t := &turns[i]; t.q.decoding {
			t.tokens = 1
			left--
		} else {
			contexts = append(contexts, t)
			all += rest(t)
		}
	}
	if all <= left {
		for _, t := range contexts {
			t.tokens = rest(t)
		}
		return left - all
	}
	unit := int(s.BlockSize)
	if s.ContextChunking == scheduler.FirstComeFirstServed {
		for _, t := range contexts {
			n := min(rest(t), left)
			if n < rest(t) {
				n = n / unit * unit
			}
			t.tokens = n
			left -= n
		}
		return left
	}
	for moved := true; moved; {
		moved = false
		for _, t := range contexts {
			if n := min(rest(t), unit); n > 0 && n <= left {
				t.tokens += n
				left -= n
				moved = true
			}
		}
	}
	return left
}
