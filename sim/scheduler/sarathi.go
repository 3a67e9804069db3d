package scheduler

import (
	"cmp"
	"slices"
)

// sarathi is the family of schedulers of the sarathi-serve repository:
// Sarathi-Serve's own, and the baselines that its paper compares it with. All
// take whole prompts' blocks at admission, sort what runs by arrival and test
// for a free block before each decode, needed or not.
//
// Source: sarathi/core/scheduler and sarathi/core/block_space_manager of
// microsoft/sarathi-serve at 96f9911790.
type sarathi struct {
	batch
	reserve  int64    // blocks that an admission leaves free
	chunks   []int32  // the most tokens of a step, by the stage of the prompt
	stage    int32    // tokens of a stage
	victims  []victim // preempted in this step
	unsorted bool     // somebody came back after a preemption
	decodes  bool     // simple-chunking: the next step is for decodes
	turned   bool     // simple-chunking: the planned step was for decodes
}

// victim is a sequence that the step being planned preempted, and how much of
// its prompt was left: until the step is planned the scheduler goes by that.
type victim struct {
	seq  Handle
	left int32
}

func newSarathi(c Config) Inspector {
	p := &sarathi{batch: newBatch(c), reserve: c.watermark()}
	p.chunks, p.stage = c.ChunkSchedule.sizes(), c.ChunkSchedule.stageTokens()
	if p.chunks == nil {
		p.chunks, p.stage = []int32{c.MaxNumBatchedTokens}, c.MaxNumBatchedTokens
	}
	return p
}

// Fits implements Policy. The scheduler itself drops what can never fit, when
// it comes to the head of the queue.
func (p *sarathi) Fits(Seq) string { return "" }

// Add implements Policy.
func (p *sarathi) Add(h Handle, s Seq) {
	p.enter(h, s)
	p.pushBack(&p.queue, h)
}

// Abort implements Policy.
func (p *sarathi) Abort(h Handle) { p.abort(h) }

// Plan implements Policy.
func (p *sarathi) Plan() *Step {
	p.step.reset()
	p.victims, p.turned = p.victims[:0], false
	p.sort()
	switch p.Policy {
	case Sarathi:
		p.admitChunks(p.chunkPass(p.decodePass()))
	case Orca:
		p.decodePass()
		p.admitWhole()
	case Static:
		if p.running.n == 0 {
			p.admitWhole()
		}
		p.decodePass()
	case PrefillFirst:
		p.admitWhole()
		if len(p.step.Shares)+len(p.step.Dropped) == 0 {
			p.decodePass()
		}
	case SimpleChunking:
		p.turn()
	}
	switch {
	case p.queue.n == 0:
		p.step.Held = NotHeld
	case len(p.victims) > 0:
		p.step.Held = HeldBlocks
	default:
		p.hold(HeldOrder)
	}
	return &p.step
}

// turn plans a step of simple-chunking: chunks of prompts and decodes take turns.
func (p *sarathi) turn() {
	p.turned = p.decodes
	if !p.decodes {
		if p.chunkPass(0) == 0 {
			p.admitChunks(0)
		}
		if len(p.step.Shares) > 0 {
			p.decodes = true
			return
		}
	}
	p.decodes = false
	p.decodePass()
	p.step.Again = p.turned && p.step.Empty()
}

// sort orders what runs by arrival.
func (p *sarathi) sort() {
	if !p.unsorted {
		return
	}
	p.unsorted = false
	byRank := func(a, b Handle) int { return cmp.Compare(p.seqs[a].rank, p.seqs[b].rank) }
	p.order = p.handles(p.order[:0], &p.running)
	slices.SortFunc(p.order, byRank)
	slices.SortFunc(p.partial, byRank)
	p.relink(&p.running, p.order)
}

// decodePass gives every decoding sequence one token and returns how many that
// are.
func (p *sarathi) decodePass() int32 {
	if p.group.n == 0 {
		return 0
	}
	if p.ReservesModelLen() || p.pool.Free()-p.group.need() >= 1 {
		p.decodeGroup()
		return p.group.n
	}
	p.dissolve()
	p.order = p.handles(p.order[:0], &p.running)
	for i := 0; i < len(p.order); i++ {
		h := p.order[i]
		if p.seqs[h].state == prefill {
			continue
		}
		if !p.makeRoom(i) {
			break
		}
		p.serveDecode(h)
	}
	p.regroup()
	return p.group.n
}

// makeRoom preempts the last sequence of order until a block is free. It
// returns false if that was the i-th itself, which is to be served.
func (p *sarathi) makeRoom(i int) bool {
	for p.pool.Free() < 1 {
		last := len(p.order) - 1
		h := p.order[last]
		p.order = p.order[:last]
		s := &p.seqs[h]
		v := victim{seq: h}
		if s.state == prefill {
			v.left = s.known() - s.computed
		}
		p.victims = append(p.victims, v)
		p.evict(h)
		if p.Regenerate {
			s.prompt, s.emitted = s.known(), 0
		}
		p.pushFront(&p.queue, h)
		if last == i {
			return false
		}
	}
	return true
}

// chunkPass grants unfinished prompts what is left of a step that holds tokens
// tokens, and returns how many it holds then.
func (p *sarathi) chunkPass(tokens int32) int32 {
	for _, h := range p.partial {
		s := &p.seqs[h]
		n := p.chunk(s.known()-s.computed, s.computed, tokens)
		if n < 1 {
			continue
		}
		p.step.Shares = append(p.step.Shares, Share{
			Seq: h, Start: s.computed, Tokens: n, Last: s.computed+n == s.known(),
		})
		tokens += n
	}
	return tokens
}

// chunk returns how many of the left tokens of a prompt of which computed are
// done fit into a step of tokens, 0 or less if none do.
func (p *sarathi) chunk(left, computed, tokens int32) int32 {
	stage := min(computed/p.stage, int32(len(p.chunks)-1))
	return min(left, p.chunks[stage]-tokens)
}

// admitChunks starts prompts from the queue in a step of tokens.
func (p *sarathi) admitChunks(tokens int32) {
	for h := p.queue.head; h != nobody; h = p.queue.head {
		s := &p.seqs[h]
		left, computed := s.known(), int32(0)
		for _, v := range p.victims {
			if v.seq == h {
				left, computed = v.left, s.known()-v.left
			}
		}
		if p.hopeless(h) {
			continue
		}
		n := p.chunk(left, computed, tokens)
		if p.held(h, n < 1) {
			return
		}
		p.start(h, n)
		tokens += n
	}
}

// admitWhole starts whole prompts from the queue.
func (p *sarathi) admitWhole() {
	budget := p.promptBudget()
	for h := p.queue.head; h != nobody; h = p.queue.head {
		if p.hopeless(h) {
			continue
		}
		n := p.seqs[h].known()
		if p.held(h, int64(n) > budget) {
			return
		}
		p.start(h, n)
		budget -= int64(n)
	}
}

// promptBudget returns the most tokens of whole prompts in a step.
func (p *sarathi) promptBudget() int64 {
	if p.Policy == PrefillFirst {
		return int64(min(p.MaxNumBatchedTokens, p.MaxModelLen))
	}
	return int64(p.MaxNumSeqs) * int64(p.MaxModelLen)
}

// blocksOf returns the number of blocks that the waiting sequence h takes.
func (p *sarathi) blocksOf(h Handle) int64 {
	if p.ReservesModelLen() {
		return p.pool.Need(int64(p.MaxModelLen))
	}
	return p.pool.Need(int64(p.seqs[h].known()))
}

// hopeless tells that h, the head of the queue, can never start, and drops it.
func (p *sarathi) hopeless(h Handle) bool {
	reason := ""
	switch n := p.seqs[h].known(); {
	case n > p.MaxModelLen:
		reason = "prompt exceeds max_model_len"
	case p.AllowLivelock:
	case !p.EnableChunkedPrefill && int64(n) > p.promptBudget():
		reason = "prompt exceeds max_num_batched_tokens"
	case p.pool.Usable()-p.blocksOf(h) < p.reserve:
		reason = "prompt needs more KV blocks than the pool has"
	}
	if reason == "" {
		return false
	}
	p.remove(&p.queue, h)
	p.seqs[h].state = absent
	p.step.Dropped = append(p.step.Dropped, Drop{h, reason})
	return true
}

// held tells, and records, that h, the head of the queue, cannot start. What the
// decodes' growth can bring about comes last, so that a step that repeats keeps
// its reason.
func (p *sarathi) held(h Handle, over bool) bool {
	switch {
	case p.running.n >= p.MaxNumSeqs:
		p.hold(HeldSlots)
	case over:
		p.hold(HeldBudget)
	case p.pool.Free()-p.blocksOf(h) < p.reserve:
		p.hold(HeldBlocks)
	default:
		return false
	}
	return true
}

// start moves h from the queue to the end of the running list, with all its
// blocks, and grants it n tokens.
func (p *sarathi) start(h Handle, n int32) {
	s := &p.seqs[h]
	blocks := p.blocksOf(h)
	p.remove(&p.queue, h)
	if tail := p.running.tail; tail != nobody && p.seqs[tail].rank > s.rank {
		p.unsorted = true
	}
	p.pushBack(&p.running, h)
	s.state, s.blocks = prefill, int32(blocks)
	p.partial = append(p.partial, h)
	p.pool.Take(blocks)
	p.step.Shares = append(p.step.Shares, Share{Seq: h, Tokens: n, Admitted: true, Last: n == s.known()})
}

// Repeat implements Policy.
func (p *sarathi) Repeat() int64 {
	s := &p.step
	switch {
	case s.Decodes == 0 || len(s.Shares)+len(s.Preempted)+len(s.Dropped) > 0:
		return 1
	case p.turned && (len(p.partial) > 0 || p.queue.n > 0):
		return 1 // the next step is for prompts
	case p.ReservesModelLen():
		return p.repeat(0)
	}
	return p.repeat(1)
}

// Advance implements Policy.
func (p *sarathi) Advance(k int64) []Handle { return p.advance(k) }

// Idle implements Policy.
func (p *sarathi) Idle() {}

// Visit implements Inspector.
func (p *sarathi) Visit(f func(h Handle, tokens int32)) {
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
func (p *sarathi) Queues() (running, waiting []Handle) {
	return p.handles(nil, &p.running), p.handles(nil, &p.queue)
}
