package scheduler

import "slices"

// v0 is vLLM's V0 scheduler. Without chunked prefill, while any prompt can start,
// a step holds whole prompts only and every decode waits.
//
// Source: vllm/core/scheduler.py and vllm/core/block_manager.py at v0.8.5.
type v0 struct {
	batch
	priority bool
	chunked  bool
	reserve  int64    // blocks that an admission leaves free
	victims  []Handle // chunked: preempted in this step, to be queued after it
	served   []Handle // chunked: scratch for the new running list
	swapping
}

func newV0(c Config) Inspector {
	p := &v0{batch: newBatch(c), chunked: c.EnableChunkedPrefill, reserve: c.watermark()}
	p.swapping = swapping{swapped: emptyList(), cpu: c.NumCPUBlocks}
	p.priority = c.SchedulingPolicy == Priority
	return p
}

// Fits implements Policy. The engine itself drops what can never fit, when it
// comes to the head of the queue.
func (p *v0) Fits(Seq) string { return "" }

// Add implements Policy.
func (p *v0) Add(h Handle, s Seq) {
	p.enter(h, s)
	p.pushBack(&p.queue, h)
}

// Abort implements Policy.
func (p *v0) Abort(h Handle) {
	if p.seqs[h].state == swappedOut {
		p.leaveCPU(h)
		p.seqs[h].state = absent
		p.forget(h)
		return
	}
	p.abort(h)
}

// Plan implements Policy.
func (p *v0) Plan() *Step {
	p.step.reset()
	p.entered = p.entered[:0]
	if p.chunked {
		p.planChunked()
	} else {
		p.planWhole()
	}
	if p.queue.n+p.swapped.n > 0 {
		p.hold(HeldOrder)
	}
	return &p.step
}

// planWhole is a step without chunked prefill: prompts, or else decodes.
func (p *v0) planWhole() {
	if p.swapped.n == 0 {
		p.prefillPass()
	}
	if len(p.step.Shares) > 0 {
		return
	}
	if p.priority && p.queue.n > 0 {
		p.forcePreemption()
	}
	p.decodePass()
	if p.canSwapIn() {
		p.swapIn(p.MaxNumBatchedTokens-p.step.Decodes, p.running.n)
	}
}

// prefillPass admits whole prompts from the queue.
func (p *v0) prefillPass() {
	budget := p.MaxNumBatchedTokens
	limit := min(p.MaxModelLen, p.MaxNumBatchedTokens)
	for h := p.queue.head; h != nobody; h = p.queue.head {
		n := p.seqs[h].known()
		if n > limit {
			p.ignore(h, "prompt exceeds max_model_len or max_num_batched_tokens")
			continue
		}
		fit := p.fit(n)
		if fit == fitNever {
			p.ignore(h, "prompt needs more KV blocks than the pool has")
			continue
		}
		if p.held(fit, p.running.n, n > budget) {
			return
		}
		p.start(h, n)
		budget -= n
	}
}

// held tells, and records, that a sequence cannot be admitted beside seqs
// others. The reasons that last come before the one that the others' growth can
// bring about, so that a step that repeats keeps its own.
func (p *v0) held(fit fit, seqs int32, over bool) bool {
	switch {
	case seqs >= p.MaxNumSeqs:
		p.hold(HeldSlots)
	case over:
		p.hold(HeldBudget)
	case fit == fitLater:
		p.hold(HeldBlocks)
	default:
		return false
	}
	return true
}

// fit says whether blocks for n tokens can be had.
type fit uint8

const (
	fitNow fit = iota
	fitLater
	fitNever
)

func (p *v0) fit(n int32) fit {
	need := p.pool.Need(int64(n))
	switch {
	case p.pool.Usable()-need < p.reserve:
		return fitNever
	case p.pool.Free()-need < p.reserve:
		return fitLater
	}
	return fitNow
}

// ignore drops the waiting sequence h for good.
func (p *v0) ignore(h Handle, reason string) {
	p.remove(&p.queue, h)
	p.seqs[h].state = absent
	p.step.Dropped = append(p.step.Dropped, Drop{h, reason})
}

// start moves h from the queue to the end of the running list, with blocks for
// all its known tokens, and grants it the first n of them.
func (p *v0) start(h Handle, n int32) {
	s := &p.seqs[h]
	p.remove(&p.queue, h)
	p.pushBack(&p.running, h)
	s.state = prefill
	p.partial = append(p.partial, h)
	s.blocks = int32(p.pool.Need(int64(s.known())))
	p.pool.Take(int64(s.blocks))
	p.step.Shares = append(p.step.Shares, Share{Seq: h, Tokens: n, Admitted: true, Last: n == s.known()})
}

// forcePreemption preempts running sequences that rank behind the head of the
// queue while that cannot start, then orders both lists by rank.
func (p *v0) forcePreemption() {
	p.sort(&p.running)
	head := p.queue.head
	n := p.seqs[head].known()
	var preempted []Handle
	for p.running.tail != nobody && urgent(p.seqs, head, p.running.tail) {
		if p.fit(n) == fitNow && n <= p.MaxNumBatchedTokens && p.running.n < p.MaxNumSeqs {
			break
		}
		h := p.running.tail
		p.evict(h)
		preempted = append(preempted, h)
	}
	for _, h := range preempted {
		p.pushFront(&p.queue, h)
	}
	p.sort(&p.queue)
}

// sort orders l by rank.
func (p *v0) sort(l *list) {
	p.order = p.handles(p.order[:0], l)
	slices.SortFunc(p.order, func(a, b Handle) int {
		if urgent(p.seqs, a, b) {
			return -1
		}
		return 1
	})
	p.relink(l, p.order)
}

// decodePass gives every running sequence one token. Before each is served a
// block must be free, needed or not.
func (p *v0) decodePass() {
	if p.group.n == 0 && p.stalls == 0 {
		return
	}
	if p.stalls == 0 && p.pool.Free()-p.group.need() >= 1 {
		p.decodeGroup()
		return
	}
	p.dissolve()
	p.order = p.handles(p.order[:0], &p.running)
	for i := 0; i < len(p.order); i++ {
		h := p.order[i]
		if !p.freeBlocks(i, 1) {
			break
		}
		p.serveDecode(h)
	}
	p.regroup()
}

// reasonAppend is why an unfinished prompt that runs alone is dropped when it
// would preempt itself: it would do so again and again.
const reasonAppend = "prompt fills the KV blocks and leaves none for the append test"

// freeBlocks preempts the last sequence of order until touched blocks are
// free. It returns false if that was the i-th itself, which is to be served.
func (p *v0) freeBlocks(i int, touched int64) bool {
	for p.pool.Free() < touched {
		last := len(p.order) - 1
		h := p.order[last]
		p.order = p.order[:last]
		p.preempt(h)
		if last == i {
			return false
		}
	}
	return true
}

// preempt takes the running sequence h out of the step that is planned.
func (p *v0) preempt(h Handle) {
	if p.PreemptionMode == Swap {
		p.swapOut(h)
		return
	}
	hopeless := p.seqs[h].state == prefill && p.running.n == 1 && !p.AllowLivelock
	p.evict(h)
	switch {
	case hopeless:
		p.step.Dropped = append(p.step.Dropped, Drop{h, reasonAppend})
	case p.chunked:
		p.victims = append(p.victims, h)
		p.step.Held = HeldBlocks
	default:
		p.pushFront(&p.queue, h)
		p.step.Held = HeldBlocks
	}
}

// Repeat implements Policy.
func (p *v0) Repeat() int64 {
	s := &p.step
	if s.Decodes == 0 || len(s.Shares) > 0 || len(s.Preempted)+len(s.Dropped) > 0 || p.stalls > 0 || len(p.partial) > 0 {
		return 1
	}
	if p.priority && p.queue.n > 0 || p.swapped.n > 0 || len(p.entered) > 0 {
		return 1
	}
	return p.repeat(1)
}

// Advance implements Policy.
func (p *v0) Advance(k int64) []Handle { return p.advance(k) }

// Idle implements Policy.
func (p *v0) Idle() {}

// Visit implements Inspector.
func (p *v0) Visit(f func(h Handle, tokens int32)) {
	admitted := func(want bool) {
		for i := range p.step.Shares {
			if s := &p.step.Shares[i]; s.Admitted == want {
				f(s.Seq, s.Tokens)
			}
		}
	}
	admitted(true)
	admitted(false)
	if p.step.Decodes == 0 {
		return
	}
	for h := p.running.head; h != nobody; h = p.seqs[h].next {
		if p.seqs[h].state == decoding && !slices.Contains(p.entered, h) {
			f(h, 1)
		}
	}
	for _, h := range p.entered {
		if p.seqs[h].state == decoding {
			f(h, 1)
		}
	}
}

// Queues implements Inspector.
func (p *v0) Queues() (running, waiting []Handle) {
	return p.handles(nil, &p.running), p.handles(nil, &p.queue)
}
