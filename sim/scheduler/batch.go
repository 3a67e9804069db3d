package scheduler

import (
	"cmp"
	"slices"

	"servesim/sim/kv"
)

// nobody ends a list of sequences.
const nobody = Handle(-1)

// state says where a sequence is.
type state uint8

const (
	absent     state = iota
	waiting          // in the queue
	prefill          // running, with prompt tokens still to compute
	decoding         // running, a member of the group
	stalled          // running, decoding, but not in the group: not served in the last step
	ended            // running, has all its tokens, but the scheduler has yet to see it
	swappedOut       // of vLLM V0: neither running nor in the queue, its blocks in the CPU's memory
)

// seq is a policy's view of one sequence. Of a member of the group, emitted,
// computed and blocks are those it joined with.
type seq struct {
	rank       int64
	entry      int64 // orders the running list of V1
	join       int64 // group steps done when it joined
	prompt     int32
	output     int32
	emitted    int32 // tokens generated
	computed   int32 // tokens whose KV is held
	blocks     int32 // KV blocks held
	priority   int32
	prev, next Handle
	heap       int32 // place in group.ends
	state      state
	served     bool // scratch of a walk: it is part of the step being planned
	resumed    bool // it was in the group before this walk
}

// known is the number of tokens whose content is known: the prompt and what
// was generated.
func (s *seq) known() int32 { return s.prompt + s.emitted }

// list is a list of sequences, linked through seq.prev and seq.next.
type list struct {
	head, tail Handle
	n          int32
}

// batch is the state that all policies share: the sequences, the queue, the
// running list in the engine's order, the group of decoding sequences and the
// block pool.
type batch struct {
	Config
	seqs    []seq
	queue   list
	running list
	partial []Handle // running sequences in state prefill, in running order
	stalls  int32    // number of running sequences in state stalled
	group   group
	pool    kv.Pool
	cache   *kv.Prefix // nil without prefix caching; it takes and gives what pool counts
	tables  []kv.Table // of cache, by handle
	step    Step
	done    []Handle
	unseen  []Handle // with asynchronous scheduling: what ended in the last step
	peak    int64    // blocks in use in the last step
	order   []Handle // scratch: the running list as a slice
}

func newBatch(c Config) batch {
	b := batch{Config: c, pool: kv.NewPool(c.UsableBlocks(), int64(c.BlockSize)), cache: newCache(&c)}
	b.queue, b.running = emptyList(), emptyList()
	b.group.init(c.BlockSize, c.ReservesModelLen())
	return b
}

func emptyList() list { return list{head: nobody, tail: nobody} }

// enter makes h the handle of a waiting sequence.
func (b *batch) enter(h Handle, s Seq) *seq {
	for int(h) >= len(b.seqs) {
		b.seqs = append(b.seqs, seq{})
	}
	q := &b.seqs[h]
	*q = seq{rank: s.Rank, priority: s.Priority, prompt: s.Prompt, output: s.Output,
		prev: nobody, next: nobody, state: waiting}
	b.know(h, s.Prefix)
	return q
}

func (b *batch) pushBack(l *list, h Handle) {
	s := &b.seqs[h]
	s.prev, s.next = l.tail, nobody
	if l.tail == nobody {
		l.head = h
	} else {
		b.seqs[l.tail].next = h
	}
	l.tail = h
	l.n++
}

func (b *batch) pushFront(l *list, h Handle) {
	s := &b.seqs[h]
	s.prev, s.next = nobody, l.head
	if l.head == nobody {
		l.tail = h
	} else {
		b.seqs[l.head].prev = h
	}
	l.head = h
	l.n++
}

func (b *batch) remove(l *list, h Handle) {
	s := &b.seqs[h]
	if s.prev == nobody {
		l.head = s.next
	} else {
		b.seqs[s.prev].next = s.next
	}
	if s.next == nobody {
		l.tail = s.prev
	} else {
		b.seqs[s.next].prev = s.prev
	}
	l.n--
}

// handles appends the sequences of l to dst, in order.
func (b *batch) handles(dst []Handle, l *list) []Handle {
	for h := l.head; h != nobody; h = b.seqs[h].next {
		dst = append(dst, h)
	}
	return dst
}

// relink makes l the list of order.
func (b *batch) relink(l *list, order []Handle) {
	*l = emptyList()
	for _, h := range order {
		b.pushBack(l, h)
	}
}

// urgent tells that a runs before b under the priority policy.
func urgent(seqs []seq, a, b Handle) bool {
	s, t := &seqs[a], &seqs[b]
	return s.priority < t.priority || s.priority == t.priority && s.rank < t.rank
}

// unpartial takes h off the list of unfinished prompts.
func (b *batch) unpartial(h Handle) {
	if i := slices.Index(b.partial, h); i >= 0 {
		b.partial = slices.Delete(b.partial, i, i+1)
	}
}

// drop frees the blocks of the running sequence h and takes it off the running
// list.
func (b *batch) drop(h Handle) {
	s := &b.seqs[h]
	switch s.state {
	case prefill:
		b.unpartial(h)
	case decoding:
		b.group.leave(b.seqs, h)
	case stalled:
		b.stalls--
	}
	b.release(h)
	b.remove(&b.running, h)
	s.blocks, s.computed, s.state = 0, 0, absent
}

// evict drops the running sequence h, which keeps the tokens it has generated,
// and reports it as preempted. The caller puts it into a queue.
func (b *batch) evict(h Handle) {
	s := &b.seqs[h]
	if s.state == decoding {
		b.group.leave(b.seqs, h)
		s.state = stalled
		b.stalls++
	}
	s.served = false
	b.step.Preempted = append(b.step.Preempted, Loss{Seq: h, Tokens: s.computed, Emitted: s.emitted})
	b.drop(h)
	s.state = waiting
}

// hold records why the head of the queue is not admitted, if nothing has yet.
func (b *batch) hold(why Held) {
	if b.step.Held == NotHeld {
		b.step.Held = why
	}
}

// finish notes that the running sequence h has all its tokens.
func (b *batch) finish(h Handle) {
	switch b.seqs[h].state {
	case prefill:
		b.unpartial(h)
	case decoding:
		b.group.leave(b.seqs, h)
	}
	b.seqs[h].state = ended
	b.done = append(b.done, h)
}

// part lets go of the sequences that ended, in the order of the running list, in
// which a prefix cache gets their blocks. With asynchronous scheduling they keep
// their places and their blocks until that is seen.
func (b *batch) part() {
	if b.cache != nil && len(b.done) > 1 {
		slices.SortFunc(b.done, func(x, y Handle) int { return cmp.Compare(b.seqs[x].entry, b.seqs[y].entry) })
	}
	if b.AsyncScheduling {
		b.unseen = append(b.unseen, b.done...)
		return
	}
	for _, h := range b.done {
		b.drop(h)
		b.forget(h)
	}
}

// abort removes h wherever it is.
func (b *batch) abort(h Handle) {
	if b.seqs[h].state == waiting {
		b.remove(&b.queue, h)
		b.seqs[h].state = absent
	} else {
		b.drop(h)
	}
	b.forget(h)
}

// dissolve turns every member of the group into a stalled sequence with its
// own counts, for a walk that looks at each. regroup undoes it.
func (b *batch) dissolve() {
	for h := b.running.head; h != nobody; h = b.seqs[h].next {
		s := &b.seqs[h]
		s.served, s.resumed = false, false
		if s.state == decoding {
			b.group.settle(s)
			s.state, s.resumed = stalled, true
			b.stalls++
		}
	}
	b.group.clear()
}

// regroup puts the decoding sequences that the walk served into the group and
// reports those that stopped or started being served since the last step.
func (b *batch) regroup() {
	for h := b.running.head; h != nobody; h = b.seqs[h].next {
		s := &b.seqs[h]
		if s.state != stalled {
			continue
		}
		if !s.served {
			if s.resumed {
				b.step.Stalled = append(b.step.Stalled, h)
				s.resumed = false
			}
			continue
		}
		if !s.resumed {
			b.step.Unstalled = append(b.step.Unstalled, h)
		}
		s.blocks = int32(b.pool.Need(int64(s.computed)))
		s.state = decoding
		b.stalls--
		b.group.add(b.seqs, h)
	}
	b.group.heapify(b.seqs)
	b.step.Decodes, b.step.DecodeKV = b.group.n, b.group.kv
}

// serveDecode takes the block, if any, that the decoding sequence h needs.
func (b *batch) serveDecode(h Handle) {
	s := &b.seqs[h]
	s.served = true
	need := b.pool.Need(int64(s.known())) - int64(s.blocks)
	b.pool.Take(need)
	s.blocks += int32(need)
}

// decodeGroup plans one token for every member of the group, and takes the
// blocks for them. The caller has made sure that there are enough.
func (b *batch) decodeGroup() {
	b.step.Decodes, b.step.DecodeKV = b.group.n, b.group.kv
	b.take(b.group.need())
}

// finishShares applies the shares of the step that has run and collects the
// sequences whose only token it made.
func (b *batch) finishShares() {
	for i := range b.step.Shares {
		share := &b.step.Shares[i]
		s := &b.seqs[share.Seq]
		if share.Ghost {
			s.computed = share.Tokens
			continue
		}
		s.computed += share.Tokens
		if !share.Last {
			continue
		}
		s.emitted++
		if s.emitted >= s.output {
			b.finish(share.Seq)
			continue
		}
		b.unpartial(share.Seq)
		s.state = decoding
		b.group.add(b.seqs, share.Seq)
		b.group.lift(b.seqs, s.heap)
	}
}

// advance applies k runs of the planned step.
func (b *batch) advance(k int64) []Handle {
	b.done = b.done[:0]
	b.peak = b.pool.Used()
	if b.step.Decodes > 0 {
		if k > 1 {
			b.take(b.group.needAfterFirst(k))
		}
		b.peak = b.pool.Used()
		b.group.advance(k)
		for b.group.due() {
			b.finish(b.group.ends[0].seq)
		}
	}
	b.finishShares()
	b.part()
	return b.done
}

// repeat returns how many times the planned step, which holds only the group,
// runs until a sequence ends or the next one would leave fewer than spare
// blocks free.
func (b *batch) repeat(spare int64) int64 {
	k := b.group.untilDue()
	if free := b.pool.Free() - spare; b.group.needAtMost(k) > free {
		k = b.group.stepsWithin(free, k)
	}
	return k
}

// Counts implements Policy.
func (b *batch) Counts() (running, waiting int, free int64) {
	return int(b.running.n), int(b.queue.n), b.pool.Free()
}

// Peak implements Policy.
func (b *batch) Peak() int64 { return b.peak }
