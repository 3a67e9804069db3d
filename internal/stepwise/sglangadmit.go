package stepwise

import (
	"cmp"
	"math"
	"slices"

	"servesim/sim/scheduler"
)

// left is the memory that nobody is expected to take.
func (s *sglang) left() float64 { return float64(s.spare()) - s.reserved }

// prompts forms a batch of prompts, and of decodes with mixed chunks; false if
// there is none.
func (s *sglang) prompts(p *plan, held *scheduler.Held) bool {
	if s.chunked == nil && (s.full || len(s.queue) == 0) {
		return false
	}
	running := len(s.batch)
	if s.chunked == nil && running >= int(s.MaxNumSeqs) && !s.CachesOutput {
		s.latch(scheduler.HeldSlots, held)
		return false
	}
	s.sort()
	s.budget(running)
	if x := s.chunked; x != nil {
		n := min(x.length()-x.filled, s.chunk)
		if l := s.left(); l >= 1 {
			n = min(n, int(l))
		}
		if s.EnableMixedChunk && n+len(live(s.batch)) > s.spare() {
			s.avail += x.slots - x.kept
			x.node.lock(-1)
			delete(s.requests, x.q)
			s.chunked, x.gone = nil, true
			p.dropped = append(p.dropped, drop{x.q, "no KV memory is left for the next chunk of its prompt, since enable_mixed_chunk let decodes take it; the engine ends with an error here"})
			return false
		}
		s.give(p, x, n)
	}
	s.admit(p, held)
	if len(p.items) == 0 {
		return false
	}
	need := 0
	for _, it := range p.items {
		need += it.tokens
	}
	s.makeRoom(need)
	s.avail -= need
	for _, it := range p.items {
		s.previous = append(s.previous, s.requests[it.r])
	}
	if s.EnableMixedChunk {
		decodes := live(s.batch)
		for _, x := range decodes {
			x.filled = x.length()
		}
		s.decode(p, decodes)
		s.previous, s.batch = append(s.previous, decodes...), nil
	}
	s.launch(p)
	return true
}

// budget begins the budgets of a batch beside running others.
func (s *sglang) budget(running int) {
	s.input, s.chunk, s.taken, s.joined = int(s.MaxPrefillTokens), math.MaxInt, 0, 0
	if s.EnableChunkedPrefill {
		s.chunk = int(s.MaxNumBatchedTokens)
	}
	if s.EnableMixedChunk {
		s.input, s.chunk, s.taken = s.input-running, s.chunk-running, running
	}
	estimate := 0.0
	for _, x := range live(s.batch) {
		estimate += float64(float64(min(x.wanted()-x.out, 4096)) * s.ratio)
	}
	s.reserved = float64(s.taken) + estimate
}

// latch sets batch_is_full.
func (s *sglang) latch(why scheduler.Held, held *scheduler.Held) {
	s.full, s.why, *held = true, why, why
}

// give puts the next n tokens of the prompt of x into the batch.
func (s *sglang) give(p *plan, x *sgRequest, n int) {
	it := item{r: x.q, start: x.filled, tokens: n, last: x.filled+n == x.length()}
	x.slots += n
	x.filled += n
	p.items = append(p.items, it)
	s.joined++
	s.reserved += float64(n)
	if it.last {
		s.reserved += float64(min(x.wanted(), 4096))
	}
	if !it.last {
		s.chunked = x
	} else if s.chunked == x {
		s.chunked = nil
	}
	s.input, s.taken = s.input-n, s.taken+n
	if s.EnableChunkedPrefill {
		s.chunk -= n
	}
}

// admit puts prompts from the queue into the batch.
func (s *sglang) admit(p *plan, held *scheduler.Held) {
	for len(s.queue) > 0 {
		if s.joined >= int(s.MaxNumSeqs)-len(s.batch) {
			s.latch(scheduler.HeldSlots, held)
		}
		if s.full {
			return
		}
		switch why := s.try(p, s.queue[0]); why {
		case scheduler.NotHeld:
		case scheduler.HeldBlocks:
			s.latch(why, held)
			return
		default:
			*held = why
			return
		}
	}
}

// try puts x, the head of the queue, into the batch, and says why nobody else
// follows.
func (s *sglang) try(p *plan, x *sgRequest) scheduler.Held {
	var node *branch
	prefix := 0
	if s.tree != nil {
		node, prefix = s.tree.find(x.q.tokens(x.length() - 1))
	}
	extend := x.length() - prefix
	if s.tree == nil && s.IgnoreEOS {
		if !s.lasts(p, x) {
			return scheduler.HeldBlocks
		}
	} else {
		need := float64(extend + min(x.wanted()-x.out, 4096))
		if need >= s.left() {
			return scheduler.HeldBlocks
		}
		if extend >= s.input && s.joined > 0 {
			return scheduler.HeldBudget
		}
		node.lock(1)
		if need >= s.left() {
			node.lock(-1)
			return scheduler.HeldBlocks
		}
	}
	n := min(extend, s.chunk)
	if n <= 0 {
		node.lock(-1)
		return scheduler.HeldBudget
	}
	s.queue = s.queue[1:]
	x.node, x.kept, x.slots, x.filled = node, prefix, prefix, prefix
	s.give(p, x, n)
	p.items[len(p.items)-1].admitted = true
	switch {
	case s.left() <= 0 || s.spare() <= s.taken:
		return scheduler.HeldBlocks
	case s.input <= 0 || s.chunk <= 0:
		return scheduler.HeldBudget
	}
	return scheduler.NotHeld
}

// lasts tells that x fits beside the others until all of them have ended.
func (s *sglang) lasts(p *plan, x *sgRequest) bool {
	free := s.spare() - s.taken
	if x.length() > free || float64(x.length()) > s.left() {
		return false
	}
	all := live(s.batch)
	for _, it := range p.items {
		all = append(all, s.requests[it.r])
	}
	all = slices.DeleteFunc(append(all, x), func(y *sgRequest) bool { return y.wanted() <= y.out })
	slices.SortStableFunc(all, func(a, b *sgRequest) int { return cmp.Compare(a.wanted()-a.out, b.wanted()-b.out) })
	free -= x.length()
	for i, y := range all {
		n := len(all) - i
		if free-(y.wanted()-y.out)*n <= n {
			return false
		}
		free += y.length()
	}
	return true
}

// sort orders the queue by what the tree has of each prompt, under lpm.
func (s *sglang) sort() {
	if s.SchedulingPolicy != scheduler.LPM || len(s.queue) > 128 {
		return
	}
	var seen radix
	has := map[*sgRequest]int{}
	for _, x := range s.queue {
		key := x.q.tokens(x.length())
		_, has[x] = s.tree.find(key)
		if has[x] > 32 {
			continue
		}
		if _, n := seen.find(key); n >= 32 {
			has[x] = -1
		} else {
			seen.insert(key)
		}
	}
	slices.SortStableFunc(s.queue, func(a, b *sgRequest) int { return cmp.Compare(has[b], has[a]) })
}
