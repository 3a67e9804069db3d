package scheduler

// planNext is the first stage of MAX_UTILIZATION: everybody who runs needs blocks for
// the next step.
func (p *trtllm) planNext() {
	if p.inOrder() && p.group.need() <= p.pool.Free() {
		p.left = p.MaxNumBatchedTokens - p.group.n
		p.fit(p.partial, p.queue.head, p.pool.Free()-p.group.need(), p.running.n)
		return
	}
	free, seqs, open := p.walk()
	for _, h := range p.victims {
		p.pause(h)
	}
	p.left = p.MaxNumBatchedTokens - p.group.n
	behind := nobody
	if open {
		behind = p.queue.head
		for behind != nobody && p.seqs[behind].rank < p.seqs[p.running.tail].rank {
			behind = p.seqs[behind].next
		}
	}
	p.fit(p.contexts, behind, free, seqs)
}

// walk goes through the active list up to the last sequence that runs. It fills
// contexts and victims, and returns the free blocks and the sequences taken by then;
// open tells that those behind are to be tried.
func (p *trtllm) walk() (free int64, seqs int32, open bool) {
	p.order, p.contexts, p.victims = p.merge(p.order[:0]), p.contexts[:0], p.victims[:0]
	free = p.pool.Free()
	end := len(p.order)
	for i := 0; i < end; {
		h := p.order[i]
		if need := p.next(h); need <= free && seqs < p.MaxNumSeqs {
			free -= need
			seqs++
			if p.seqs[h].state != decoding {
				p.contexts = append(p.contexts, h)
			}
			i++
			continue
		}
		for end--; end >= i && p.seqs[p.order[end]].state == waiting; end-- {
		}
		if end < i {
			break
		}
		free += p.held(p.order[end])
		p.victims = append(p.victims, p.order[end])
	}
	return free, seqs, end == len(p.order)
}

// merge appends the active list to dst, up to the last sequence that runs.
func (p *trtllm) merge(dst []Handle) []Handle {
	w := p.queue.head
	for h := p.running.head; h != nobody; h = p.seqs[h].next {
		for ; w != nobody && p.seqs[w].rank < p.seqs[h].rank; w = p.seqs[w].next {
			dst = append(dst, w)
		}
		dst = append(dst, h)
	}
	return dst
}

// length returns the number of known tokens of the decoding sequence s.
func (p *trtllm) length(s *seq) int64 { return int64(s.known()) + p.group.count - s.join }

// held returns the blocks that h, which runs, holds.
func (p *trtllm) held(h Handle) int64 {
	if s := &p.seqs[h]; s.state == decoding {
		return p.pool.Need(p.length(s) - 1)
	}
	return int64(p.seqs[h].blocks)
}

// next returns the blocks that the next step of h takes. A prompt takes all its
// blocks with its first chunk.
func (p *trtllm) next(h Handle) int64 {
	switch s := &p.seqs[h]; s.state {
	case waiting:
		return p.pool.Need(int64(s.known()))
	case decoding:
		return p.pool.Need(p.length(s)) - p.held(h)
	}
	return 0
}

// pause puts h, which runs, back to its place in the queue. Its prompt is then what
// it was and what has been generated.
func (p *trtllm) pause(h Handle) {
	p.aside -= p.whole(h)
	p.evict(h)
	s := &p.seqs[h]
	if !p.EnableChunkedPrefill && s.known() > p.MaxNumBatchedTokens && !p.AllowLivelock {
		s.state = absent
		p.forget(h)
		p.step.Dropped = append(p.step.Dropped, Drop{h, "resumed length exceeds max_num_batched_tokens with chunked prefill off"})
		return
	}
	after := nobody
	for w := p.queue.head; w != nobody && p.seqs[w].rank < s.rank; w = p.seqs[w].next {
		after = w
	}
	p.insert(&p.queue, after, h)
}
