package scheduler

// planChunked is a step of vLLM V0 with chunked prefill: decodes and unfinished
// prompts first, in running order, then new prompts, from one token budget.
func (p *v0) planChunked() {
	slot := p.slotBudget()
	budget, seqs := p.runningPass(slot)
	longs := p.runningLongs()
	if p.canSwapIn() {
		budget, seqs = p.swapIn(budget, seqs)
		p.enteredFirst()
	}
	p.chunkedPrefillPass(budget, slot, seqs, longs)
	for _, h := range p.victims {
		p.pushFront(&p.queue, h)
	}
	p.victims = p.victims[:0]
}

// long tells that s has more uncomputed tokens than the threshold.
func (p *v0) long(s *seq) bool {
	return s.known()-s.computed > p.LongPrefillTokenThreshold
}

// runningLongs returns the number of unfinished prompts that are long.
func (p *v0) runningLongs() (n int32) {
	for _, h := range p.partial {
		if p.long(&p.seqs[h]) {
			n++
		}
	}
	return n
}

// slotBudget returns the most tokens that one prompt may take in this step:
// the budget divided by the number of prompts that will share it.
func (p *v0) slotBudget() int32 {
	most := p.MaxNumPartialPrefills
	if most == 1 {
		return p.MaxNumBatchedTokens
	}
	prompts, longs := int32(len(p.partial)), p.runningLongs()
	for h := p.queue.head; h != nobody && prompts < most; h = p.seqs[h].next {
		if p.long(&p.seqs[h]) {
			if longs >= p.MaxLongPartialPrefills {
				continue
			}
			longs++
		}
		prompts++
	}
	return p.MaxNumBatchedTokens / max(1, min(prompts, most))
}

// runningPass serves the running list and puts it into its new order. It
// returns what is left of the budget and how many sequences were served.
func (p *v0) runningPass(slot int32) (left, seqs int32) {
	budget := p.MaxNumBatchedTokens
	if len(p.partial) == 0 && p.stalls == 0 && p.group.n <= budget && p.pool.Free()-p.group.need() >= 1 {
		p.decodeGroup()
		return budget - p.group.n, p.group.n
	}
	if p.running.n == 0 {
		return budget, 0
	}
	p.dissolve()
	p.order = p.handles(p.order[:0], &p.running)
	i := 0
	for ; i < len(p.order); i++ {
		h := p.order[i]
		s := &p.seqs[h]
		n := min(s.known()-s.computed, budget, slot)
		if n == 0 {
			break
		}
		touched := int64(1)
		if s.state == prefill && s.known()%p.BlockSize == 0 {
			touched = 0
		}
		if !p.freeBlocks(i, touched) {
			break
		}
		if s.state == prefill {
			s.served = true
			p.step.Shares = append(p.step.Shares, Share{
				Seq: h, Start: s.computed, Tokens: n, Last: s.computed+n == s.known(),
			})
		} else {
			p.serveDecode(h)
		}
		budget -= n
		seqs++
	}
	p.reorder(i)
	p.regroup()
	return budget, seqs
}

// reorder makes the new running list of order, of which the first served were
// served: the unserved, the decodes, the prompts that this step completes, the
// other prompts.
func (p *v0) reorder(served int) {
	p.served = append(p.served[:0], p.order[min(served, len(p.order)):]...)
	for class := 0; class < 3; class++ {
		for _, h := range p.order[:min(served, len(p.order))] {
			if p.classOf(h) == class {
				p.served = append(p.served, h)
			}
		}
	}
	p.relink(&p.running, p.served)
}

// classOf orders served sequences: 0 for a decode, 1 for a prompt that the
// step completes, 2 for another prompt.
func (p *v0) classOf(h Handle) int {
	if p.seqs[h].state != prefill {
		return 0
	}
	for i := range p.step.Shares {
		if s := &p.step.Shares[i]; s.Seq == h && s.Last {
			return 1
		}
	}
	return 2
}

// chunkedPrefillPass admits prompts from the queue, cut to what is left of the
// budget and of the slot, beside longs long ones that run.
func (p *v0) chunkedPrefillPass(budget, slot, seqs, longs int32) {
	several := p.MaxNumPartialPrefills > 1
	for h := p.queue.head; h != nobody; {
		if budget == 0 {
			p.hold(HeldBudget)
			return
		}
		s := &p.seqs[h]
		next := s.next
		n := min(s.known(), budget, slot)
		if n > p.MaxModelLen {
			p.ignore(h, "prompt exceeds max_model_len")
			h = next
			continue
		}
		if several && p.long(s) {
			if longs >= p.MaxLongPartialPrefills {
				p.hold(HeldPartial)
				h = next
				continue
			}
		}
		fit := p.fit(s.known())
		if fit == fitNever {
			p.ignore(h, "prompt needs more KV blocks than the pool has")
			h = next
			continue
		}
		if p.held(fit, seqs, n == 0) {
			return
		}
		if several && p.long(s) {
			longs++
		}
		p.start(h, n)
		budget -= n
		seqs++
		h = next
	}
}
