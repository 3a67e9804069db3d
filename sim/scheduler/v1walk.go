package scheduler

// runInOrder serves the running list one by one, as the engine's loop does,
// preempting when blocks run out, and returns what is left of the budget.
func (p *v1) runInOrder(budget int32) int32 {
	p.dissolve()
	p.order = p.handles(p.order[:0], &p.running)
	for i := 0; i < len(p.order) && budget > 0; i++ {
		h := p.order[i]
		s := &p.seqs[h]
		n := min(p.wants(s), budget)
		if n == 0 || s.state == ended {
			continue
		}
		var ok bool
		if i, ok = p.makeRoom(i, n, &budget); !ok {
			break
		}
		s.served = true
		if s.state == stalled {
			p.takeToken(s)
			p.register(h, s.computed+1-p.unseenTokens(s))
		} else {
			p.grant(h, n)
		}
		budget -= n
	}
	p.regroup()
	return budget
}

// takeToken takes the block, if any, that the decoding sequence s needs for
// its next token.
func (p *v1) takeToken(s *seq) {
	need := p.pool.Need(int64(s.computed)+1) - int64(s.blocks)
	p.take(need)
	s.blocks += int32(need)
}

// makeRoom preempts until there are blocks for n more tokens of the i-th
// sequence of order, and returns its place in order then. ok is false if it had
// to be preempted itself.
func (p *v1) makeRoom(i int, n int32, budget *int32) (at int, ok bool) {
	h := p.order[i]
	s := &p.seqs[h]
	for p.pool.Need(int64(s.computed)+int64(n))-int64(s.blocks) > p.pool.Free() {
		v := p.victim()
		victim := p.order[v]
		if victim != h {
			i = p.withdraw(i, v, budget)
		}
		p.order = append(p.order[:v], p.order[v+1:]...)
		p.preempt(victim)
		if victim == h {
			return i, false
		}
	}
	return i, true
}

// victim returns the place in order of the sequence to preempt.
func (p *v1) victim() int {
	last := len(p.order) - 1
	if !p.priority {
		return last
	}
	worst := 0
	for i := 1; i <= last; i++ {
		if urgent(p.seqs, p.order[worst], p.order[i]) {
			worst = i
		}
	}
	return worst
}

// withdraw applies the version's rule for a victim, at place v, that stands
// before the sequence that needs the blocks, at place i, and returns that
// sequence's place by which the loop goes on.
func (p *v1) withdraw(i, v int, budget *int32) int {
	victim := p.order[v]
	s := &p.seqs[victim]
	if s.served {
		if p.Victim == VictimGhost {
			p.haunt(victim)
			return i
		}
		*budget += p.revoke(victim)
		return i - 1
	}
	if p.Victim == VictimShift && v < i {
		return i - 1
	}
	return i
}

// revoke takes the share of h out of the step and returns its tokens.
func (p *v1) revoke(h Handle) int32 {
	p.seqs[h].served = false
	for i, share := range p.step.Shares {
		if share.Seq == h {
			p.step.Shares = append(p.step.Shares[:i], p.step.Shares[i+1:]...)
			return share.Tokens
		}
	}
	return 1 // a decode has no share of its own
}

// haunt leaves the share of h in the step as a ghost.
func (p *v1) haunt(h Handle) {
	s := &p.seqs[h]
	for i := range p.step.Shares {
		if p.step.Shares[i].Seq == h {
			p.step.Shares[i].Ghost, p.step.Shares[i].Last = true, false
			return
		}
	}
	p.step.Shares = append(p.step.Shares, Share{Seq: h, Start: s.computed, Tokens: 1, Ghost: true, Decode: true})
}

// preempt drops the running sequence h and puts it back in the queue.
func (p *v1) preempt(h Handle) {
	p.evict(h)
	p.requeue(h)
}
