package scheduler

import (
	"cmp"
	"math"
	"slices"

	"servesim/sim/kv"
)

// sglang is SGLang's scheduler: prompts first, in steps of their own or, with
// mixed chunks, beside the decodes; admission by an estimate of what the running
// requests will still need; retraction when that was wrong. KV memory is counted
// in tokens.
//
// Of the running list of batch, what the engine calls the running batch comes
// first, then the members of the last prefill batch until the next plan merges
// them into it. A request that is cut into chunks stands behind both between its
// chunks.
//
// Source: python/sglang/srt/managers/scheduler.py, schedule_policy.py and
// schedule_batch.py of sgl-project/sglang at v0.5.6.post1 and d2b3c7fb14.
type sglang struct {
	batch
	tree    *kv.Radix // nil without a radix cache
	scratch *kv.Radix // lpm: of the prompts that wait
	more    []sgSeq   // by handle
	own     uint64    // names given out
	entries int64     // into the running list, so far

	full    Held   // batch_is_full: why nothing is admitted until the running batch shrinks
	chunked Handle // the request that is cut into chunks
	dead    int32  // members of the running batch that have ended and not been dropped

	merged   bool  // the last prefill batch is part of the running batch
	from     int64 // the least entry of a member of the last prefill batch
	shrunk   bool  // some member of it has ended
	unseenAt int64 // with overlap: the least entry whose latest token the scheduler has yet to see

	ratio, ratioMin, ratioMax, decay float64 // new_token_ratio

	pending []Handle // results to process, in the order of the batch
	flying  bool     // with overlap: the results of the last step are yet to be processed
	out     [2]Step  // with overlap: the last two steps, for the caller
	turn    int
	budget  sgBudget
	held    []Handle // scratch: the decodes of a batch
}

// sgSeq is what sglang knows of a sequence beside seq.
type sgSeq struct {
	name    kv.Name
	node    kv.NodeID // where what it has in the tree ends, which it locks
	kept    int32     // its tokens that are in the tree
	covered int32     // its tokens that its last batch of prompts knew
	entry   int64     // into the running list
}

// The constants of new_token_ratio and of retraction, which SGLang takes from its
// environment (SGLANG_INIT_NEW_TOKEN_RATIO and so on).
const (
	sgInitRatio    = 0.7
	sgMinFactor    = 0.14
	sgDecaySteps   = 600
	sgRetractSteps = 20
	sgClip         = 4096 // most output tokens that an estimate counts of a request
)

func newSGLang(c Config) Inspector {
	p := &sglang{batch: newBatch(c), chunked: nobody, merged: true, unseenAt: math.MaxInt64}
	if c.EnablePrefixCaching {
		p.tree, p.scratch = kv.NewRadix(), kv.NewRadix()
	}
	p.ratioMax = min(float64(sgInitRatio*c.ScheduleConservativeness), 1)
	p.ratioMin = min(float64(p.ratioMax*sgMinFactor), 1)
	p.decay = (p.ratioMax - p.ratioMin) / sgDecaySteps
	p.ratio = p.ratioMax
	return p
}

// Fits implements Policy: the engine refuses a prompt that the pool leaves no room
// for, and cuts the output to it.
func (p *sglang) Fits(s Seq) string {
	if int64(s.Prompt) >= p.pool.Usable()-1-sgSpareInput {
		return "prompt leaves no room for output within the KV cache"
	}
	return ""
}

// Add implements Policy.
func (p *sglang) Add(h Handle, s Seq) {
	p.enter(h, s)
	p.pushBack(&p.queue, h)
	for int(h) >= len(p.more) {
		p.more = append(p.more, sgSeq{})
	}
	p.own++
	p.more[h] = sgSeq{name: kv.Name{Chain: s.Prefix, Own: p.own}}
}

// Abort implements Policy.
func (p *sglang) Abort(h Handle) {
	s := &p.seqs[h]
	if s.state == waiting {
		p.abort(h)
		return
	}
	if i := slices.Index(p.pending, h); i >= 0 {
		p.pending = slices.Delete(p.pending, i, i+1)
	}
	switch {
	case h == p.chunked:
		p.chunked = nobody
		p.shrunk = true
	case p.inLast(h):
		p.shrunk = true
	default:
		p.dead++
	}
	p.free(h)
}

// inLast tells that h is a member of the last prefill batch, which is not merged.
func (p *sglang) inLast(h Handle) bool { return !p.merged && p.more[h].entry >= p.from }

// push puts h at the end of the running list.
func (p *sglang) push(h Handle) {
	p.pushBack(&p.running, h)
	p.entries++
	p.more[h].entry = p.entries
}

// Plan implements Policy.
func (p *sglang) Plan() *Step {
	p.step.reset()
	p.merge()
	if !p.prefillBatch() {
		p.decodeBatch()
	}
	p.step.Held = p.why()
	p.step.Again = p.step.Empty() && p.queue.n > 0
	if !p.AsyncScheduling {
		return &p.step
	}
	p.turn ^= 1
	out := &p.out[p.turn]
	shares, lost, dropped := append(out.Shares[:0], p.step.Shares...), append(out.Preempted[:0], p.step.Preempted...), append(out.Dropped[:0], p.step.Dropped...)
	*out = p.step
	out.Shares, out.Preempted, out.Dropped = shares, lost, dropped
	return out
}

// why returns why the head of the queue is not in the step.
func (p *sglang) why() Held {
	switch {
	case p.queue.n == 0:
		return NotHeld
	case len(p.step.Preempted) > 0:
		return HeldBlocks
	case p.step.Empty(), p.step.Held == NotHeld, p.step.Held == HeldSlots && p.running.n < p.MaxNumSeqs:
		return HeldOrder
	}
	return p.step.Held
}

// latch sets batch_is_full.
func (p *sglang) latch(why Held) {
	p.full = why
	p.hold(why)
}

// merge makes the last prefill batch part of the running batch, without what has
// ended and without the request that goes on being cut into chunks.
func (p *sglang) merge() {
	if p.chunked != nobody {
		p.keep(p.chunked, p.seqs[p.chunked].computed)
	}
	if p.merged {
		return
	}
	p.merged = true
	if p.shrunk || p.chunked != nobody {
		p.full = NotHeld
	}
	members, before := int32(0), p.dead
	for h := p.running.head; h != nobody; h = p.seqs[h].next {
		switch {
		case h == p.chunked:
		case p.more[h].entry >= p.from:
			members++
		default:
			before++
		}
	}
	if members > 0 && before == 0 {
		p.full = NotHeld // the prefill batch takes the place of the running batch
	}
}

// members returns the size of the running batch, without what is in no batch but
// with what has ended and is still there.
func (p *sglang) members() int32 {
	n := p.running.n + p.dead
	if p.chunked != nobody {
		n--
	}
	return n
}

// emittedBy returns how many output tokens of s the scheduler has seen.
func (p *sglang) emittedBy(h Handle) int32 {
	s := &p.seqs[h]
	n := s.emitted
	if s.state == decoding {
		n += int32(p.group.count - s.join)
	}
	if p.more[h].entry >= p.unseenAt {
		n--
	}
	return n
}

// decodeBatch plans one token for each member of the running batch, retracting
// some if there is no room.
func (p *sglang) decodeBatch() {
	if p.full != NotHeld {
		p.hold(p.full)
	}
	n := p.running.n
	if shrunk := p.dead > 0; shrunk {
		p.full, p.dead = NotHeld, 0
	}
	if n == 0 {
		return
	}
	if p.room(int64(n)) {
		p.cool(1)
	} else {
		p.retract()
		p.full = NotHeld
	}
	p.serve()
}

// cool lets new_token_ratio fall by k steps.
func (p *sglang) cool(k int64) {
	for ; k > 0 && p.ratio != p.ratioMin; k-- {
		p.ratio = max(p.ratio-p.decay, p.ratioMin)
	}
}

// serve plans one token for everyone in the running list, and takes the memory.
// With overlap that includes those who have ended and not been seen to.
func (p *sglang) serve() {
	p.step.Decodes, p.step.DecodeKV = p.group.n, p.group.kv
	for _, h := range p.pending {
		if s := &p.seqs[h]; s.state == ended {
			s.blocks++
			p.step.Decodes++
			p.step.DecodeKV += int64(s.known())
		}
	}
	p.claim(int64(p.step.Decodes))
	p.unseenFrom(0)
}

// unseenFrom records that the tokens of those from entry on are not seen by the
// next plan.
func (p *sglang) unseenFrom(entry int64) {
	p.unseenAt = math.MaxInt64
	if p.AsyncScheduling {
		p.unseenAt = entry
	}
}

// Repeat implements Policy.
func (p *sglang) Repeat() int64 {
	s := &p.step
	if s.Decodes == 0 || len(s.Shares)+len(s.Preempted)+len(s.Dropped)+len(p.pending) > 0 || p.queue.n > 0 && p.full == NotHeld {
		return 1
	}
	k, n := p.group.untilDue(), int64(s.Decodes)
	room := 1 + p.spare()/n
	if k < room {
		return k
	}
	if p.AsyncScheduling && room > 1 {
		return room - 1 // what may lose its token to a retraction is alone
	}
	return room
}

// Advance implements Policy.
func (p *sglang) Advance(k int64) []Handle {
	p.done = p.done[:0]
	if p.step.Decodes > 0 && k > 1 {
		p.grow(k-1, int64(p.step.Decodes))
		p.cool(k - 1)
	}
	p.peak = p.pool.Usable() - p.spare()
	if p.AsyncScheduling {
		p.process()
	}
	if p.step.Decodes > 0 {
		p.group.advance(k)
		for p.group.due() {
			h := p.group.ends[0].seq
			p.group.leave(p.seqs, h)
			p.end(h)
		}
	}
	for i := range p.step.Shares {
		p.finishShare(&p.step.Shares[i])
	}
	if len(p.pending) > 1 {
		slices.SortFunc(p.pending, func(a, b Handle) int { return cmp.Compare(p.more[a].entry, p.more[b].entry) })
	}
	if p.flying = p.AsyncScheduling; !p.flying {
		p.process()
	}
	return p.done
}

// end notes that h, which is in no group, has all its tokens.
func (p *sglang) end(h Handle) {
	p.seqs[h].state = ended
	p.done, p.pending = append(p.done, h), append(p.pending, h)
}

// finishShare applies a share of the step that has run.
func (p *sglang) finishShare(share *Share) {
	h := share.Seq
	s := &p.seqs[h]
	s.computed += share.Tokens
	if !share.Last {
		return
	}
	s.emitted++
	p.unpartial(h)
	if s.emitted >= s.output {
		p.end(h)
		return
	}
	s.state = decoding
	p.group.add(p.seqs, h)
	p.group.lift(p.seqs, s.heap)
	p.pending = append(p.pending, h)
}

// process lets the scheduler see what pending steps made: what has ended leaves,
// and a prompt that is done becomes known to the tree.
func (p *sglang) process() {
	for _, h := range p.pending {
		switch {
		case p.seqs[h].state != ended:
			p.keep(h, p.more[h].covered)
		case p.inLast(h):
			p.shrunk = true
			p.free(h)
		default:
			p.dead++
			p.free(h)
		}
	}
	p.pending = p.pending[:0]
}

// Idle implements Policy: an iteration without a batch resets new_token_ratio, but
// with overlap only if the one before had none either.
func (p *sglang) Idle() {
	p.unseenFrom(math.MaxInt64)
	if p.flying {
		p.flying = false
		p.process()
		return
	}
	p.ratio = p.ratioMax
}

// Counts implements Policy. What the radix cache holds and nobody needs is free.
func (p *sglang) Counts() (running, waiting int, free int64) {
	return int(p.running.n), int(p.queue.n), p.spare()
}
