package scheduler

import (
	"cmp"
	"slices"

	"servesim/sim/kv"
)

// sgBudget is what a prefill batch of sglang may still take.
type sgBudget struct {
	input, chunk   int64   // prompt tokens
	chunks         bool    // chunk counts
	reserved       float64 // tokens, of what is spare, that running and added requests are expected to take
	taken          int64   // tokens that the batch itself takes
	added, running int32   // requests
}

// update takes a prompt's part of n tokens from b, and expects outputs more.
func (b *sgBudget) update(n, outputs int32) {
	b.reserved += float64(n + outputs)
	b.taken += int64(n)
	b.input -= int64(n)
	b.chunk -= int64(n)
	b.added++
}

// left returns how many tokens nobody is expected to take.
func (p *sglang) left() float64 { return float64(p.spare()) - p.budget.reserved }

// prefillBatch plans a step of prompts, or of prompts and decodes with mixed
// chunks, and tells whether there is one.
func (p *sglang) prefillBatch() bool {
	if p.chunked == nobody && (p.full != NotHeld || p.queue.n == 0) {
		return false
	}
	running := p.members()
	if p.chunked == nobody && running >= p.MaxNumSeqs && !p.CachesOutput {
		p.latch(HeldSlots)
		return false
	}
	p.sortQueue()
	p.openBudget(running)
	if p.chunked != nobody && !p.addChunk() {
		return false
	}
	p.admit()
	if len(p.step.Shares) == 0 {
		return false
	}
	need := int64(0)
	for i := range p.step.Shares {
		need += int64(p.step.Shares[i].Tokens)
	}
	p.claim(need)
	p.form()
	return true
}

// openBudget begins the budgets of a batch beside running others.
func (p *sglang) openBudget(running int32) {
	b := &p.budget
	*b = sgBudget{input: int64(p.MaxPrefillTokens), chunk: int64(p.MaxNumBatchedTokens), chunks: p.EnableChunkedPrefill, running: running}
	if p.EnableMixedChunk {
		b.input, b.chunk, b.taken = b.input-int64(running), b.chunk-int64(running), int64(running)
	}
	sum := 0.0
	for h := p.running.head; h != nobody; h = p.seqs[h].next {
		if h != p.chunked {
			sum += float64(float64(min(p.seqs[h].output-p.emittedBy(h), sgClip)) * p.ratio)
		}
	}
	b.reserved = float64(b.taken) + sum
}

// reasonCrash is why a request is dropped where the engine would end with an error.
const reasonCrash = "no KV memory is left for the next chunk of its prompt, since enable_mixed_chunk let decodes take it; the engine ends with an error here"

// addChunk adds the next part of the request that is being cut into chunks. It
// returns false, and drops the request, if there is no memory for it.
func (p *sglang) addChunk() bool {
	h, b := p.chunked, &p.budget
	s := &p.seqs[h]
	most := b.chunk
	if left := p.left(); left >= 1 && left < float64(most) {
		most = int64(left)
	}
	rest := s.known() - s.computed
	n := min(int64(rest), most)
	if decodes := p.running.n - 1; p.EnableMixedChunk && n+int64(decodes) > p.spare() {
		p.unkeep(h)
		p.drop(h)
		p.chunked = nobody
		p.step.Dropped = append(p.step.Dropped, Drop{h, reasonCrash})
		return false
	}
	outputs := int32(0)
	if n == int64(rest) {
		outputs = min(s.output, sgClip)
		p.chunked = nobody
	}
	p.grant(h, int32(n))
	b.update(int32(n), outputs)
	return true
}

// grant gives h the next n tokens of its prompt.
func (p *sglang) grant(h Handle, n int32) {
	s := &p.seqs[h]
	s.blocks += n
	p.more[h].covered = s.computed + n
	p.step.Shares = append(p.step.Shares, Share{Seq: h, Start: s.computed, Tokens: n, Last: s.computed+n == s.known()})
}

// admit adds prompts from the queue.
func (p *sglang) admit() {
	b := &p.budget
	for h := p.queue.head; h != nobody; h = p.queue.head {
		if b.added >= p.MaxNumSeqs-b.running {
			p.latch(HeldSlots)
		}
		if p.full != NotHeld || !p.addOne(h) {
			p.hold(p.full)
			return
		}
	}
}

// verdict says whether a batch goes on after a request was tried.
func (p *sglang) verdict(why Held) bool {
	if why == HeldBlocks {
		p.latch(why)
	} else if why != NotHeld {
		p.hold(why)
	}
	return why == NotHeld
}

// addOne adds h, the head of the queue, if it can be, and tells whether the next
// may be tried.
func (p *sglang) addOne(h Handle) bool {
	b, s := &p.budget, &p.seqs[h]
	node, prefix := kv.NodeID(0), int32(0)
	if p.tree != nil {
		node, prefix = p.tree.Match(&p.more[h].name, s.known()-1)
	}
	extend := s.known() - prefix
	if p.tree == nil && p.IgnoreEOS {
		if !p.lasts(h) {
			return p.verdict(HeldBlocks)
		}
	} else {
		need := float64(extend + min(max(s.output-s.emitted, 0), sgClip))
		if need >= p.left() {
			return p.verdict(HeldBlocks)
		}
		if int64(extend) >= b.input && b.added > 0 {
			return p.verdict(HeldBudget)
		}
		if p.tree != nil {
			p.tree.Lock(node)
			if need >= p.left() {
				p.tree.Unlock(node)
				return p.verdict(HeldBlocks)
			}
		}
	}
	n, outputs := extend, min(s.output, sgClip)
	if b.chunks && int64(extend) > b.chunk {
		if n, outputs = int32(b.chunk), 0; n <= 0 {
			if p.tree != nil {
				p.tree.Unlock(node)
			}
			return p.verdict(HeldBudget)
		}
	}
	p.start(h, node, prefix, n)
	b.update(n, outputs)
	switch {
	case p.left() <= 0 || p.spare()-b.taken <= 0:
		return p.verdict(HeldBlocks)
	case b.input <= 0 || b.chunks && b.chunk <= 0:
		return p.verdict(HeldBudget)
	}
	return true
}

// start moves h, of which the tree has prefix tokens that end in node and are
// locked, from the queue into the batch, with n tokens.
func (p *sglang) start(h Handle, node kv.NodeID, prefix, n int32) {
	s, m := &p.seqs[h], &p.more[h]
	p.remove(&p.queue, h)
	p.push(h)
	s.state, s.computed, s.blocks = prefill, prefix, 0
	m.node, m.kept = node, prefix
	p.partial = append(p.partial, h)
	p.grant(h, n)
	share := &p.step.Shares[len(p.step.Shares)-1]
	if share.Admitted = true; !share.Last {
		p.chunked = h
	}
}

// form puts the members of a new prefill batch at the end of the running list, in
// the order of the batch: with mixed chunks the decodes come last.
func (p *sglang) form() {
	p.merged, p.shrunk = false, false
	p.from = p.entries + 1
	p.held = p.held[:0]
	if p.EnableMixedChunk {
		for h := p.running.head; h != nobody; h = p.seqs[h].next {
			if p.seqs[h].state != prefill {
				p.held = append(p.held, h)
			}
		}
	}
	for i := range p.step.Shares {
		p.remove(&p.running, p.step.Shares[i].Seq)
		p.push(p.step.Shares[i].Seq)
	}
	if p.EnableMixedChunk {
		p.dead = 0
		for _, h := range p.held {
			p.more[h].covered = p.seqs[h].prompt + p.emittedBy(h)
		}
		for _, h := range p.held {
			p.remove(&p.running, h)
			p.push(h)
		}
		p.serve()
	}
	p.unseenFrom(p.from)
}

// lasts tells that h fits beside all that run and were added, if each request
// makes all its tokens.
func (p *sglang) lasts(h Handle) bool {
	s := &p.seqs[h]
	free := p.spare() - p.budget.taken
	if float64(s.known()) > min(float64(free), p.left()) {
		return false
	}
	type future struct{ rest, tokens int64 }
	var all []future
	for g := p.running.head; g != nobody; g = p.seqs[g].next {
		q := &p.seqs[g]
		made := p.emittedBy(g)
		if q.state == prefill {
			made = q.emitted
		}
		all = append(all, future{int64(q.output - made), int64(q.prompt + made)})
	}
	all = append(all, future{int64(s.output - s.emitted), int64(s.known())})
	slices.SortStableFunc(all, func(a, b future) int { return cmp.Compare(a.rest, b.rest) })
	all = slices.DeleteFunc(all, func(f future) bool { return f.rest <= 0 })
	free -= int64(s.known())
	for i, f := range all {
		n := int64(len(all) - i)
		if free-f.rest*n <= n {
			return false
		}
		free += f.tokens
	}
	return true
}

// Of schedule_policy lpm.
const (
	sgLongQueue = 128 // requests, above which the queue stays in order
	sgBatchHit  = 32  // tokens that count as a match within the queue, if the tree has no more
)

// sortQueue puts those first of whose prompt the tree has most. What would find
// more after somebody else in the queue has run comes last.
func (p *sglang) sortQueue() {
	if p.SchedulingPolicy != LPM || p.queue.n > sgLongQueue || p.tree == nil {
		return
	}
	p.scratch.Reset()
	p.order = p.handles(p.order[:0], &p.queue)
	for _, h := range p.order {
		name, n := &p.more[h].name, p.seqs[h].known()
		_, found := p.tree.Match(name, n)
		p.seqs[h].heap = -found
		if found > sgBatchHit {
			continue
		}
		if _, found := p.scratch.Match(name, n); found >= sgBatchHit {
			p.seqs[h].heap = 1
		} else {
			p.scratch.Insert(name, n)
		}
	}
	slices.SortStableFunc(p.order, func(a, b Handle) int { return cmp.Compare(p.seqs[a].heap, p.seqs[b].heap) })
	p.relink(&p.queue, p.order)
}
