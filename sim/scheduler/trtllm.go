package scheduler

// trtllm is the in-flight batching of TensorRT-LLM. It works in two stages over the
// requests in order of arrival, those that run and those that wait in one list: the
// capacity scheduler says who may hold KV in the next step, the micro-batch scheduler
// what of it runs. Its capacity_scheduler_policy is in the policy's name.
//
// GUARANTEED_NO_EVICT and STATIC_BATCH set blocks for prompt and output aside at
// admission, so that nobody is ever paused. MAX_UTILIZATION looks at the next step
// only, and pauses the last that was started when blocks run out.
//
// Source: cpp/tensorrt_llm/batch_manager of NVIDIA/TensorRT-LLM,
// capacityScheduler.cpp at 02a10fed and microBatchScheduler.cpp at 0a949d31, as read;
// the engine itself was not executed.
type trtllm struct {
	batch
	ready  []Handle // contexts that may hold KV in this step, in order
	sizes  []int32  // the tokens of each that run
	left   int32    // tokens that the step has room for beside those
	aside  int64    // blocks set aside for what runs, those that it holds included
	closed bool     // the context that came last ends the step
	slots  Handle   // who was refused for want of a slot
	// MAX_UTILIZATION, scratch: the contexts that may hold KV and who is paused.
	contexts, victims []Handle
}

func newTRTLLM(c Config) Inspector { return &trtllm{batch: newBatch(c)} }

// Fits implements Policy.
func (p *trtllm) Fits(s Seq) string {
	tokens := int64(s.Prompt) + int64(s.Output)
	if p.Policy == TRTLLMMaxUtil {
		tokens-- // the last token's KV is never written
	}
	switch {
	case p.AllowLivelock:
		return ""
	case p.pool.Need(tokens) > p.pool.Usable():
		return "needs more KV blocks than the pool has"
	case !p.EnableChunkedPrefill && s.Prompt > p.MaxNumBatchedTokens:
		return "prompt exceeds max_num_batched_tokens with chunked prefill off"
	}
	return ""
}

// Add implements Policy.
func (p *trtllm) Add(h Handle, s Seq) {
	p.enter(h, s)
	p.pushBack(&p.queue, h)
}

// Abort implements Policy.
func (p *trtllm) Abort(h Handle) {
	if p.seqs[h].state != waiting {
		p.aside -= p.whole(h)
	}
	p.abort(h)
}

// whole returns the blocks that h takes for its prompt and its output.
func (p *trtllm) whole(h Handle) int64 {
	s := &p.seqs[h]
	return p.pool.Need(int64(s.prompt) + int64(s.output))
}

// Plan implements Policy.
func (p *trtllm) Plan() *Step {
	p.step.reset()
	p.ready, p.sizes, p.closed, p.slots = p.ready[:0], p.sizes[:0], false, nobody
	switch {
	case p.Policy == TRTLLMMaxUtil:
		p.planNext()
	case p.Policy == TRTLLMStatic && p.group.n > 0:
	default:
		p.left = p.MaxNumBatchedTokens - p.group.n
		p.fit(p.partial, p.queue.head, p.pool.Usable()-p.aside, p.running.n)
	}
	p.share()
	if p.group.n > 0 {
		p.decodeGroup()
	}
	p.explain()
	return &p.step
}

// inOrder tells that nobody waits who came before somebody that runs.
func (p *trtllm) inOrder() bool {
	return p.queue.n == 0 || p.running.n == 0 || p.seqs[p.running.tail].rank < p.seqs[p.queue.head].rank
}

// fit offers the step to contexts, which are in order of arrival and may hold KV, and
// as long as free blocks and slots suffice beside seqs sequences, to those that wait
// from h on.
func (p *trtllm) fit(contexts []Handle, h Handle, free int64, seqs int32) {
	for {
		for len(contexts) > 0 && !p.closed && (h == nobody || p.seqs[contexts[0]].rank < p.seqs[h].rank) {
			p.offer(contexts[0])
			contexts = contexts[1:]
		}
		if h != nobody && seqs == p.MaxNumSeqs {
			p.slots = h
		}
		if h == nobody || p.closed {
			return
		}
		if free -= p.first(h); free < 0 || seqs == p.MaxNumSeqs {
			h = nobody
			continue
		}
		seqs++
		p.offer(h)
		h = p.seqs[h].next
	}
}

// first returns the blocks that the waiting sequence h must find free.
func (p *trtllm) first(h Handle) int64 {
	if p.Policy == TRTLLMMaxUtil {
		return p.pool.Need(int64(p.seqs[h].known()))
	}
	return p.whole(h)
}

// offer gives the context h, which may hold KV, its part of the step, unless what it
// gets depends on those behind it.
func (p *trtllm) offer(h Handle) {
	s := &p.seqs[h]
	rest := s.known() - s.computed
	n := min(rest, p.left)
	switch {
	case p.ContextChunking == EqualProgress && p.EnableChunkedPrefill:
		n = 0
	case n < rest && !p.EnableChunkedPrefill:
		p.closed = true
		return
	case n < rest:
		n -= n % p.BlockSize
	}
	p.left -= n
	p.ready, p.sizes = append(p.ready, h), append(p.sizes, n)
	p.closed = p.left == 0
}

// share starts and goes on with the contexts that got a part of the step.
func (p *trtllm) share() {
	if p.ContextChunking == EqualProgress && p.EnableChunkedPrefill {
		p.equal()
	}
	for i, h := range p.ready {
		n := p.sizes[i]
		if n == 0 {
			continue
		}
		s := &p.seqs[h]
		fresh := s.state == waiting
		if fresh {
			p.start(h)
		}
		p.step.Shares = append(p.step.Shares, Share{
			Seq: h, Start: s.computed, Tokens: n, Admitted: fresh, Last: s.computed+n == s.known(),
		})
	}
}

// equal gives the contexts whose turn it is a block's tokens each, again and again,
// until what is left is enough for none.
func (p *trtllm) equal() {
	rest := func(i int) int32 { s := &p.seqs[p.ready[i]]; return s.known() - s.computed - p.sizes[i] }
	all := int64(0)
	for i := range p.ready {
		all += int64(rest(i))
	}
	whole := all <= int64(p.left)
	for moved := true; moved; {
		moved = false
		for i := range p.ready {
			n := rest(i)
			if !whole {
				n = min(n, p.BlockSize)
			}
			if n == 0 || n > p.left {
				continue
			}
			p.sizes[i] += n
			p.left -= n
			moved = true
		}
	}
}

// start moves h from the queue to its place in the running list, with blocks for all
// its known tokens.
func (p *trtllm) start(h Handle) {
	s := &p.seqs[h]
	p.remove(&p.queue, h)
	after := p.running.tail
	for after != nobody && p.seqs[after].rank > s.rank {
		after = p.seqs[after].prev
	}
	p.insert(&p.running, after, h)
	i := len(p.partial)
	for i > 0 && p.seqs[p.partial[i-1]].rank > s.rank {
		i--
	}
	p.partial = append(p.partial, h)
	copy(p.partial[i+1:], p.partial[i:])
	p.partial[i] = h
	s.state, s.blocks = prefill, int32(p.pool.Need(int64(s.known())))
	p.take(int64(s.blocks))
	p.aside += p.whole(h)
}

// insert puts h into l behind after, or at the front if that is nobody.
func (p *trtllm) insert(l *list, after, h Handle) {
	switch after {
	case nobody:
		p.pushFront(l, h)
	case l.tail:
		p.pushBack(l, h)
	default:
		s, a := &p.seqs[h], &p.seqs[after]
		s.prev, s.next = after, a.next
		p.seqs[a.next].prev = h
		a.next = h
		l.n++
	}
}

// explain says why the head of the queue waits. What the decodes' growth can bring
// about comes last, so that a step that repeats keeps its reason.
func (p *trtllm) explain() {
	h := p.queue.head
	if h == nobody {
		return
	}
	n := p.seqs[h].known()
	if p.EnableChunkedPrefill {
		n = min(n, p.BlockSize)
	}
	switch {
	case len(p.step.Preempted) > 0:
		p.hold(HeldBlocks)
	case p.Policy == TRTLLMStatic && p.group.n > 0:
		p.hold(HeldOrder)
	case p.slots == h:
		p.hold(HeldSlots)
	case n > p.left:
		p.hold(HeldBudget)
	default:
		p.hold(HeldBlocks)
	}
}

// Repeat implements Policy. A step of decodes alone lasts: what the contexts would get
// depends on slots, tokens and blocks, of which the first two do not change and the
// last only get fewer.
func (p *trtllm) Repeat() int64 {
	s := &p.step
	if s.Decodes == 0 || len(s.Shares)+len(s.Preempted)+len(s.Dropped) > 0 || p.Policy == TRTLLMMaxUtil && !p.inOrder() {
		return 1
	}
	return p.repeat(0)
}

// Advance implements Policy.
func (p *trtllm) Advance(k int64) []Handle {
	done := p.advance(k)
	for _, h := range done {
		p.aside -= p.whole(h)
	}
	return done
}

// Idle implements Policy.
func (p *trtllm) Idle() {}

// Visit implements Inspector.
func (p *trtllm) Visit(f func(h Handle, tokens int32)) {
	for i := range p.step.Shares {
		f(p.step.Shares[i].Seq, p.step.Shares[i].Tokens)
	}
	if p.step.Decodes == 0 {
		return
	}
	for h := p.running.head; h != nobody; h = p.seqs[h].next {
		if p.seqs[h].state == decoding {
			f(h, 1)
		}
	}
}

// Queues implements Inspector.
func (p *trtllm) Queues() (running, waiting []Handle) {
	return p.handles(nil, &p.running), p.handles(nil, &p.queue)
}
