package scheduler

// KV memory of sglang: slots of one token each, of which some are free, some held
// by one request, and some in the radix tree.

// spare returns the number of tokens that can still be had.
func (p *sglang) spare() int64 {
	if p.tree == nil {
		return p.pool.Free()
	}
	return p.pool.Free() + p.tree.Evictable()
}

// makeRoom evicts n tokens from the tree, as far as it has them, if fewer are free.
func (p *sglang) makeRoom(n int64) {
	if p.tree != nil && p.pool.Free() < n {
		p.pool.Give(p.tree.Evict(n))
	}
}

// room tells that n tokens are free, after evicting what it takes.
func (p *sglang) room(n int64) bool {
	p.makeRoom(n)
	return p.pool.Free() >= n
}

// claim takes n slots. The caller knows that there are as many.
func (p *sglang) claim(n int64) {
	p.makeRoom(n)
	p.pool.Take(n)
}

// grow takes n slots for each of k steps.
func (p *sglang) grow(k, n int64) {
	for k > 0 {
		now := k
		if p.tree != nil {
			now = min(k, p.pool.Free()/n)
		}
		p.pool.Take(now * n)
		if k -= now; k > 0 {
			p.makeRoom(n)
		}
	}
}

// keep puts the first tokens tokens of h, which goes on, into the tree.
func (p *sglang) keep(h Handle, tokens int32) {
	if p.tree == nil {
		return
	}
	m := &p.more[h]
	node, had := p.tree.Insert(&m.name, tokens)
	p.pool.Give(int64(had - m.kept)) // somebody else has put them there meanwhile
	p.seqs[h].blocks -= tokens - m.kept
	p.tree.Unlock(m.node)
	p.tree.Lock(node)
	m.node, m.kept = node, tokens
}

// unkeep ends that h has tokens in the tree.
func (p *sglang) unkeep(h Handle) {
	if p.tree != nil {
		p.tree.Unlock(p.more[h].node)
		p.more[h].node, p.more[h].kept = 0, 0
	}
}

// free drops h, which has ended, and leaves in the tree what the version leaves
// there of a request that has ended.
func (p *sglang) free(h Handle) {
	s := &p.seqs[h]
	if s.state == decoding {
		p.group.leave(p.seqs, h)
		s.state = ended
	}
	if m := &p.more[h]; p.tree != nil {
		held := m.kept + s.blocks
		if !p.CachesOutput {
			held = min(held, m.covered)
		}
		if s.state == prefill {
			held = min(held, s.computed)
		}
		_, had := p.tree.Insert(&m.name, held)
		p.pool.Give(int64(had - m.kept))
		s.blocks -= held - m.kept
	}
	p.unkeep(h)
	p.drop(h)
}
