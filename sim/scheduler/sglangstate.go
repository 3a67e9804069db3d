package scheduler

// Visit implements Inspector.
func (p *sglang) Visit(f func(h Handle, tokens int32)) {
	for i := range p.step.Shares {
		f(p.step.Shares[i].Seq, p.step.Shares[i].Tokens)
	}
	if p.step.Decodes == 0 {
		return
	}
	for h := p.running.head; h != nobody; h = p.seqs[h].next {
		if s := p.seqs[h].state; s == decoding || s == ended {
			f(h, 1)
		}
	}
}

// Queues implements Inspector.
func (p *sglang) Queues() (running, waiting []Handle) {
	return p.handles(nil, &p.running), p.handles(nil, &p.queue)
}

// SGLangState is what SGLang's scheduler tells of itself after it has formed a
// batch.
type SGLangState struct {
	// Running is the running batch, in order, without those that have ended, and
	// Ended the number of these.
	Running []Handle
	Ended   int
	// BatchIsFull and NewTokenRatio are the engine's.
	BatchIsFull   bool
	NewTokenRatio float64
	// Available are tokens of KV memory that are in no use, Evictable those that
	// only the radix cache holds.
	Available, Evictable int64
}

// StateOfSGLang returns the state of p, a policy sglang; ok is false of any other.
func StateOfSGLang(p Policy) (s SGLangState, ok bool) {
	g, ok := p.(*sglang)
	if !ok {
		return s, false
	}
	s = SGLangState{Ended: int(g.dead), BatchIsFull: g.full != NotHeld, NewTokenRatio: g.ratio, Available: g.pool.Free()}
	if g.tree != nil {
		s.Evictable = g.tree.Evictable()
	}
	for h := g.running.head; h != nobody; h = g.seqs[h].next {
		if h != g.chunked && !g.inLast(h) {
			s.Running = append(s.Running, h)
		}
	}
	return s, true
}
