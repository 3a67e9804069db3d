package kv

// Prefix is a prefix cache: blocks that hold what some sequence began with, to
// be shared by those that begin the same, and the order in which free ones are
// used again.
//
// It follows vLLM V1 (vllm/v1/core/block_pool.py, kv_cache_manager.py). A block
// is registered under its content, which includes everything before it, as soon
// as it is given out and full; blocks with one content may be several, of which a
// lookup finds the one registered first. A sequence that leaves gives its blocks
// back last block first, and those that nobody holds any more join the tail of
// the free list with what they are registered under. New blocks come from its
// head and are registered no more.
//
// It counts no block by itself. Blocks next to each other in one sequence, with
// the same holders and in one trace block, are an extent; the work of a call is
// by extents.
type Prefix struct {
	blockSize  int64
	order      FreeOrder
	free       int64
	extents    []extent
	spare      []extentID // unused
	head, tail extentID   // the free list
	segments   []segment
	unused     []segmentID
	known      index  // of the segments of hashes
	found      []part // by the latest Find
	walk       []extentID
}

type (
	extentID  int32
	segmentID int32
)

const (
	noExtent  = extentID(-1)
	noSegment = segmentID(-1)
)

// content names what a segment holds.
type content struct{ hash, salt uint64 }

// segment is the registered blocks of one content: those that end in the block
// of one hash, or those of one sequence that no hash covers.
type segment struct {
	content        content
	oldest, newest extentID // in the order in which they were registered
	own            bool     // of one sequence: it is not among known
}

// extent is the blocks of a sequence from lo up to hi. Those on the free list
// stand on it last block first.
type extent struct {
	lo, hi       int32
	refs         int32     // sequences that hold it
	segment      segmentID // noSegment: nothing can hit it, and only hi-lo matters
	prev, next   extentID  // on the free list
	older, newer extentID  // in its segment
	after        extentID  // of whoever holds more blocks than these, the following ones
}

// part is what a lookup found in one extent.
type part struct {
	extent   extentID
	from, to int32
}

// NewPrefix returns a cache of total blocks of blockSize tokens, all free and
// empty.
func NewPrefix(total, blockSize int64, order FreeOrder) *Prefix {
	p := &Prefix{blockSize: blockSize, order: order, head: noExtent, tail: noExtent, known: newIndex()}
	p.giveTail(int32(total))
	return p
}

// Free returns the number of blocks that no sequence holds.
func (p *Prefix) Free() int64 { return p.free }

// Take takes n free blocks from the head of the free list. The caller has made
// sure that there are as many, and remembers who holds them.
func (p *Prefix) Take(n int64) {
	p.free -= n
	for left := int32(n); left > 0; {
		x := &p.extents[p.head]
		if k := x.hi - x.lo; k > left {
			x.hi -= left
			return
		} else {
			left -= k
		}
		id := p.head
		p.unlink(id)
		p.drop(id)
	}
}

// drop forgets extent id, which is on no list.
func (p *Prefix) drop(id extentID) {
	if x := &p.extents[id]; x.segment != noSegment {
		p.leave(id, x)
	}
	p.spare = append(p.spare, id)
}

// leave takes x, which is extent id, out of its segment.
func (p *Prefix) leave(id extentID, x *extent) {
	s := &p.segments[x.segment]
	if x.older == noExtent {
		s.oldest = x.newer
	} else {
		p.extents[x.older].newer = x.newer
	}
	if x.newer == noExtent {
		s.newest = x.older
	} else {
		p.extents[x.newer].older = x.older
	}
	if s.oldest == noExtent && !s.own {
		at, _ := p.known.find(s.content, s.content.tag(), p.segments)
		p.known.remove(at)
		p.unused = append(p.unused, x.segment)
	}
	x.segment = noSegment
}

// add returns a new extent of blocks lo up to hi, on no list.
func (p *Prefix) add(lo, hi int32) extentID {
	x := extent{lo: lo, hi: hi, segment: noSegment, prev: noExtent, next: noExtent, older: noExtent, newer: noExtent, after: noExtent}
	if n := len(p.spare); n > 0 {
		id := p.spare[n-1]
		p.spare = p.spare[:n-1]
		p.extents[id] = x
		return id
	}
	p.extents = append(p.extents, x)
	return extentID(len(p.extents) - 1)
}

// register adds extent id, of one holder, to segment s as the newest.
func (p *Prefix) register(id extentID, s segmentID) {
	x, seg := &p.extents[id], &p.segments[s]
	x.refs, x.segment, x.older = 1, s, seg.newest
	if seg.newest == noExtent {
		seg.oldest = id
	} else {
		p.extents[seg.newest].newer = id
	}
	seg.newest = id
}

// split cuts extent id in two at block at and returns the second part.
func (p *Prefix) split(id extentID, at int32) extentID {
	upper := p.add(at, p.extents[id].hi)
	x, y := &p.extents[id], &p.extents[upper]
	x.hi = at
	y.refs, y.segment, y.after = x.refs, x.segment, x.after
	x.after = upper
	y.older, y.newer = id, x.newer
	if x.newer == noExtent {
		p.segments[x.segment].newest = upper
	} else {
		p.extents[x.newer].older = upper
	}
	x.newer = upper
	if x.refs == 0 { // the last block comes first
		y.prev, y.next = x.prev, id
		if x.prev == noExtent {
			p.head = upper
		} else {
			p.extents[x.prev].next = upper
		}
		x.prev = upper
	}
	return upper
}

// open returns a new segment of the given content, with nothing in it.
func (p *Prefix) open(c content, own bool) segmentID {
	s := segment{content: c, oldest: noExtent, newest: noExtent, own: own}
	if n := len(p.unused); n > 0 {
		id := p.unused[n-1]
		p.unused = p.unused[:n-1]
		p.segments[id] = s
		return id
	}
	p.segments = append(p.segments, s)
	return segmentID(len(p.segments) - 1)
}
