package scheduler

// group is the set of decoding sequences that all compute one token in each
// step. Only its counters move; a member's progress is the number of steps
// since it joined.
type group struct {
	count int64 // steps done
	n     int32 // members
	kv    int64 // sum of the members' known tokens
	// phase[r] is the number of members that need a new block in the steps
	// before which count mod block size is r.
	phase []int32
	// ends is a binary heap of the members by the count at which they end, then rank.
	ends      []ending
	blockSize int64
	reserved  bool // the members hold all the blocks that they will ever need
}

// ending is a member of the group and the count at which it has all its tokens.
type ending struct {
	at   int64
	rank int64
	seq  Handle
}

func (g *group) init(blockSize int32, reserved bool) {
	g.blockSize, g.reserved = int64(blockSize), reserved
	g.phase = make([]int32, blockSize)
}

// slot returns the index in phase of a member that joined at count join with
// held tokens in its blocks.
func (g *group) slot(join int64, held int32) int64 {
	r := (join - int64(held)) % g.blockSize
	if r < 0 {
		r += g.blockSize
	}
	return r
}

// add makes h, whose counts are settled, a member and puts it at the end of
// ends; the caller restores the heap with lift or heapify.
func (g *group) add(seqs []seq, h Handle) {
	s := &seqs[h]
	s.join = g.count
	g.n++
	g.kv += int64(s.known())
	g.phase[g.slot(s.join, s.known()-1)]++
	s.heap = int32(len(g.ends))
	g.ends = append(g.ends, ending{g.count + int64(s.output-s.emitted), s.rank, h})
}

// settle writes into s what it has now, as if it had been counted step by step.
func (g *group) settle(s *seq) {
	held := s.known() - 1
	s.emitted += int32(g.count - s.join)
	s.computed = s.known() - 1
	if !g.reserved {
		s.blocks += int32((int64(s.computed)+g.blockSize-1)/g.blockSize - (int64(held)+g.blockSize-1)/g.blockSize)
	}
	s.join = g.count
}

// leave settles h and ends its membership.
func (g *group) leave(seqs []seq, h Handle) {
	s := &seqs[h]
	g.phase[g.slot(s.join, s.known()-1)]--
	g.settle(s)
	g.n--
	g.kv -= int64(s.known())
	last := int32(len(g.ends) - 1)
	i := s.heap
	g.ends[i] = g.ends[last]
	g.ends = g.ends[:last]
	if i < last {
		seqs[g.ends[i].seq].heap = i
		g.lift(seqs, i)
		g.sink(seqs, i)
	}
}

// clear ends every membership. The members have been settled.
func (g *group) clear() {
	g.n, g.kv, g.ends = 0, 0, g.ends[:0]
	clear(g.phase)
}

// need returns the number of blocks that the next step takes.
func (g *group) need() int64 {
	if g.reserved {
		return 0
	}
	return int64(g.phase[g.count%g.blockSize])
}

// needAfterFirst returns the number of blocks that the steps after the first of k take.
func (g *group) needAfterFirst(k int64) int64 {
	if g.reserved {
		return 0
	}
	cycles := (k - 1) / g.blockSize
	total := cycles * int64(g.n)
	r := (g.count + 1) % g.blockSize
	for i := (k - 1) % g.blockSize; i > 0; i-- {
		total += int64(g.phase[r])
		if r++; r == g.blockSize {
			r = 0
		}
	}
	return total
}

// needAtMost returns an upper bound of needAfterFirst that is cheap.
func (g *group) needAtMost(k int64) int64 {
	if g.reserved {
		return 0
	}
	return ((k-1)/g.blockSize + 1) * int64(g.n)
}

// stepsWithin returns the largest k up to limit for which needAfterFirst(k) ≤ free.
func (g *group) stepsWithin(free, limit int64) int64 {
	if free < 0 {
		return 1
	}
	cycles := free / int64(g.n)
	if cycles > (limit-1)/g.blockSize {
		cycles = (limit - 1) / g.blockSize
	}
	k := 1 + cycles*g.blockSize
	free -= cycles * int64(g.n)
	r := (g.count + 1) % g.blockSize
	for ; k < limit; k++ {
		if free -= int64(g.phase[r]); free < 0 {
			break
		}
		if r++; r == g.blockSize {
			r = 0
		}
	}
	return k
}

// advance counts k steps.
func (g *group) advance(k int64) {
	g.count += k
	g.kv += k * int64(g.n)
}

// due tells that a member has all its tokens.
func (g *group) due() bool { return len(g.ends) > 0 && g.ends[0].at <= g.count }

// untilDue returns the number of steps until a member has all its tokens.
func (g *group) untilDue() int64 { return g.ends[0].at - g.count }

func (g *group) less(i, j int32) bool {
	a, b := &g.ends[i], &g.ends[j]
	return a.at < b.at || a.at == b.at && a.rank < b.rank
}

func (g *group) swap(seqs []seq, i, j int32) {
	g.ends[i], g.ends[j] = g.ends[j], g.ends[i]
	seqs[g.ends[i].seq].heap, seqs[g.ends[j].seq].heap = i, j
}

// lift moves the i-th ending up to its place in the heap.
func (g *group) lift(seqs []seq, i int32) {
	for i > 0 {
		parent := (i - 1) / 2
		if !g.less(i, parent) {
			return
		}
		g.swap(seqs, i, parent)
		i = parent
	}
}

// sink moves the i-th ending down to its place in the heap.
func (g *group) sink(seqs []seq, i int32) {
	n := int32(len(g.ends))
	for {
		least := i
		for c := 2*i + 1; c <= 2*i+2 && c < n; c++ {
			if g.less(c, least) {
				least = c
			}
		}
		if least == i {
			return
		}
		g.swap(seqs, i, least)
		i = least
	}
}

// heapify restores the heap after many adds.
func (g *group) heapify(seqs []seq) {
	for i := int32(len(g.ends))/2 - 1; i >= 0; i-- {
		g.sink(seqs, i)
	}
}
