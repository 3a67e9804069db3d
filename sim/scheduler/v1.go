package scheduler

// v1 is vLLM's V1 scheduler: one token budget, spent on the running list in
// order, then on the queue. It knows no prefill phase: a sequence computes what
// is known and not yet computed, which is one token for a decode and up to the
// budget for a prompt.
//
// Source: vllm/v1/core/sched/scheduler.py at the tags that Presets names.
type v1 struct {
	batch
	priority    bool
	wait        heap // the queue under the priority policy
	skipped     []Handle
	mustReplan  bool  // the queue's order changes with every step
	entries     int64 // into the running list, so far
	watermarked int64 // blocks that an admission beside others leaves free
}

func newV1(c Config) Inspector {
	p := &v1{batch: newBatch(c), priority: c.SchedulingPolicy == Priority}
	p.watermarked = c.watermark()
	return p
}

// Fits implements Policy.
func (p *v1) Fits(s Seq) string {
	switch {
	case p.AllowLivelock:
		return ""
	case p.pool.Need(int64(s.Prompt)+int64(s.Output)-1) > p.pool.Usable():
		return "needs more KV blocks than the pool has"
	case !p.chunks() && p.capped(s.Prompt) > p.MaxNumBatchedTokens:
		return "prompt exceeds max_num_batched_tokens with chunked prefill off"
	}
	return ""
}

// chunks tells that a prompt may be cut to the budget.
func (p *v1) chunks() bool { return p.EnableChunkedPrefill || p.Unchunked == UnchunkedIgnore }

// capped returns n cut to long_prefill_token_threshold.
func (p *v1) capped(n int32) int32 {
	if t := p.LongPrefillTokenThreshold; 0 < t && t < n {
		return t
	}
	return n
}

// Add implements Policy.
func (p *v1) Add(h Handle, s Seq) {
	p.enter(h, s)
	p.enqueue(h)
}

func (p *v1) enqueue(h Handle) {
	if p.priority {
		p.wait.push(p.seqs, h)
	}
	p.pushBack(&p.queue, h)
}

// requeue puts h back at the front of the queue, or in its place by priority.
func (p *v1) requeue(h Handle) {
	p.seqs[h].state = waiting
	if p.priority {
		p.wait.push(p.seqs, h)
	}
	p.pushFront(&p.queue, h)
}

// dequeue takes h off the queue.
func (p *v1) dequeue(h Handle) {
	if p.priority {
		p.wait.remove(p.seqs, h)
	}
	p.remove(&p.queue, h)
}

// first returns the sequence that the queue would admit next, or nobody.
func (p *v1) first() Handle {
	if p.priority {
		return p.wait.first()
	}
	return p.queue.head
}

// Abort implements Policy.
func (p *v1) Abort(h Handle) {
	if p.seqs[h].state == waiting && p.priority {
		p.wait.remove(p.seqs, h)
	}
	p.abort(h)
}

// Plan implements Policy.
func (p *v1) Plan() *Step {
	p.step.reset()
	p.mustReplan = false
	budget := p.MaxNumBatchedTokens
	if left, ok := p.runAll(budget); ok {
		budget = left
	} else {
		budget = p.runInOrder(budget)
	}
	if len(p.step.Preempted) == 0 {
		p.admit(budget)
	} else {
		p.hold(HeldBlocks)
	}
	return &p.step
}

// runAll serves the running list when the order in which it is served does not
// matter: every decode gets its token, every unfinished prompt its share, and
// there are blocks for all. ok is false, and nothing has changed, otherwise.
func (p *v1) runAll(budget int32) (left int32, ok bool) {
	if p.stalls > 0 || p.group.n > budget {
		return 0, false
	}
	left = budget - p.group.n
	blocks := p.group.need()
	only := len(p.partial) == 1 && p.partial[0] == p.running.tail
	for _, h := range p.partial {
		s := &p.seqs[h]
		n := p.wants(s)
		if only {
			n = min(n, left)
		}
		if n > left {
			return 0, false
		}
		left -= n
		blocks += p.pool.Need(int64(s.computed)+int64(n)) - int64(s.blocks)
	}
	if blocks > p.pool.Free() {
		return 0, false
	}
	left = budget - p.group.n
	for _, h := range p.partial {
		n := p.wants(&p.seqs[h])
		if only {
			n = min(n, left)
		}
		left -= n
		p.grant(h, n)
	}
	p.decodeGroup()
	return left, true
}

// wants returns how many tokens s computes if the budget allows: what is known
// and not computed, cut to the threshold and to max_model_len. It is never
// negative: admission may compute all max_model_len tokens at once.
func (p *v1) wants(s *seq) int32 {
	n := p.capped(s.known() - s.computed)
	return max(0, min(n, p.MaxModelLen-1-s.computed))
}

// grant gives the sequence h, which runs and has no token yet to decode, n
// prompt tokens in this step, and takes the blocks for them.
func (p *v1) grant(h Handle, n int32) {
	if n == 0 {
		return
	}
	s := &p.seqs[h]
	need := p.pool.Need(int64(s.computed)+int64(n)) - int64(s.blocks)
	p.take(need)
	s.blocks += int32(need)
	p.register(h, s.computed+n)
	p.step.Shares = append(p.step.Shares, Share{
		Seq: h, Start: s.computed, Tokens: n, Last: s.computed+n == s.known(),
	})
}

// admit spends what is left of the budget on the queue.
func (p *v1) admit(budget int32) {
	p.skipped = p.skipped[:0]
	for h := p.first(); h != nobody && p.open(budget); h = p.first() {
		s := &p.seqs[h]
		hit := p.lookup(h)
		p.mustReplan = p.mustReplan || hit.idle > 0 && (!p.chunks() || s.known() >= p.MaxModelLen)
		rest := s.known() - max(s.computed, hit.tokens)
		n := p.capped(rest)
		if n > budget && !p.chunks() {
			if n > p.MaxNumBatchedTokens && !p.AllowLivelock {
				p.discard(h, "resumed length exceeds max_num_batched_tokens with chunked prefill off")
				continue
			}
			p.hold(HeldBudget)
			if p.Unchunked == UnchunkedStop {
				break
			}
			p.dequeue(h)
			p.skipped = append(p.skipped, h)
			continue
		}
		n = min(n, budget)
		if n < rest && s.known() >= p.MaxModelLen && !p.AllowLivelock {
			p.discard(h, "prompt of max_model_len tokens, cut into chunks, never completes")
			continue
		}
		if !p.room(s, hit, n) {
			p.hold(HeldBlocks)
			break
		}
		p.dequeue(h)
		p.adopt(h, hit)
		p.pushBack(&p.running, h)
		p.entries++
		s.entry = p.entries
		s.state = prefill
		p.partial = append(p.partial, h)
		p.grant(h, n)
		p.step.Shares[len(p.step.Shares)-1].Admitted = true
		budget -= n
	}
	for _, h := range p.skipped {
		p.requeue(h)
	}
	p.mustReplan = p.mustReplan || len(p.skipped) > 1
}

// open tells that one more sequence may be admitted, blocks aside.
func (p *v1) open(budget int32) bool {
	switch {
	case budget <= 0:
		p.hold(HeldBudget)
	case p.running.n >= p.MaxNumSeqs:
		p.hold(HeldSlots)
	default:
		return true
	}
	return false
}

// discard drops the waiting sequence h for good.
func (p *v1) discard(h Handle, reason string) {
	p.dequeue(h)
	p.forget(h)
	p.seqs[h].state = absent
	p.step.Dropped = append(p.step.Dropped, Drop{h, reason})
}

// room tells that the blocks suffice to admit s, of which f is cached, with a
// first share of n tokens. What is cached and free is no more free then.
func (p *v1) room(s *seq, f hit, n int32) bool {
	spare := int64(f.idle - f.blocks)
	if p.running.n > 0 {
		spare += p.watermarked
	}
	if p.ReserveFullISL && p.pool.Need(int64(s.known()))+spare > p.pool.Free() {
		return false
	}
	return p.pool.Need(int64(max(s.computed, f.tokens))+int64(n))+spare <= p.pool.Free()
}

// Repeat implements Policy. What kept the queue from being admitted lasts:
// slots and budget do not change, and blocks only get fewer. So may those that
// the head of the queue would find in the prefix cache: each of them that is used
// again was to be taken, so that as much is wanting as before; only if a longer
// rest of the prompt is judged otherwise, the next plan may differ.
func (p *v1) Repeat() int64 {
	s := &p.step
	if s.Decodes == 0 || len(s.Shares) > 0 || len(s.Preempted)+len(s.Dropped)+len(p.unseen) > 0 || p.stalls > 0 || p.mustReplan {
		return 1
	}
	return p.repeat(0)
}

// Advance implements Policy.
func (p *v1) Advance(k int64) []Handle {
	used, unseen := p.pool.Used(), len(p.unseen)
	p.Idle()
	done := p.advance(k)
	if unseen > 0 { // and k is 1
		p.peak = used
	}
	return done
}

// Idle implements Policy: what ended in the step before is seen, and leaves.
func (p *v1) Idle() {
	for _, h := range p.unseen {
		if p.seqs[h].state == waiting { // preempted meanwhile
			p.dequeue(h)
			p.seqs[h].state = absent
		} else {
			p.drop(h)
		}
		p.forget(h)
	}
	p.unseen = p.unseen[:0]
}

// Visit implements Inspector. Ghosts come first: they stand before the sequence
// that took their blocks.
func (p *v1) Visit(f func(h Handle, tokens int32)) {
	shares := p.step.Shares
	for i := range shares {
		if shares[i].Ghost {
			f(shares[i].Seq, shares[i].Tokens)
		}
	}
	for h := p.running.head; h != nobody; h = p.seqs[h].next {
		switch s := &p.seqs[h]; s.state {
		case decoding:
			f(h, 1)
		case prefill:
			for i := range shares {
				if shares[i].Seq == h && !shares[i].Ghost {
					f(h, shares[i].Tokens)
				}
			}
		}
	}
}

// Queues implements Inspector.
func (p *v1) Queues() (running, waiting []Handle) {
	running = p.handles(nil, &p.running)
	if p.priority {
		return running, p.wait.sorted(p.seqs)
	}
	return running, p.handles(nil, &p.queue)
}
