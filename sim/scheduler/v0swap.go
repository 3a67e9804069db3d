package scheduler

// swapping is what vLLM V0 has of sequences whose blocks are in the CPU's memory.
//
// Source: _schedule_swapped and _preempt_by_swap of vllm/core/scheduler.py and
// can_swap_in of vllm/core/block_manager.py at v0.8.5.
type swapping struct {
	swapped list     // in the order in which they were swapped out
	cpu     int64    // blocks of the CPU's memory that are free
	entered []Handle // swapped in by the step that is planned
}

// The reasons why a sequence can't stay swapped out.
const (
	reasonNoCPU    = "the CPU has too few KV blocks to swap to, at which the engine itself ends"
	reasonNoSwapIn = "swapped out, and larger than can be swapped in again"
)

// prefilled tells that the sequence that was swapped out has its prompt done: with
// its last token comes the first of the answer.
func (s *seq) prefilled() bool { return s.emitted > 0 }

// swapOut moves the blocks of the running sequence h to the CPU's memory.
func (p *v0) swapOut(h Handle) {
	s := &p.seqs[h]
	if int64(s.blocks) > p.cpu {
		p.evict(h)
		p.step.Dropped = append(p.step.Dropped, Drop{h, reasonNoCPU})
		return
	}
	if s.state == prefill {
		p.unpartial(h)
	} else {
		p.stalls-- // a walk has dissolved the group
		if s.resumed {
			p.step.Stalled = append(p.step.Stalled, h)
		}
	}
	s.served, s.resumed, s.state = false, false, swappedOut
	p.release(h)
	p.cpu -= int64(s.blocks)
	p.remove(&p.running, h)
	p.pushBack(&p.swapped, h)
	p.step.Held, p.step.Again = HeldBlocks, true
}

// leaveCPU takes h off those that are swapped out.
func (p *v0) leaveCPU(h Handle) {
	s := &p.seqs[h]
	p.cpu += int64(s.blocks)
	p.remove(&p.swapped, h)
	s.blocks = 0
}

// canSwapIn tells that the step has preempted nobody.
func (p *v0) canSwapIn() bool { return len(p.step.Preempted) == 0 && !p.step.Again }

// swapIn brings sequences back, which compute in this step, beside seqs others and
// with what is left of the budget. It returns what is left then, and how many were
// served.
func (p *v0) swapIn(budget, seqs int32) (left, served int32) {
	for h := p.swapped.head; h != nobody; h = p.swapped.head {
		s := &p.seqs[h]
		n := int32(1)
		if !s.prefilled() {
			n = s.known() - s.computed
		}
		need := p.pool.Need(int64(s.known()))
		if never := need > p.pool.Usable()-p.reserve || n > p.MaxNumBatchedTokens; need > p.pool.Usable() || never && !p.AllowLivelock {
			p.leaveCPU(h)
			s.state = absent
			p.step.Dropped = append(p.step.Dropped, Drop{h, reasonNoSwapIn})
			continue
		}
		fit := fitNow
		if p.pool.Free()-need < p.reserve {
			fit = fitLater
		}
		if p.held(fit, seqs, n > budget) {
			break
		}
		p.leaveCPU(h)
		p.reenter(h, n)
		budget -= n
		seqs++
	}
	if len(p.entered) > 0 {
		p.step.Decodes, p.step.DecodeKV = p.group.n, p.group.kv
	}
	return budget, seqs
}

// reenter runs h, which was swapped out, again, with n tokens in this step.
func (p *v0) reenter(h Handle, n int32) {
	s := &p.seqs[h]
	p.entered = append(p.entered, h)
	p.pushBack(&p.running, h)
	s.blocks = int32(p.pool.Need(int64(s.known())))
	p.pool.Take(int64(s.blocks))
	if !s.prefilled() {
		s.state = prefill
		p.partial = append(p.partial, h)
		p.step.Shares = append(p.step.Shares, Share{Seq: h, Start: s.computed, Tokens: n, Last: true})
		return
	}
	s.blocks = int32(p.pool.Need(int64(s.computed)))
	s.state = decoding
	p.group.add(p.seqs, h)
	p.group.lift(p.seqs, s.heap)
	p.step.Unstalled = append(p.step.Unstalled, h)
}

// enteredFirst moves those that were swapped in to the front of the running list,
// decodes before prompts, as with chunked prefill. Nobody is ahead of them: a step
// that leaves one unserved has no tokens left, and swaps nobody in.
func (p *v0) enteredFirst() {
	if len(p.entered) == 0 {
		return
	}
	all := p.handles(nil, &p.running)
	rest := all[:len(all)-len(p.entered)]
	var order []Handle
	for _, prompts := range []bool{false, true} {
		for _, h := range p.entered {
			if (p.seqs[h].state == prefill) == prompts {
				order = append(order, h)
			}
		}
	}
	p.relink(&p.running, append(order, rest...))
}

// Counts implements Policy. Those that are swapped out wait.
func (p *v0) Counts() (running, waiting int, free int64) {
	running, waiting, free = p.batch.Counts()
	return running, waiting + int(p.swapped.n), free
}

// Swapped returns the sequences that are swapped out, in order.
func (p *v0) Swapped() []Handle { return p.handles(nil, &p.swapped) }
