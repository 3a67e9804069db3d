package kv

// Table is the blocks of one sequence that are registered in a Prefix, from its
// first block on, while it runs, and what else is there of it while it waits.
// The caller counts the blocks it holds beyond them.
type Table struct {
	chain  Chain
	shared int32 // blocks below it are those of hashes
	hashed int32 // blocks below it are registered
	holds  []hold
	own    segmentID // of the other blocks
}

// hold is registered blocks that a sequence holds: those of first and of what
// comes after it, up to block end.
type hold struct {
	first extentID
	end   int32
}

// Enter makes t the table of a new sequence, which holds nothing. The hashes of c
// must not change until Leave.
func (p *Prefix) Enter(t *Table, c Chain) {
	*t = Table{chain: c, shared: c.shared(p.blockSize), holds: t.holds[:0], own: noSegment}
}

// seek is what the content of a block is, and where it would be registered.
type seek struct {
	content content
	tag, at uint32    // in the index; at is not valid once others were put there
	segment segmentID // noSegment if there is none
	end     int32     // the first block that is of another content
	own     bool      // it is of one sequence, and not in the index
}

// seek looks up the content of the given block of t.
func (p *Prefix) seek(t *Table, block int32) (f seek) {
	if block >= t.shared {
		return seek{segment: t.own, end: 1<<31 - 1, own: true}
	}
	i, end := t.chain.hash(block, p.blockSize)
	f.content, f.end = content{t.chain.Hashes[i], t.chain.Salt}, min(end, t.shared)
	f.tag = f.content.tag()
	f.at, f.segment = p.known.find(f.content, f.tag, p.segments)
	return f
}

// Find looks up the first limit blocks of t, which holds none, and returns how many,
// from its first, are in the cache, and how many of these are free. Hold, if it
// comes before anything else, makes t hold them.
func (p *Prefix) Find(t *Table, limit int32) (hit, idle int32) {
	p.found = p.found[:0]
	if len(t.chain.Hashes) == 0 {
		return 0, 0
	}
	for hit < limit {
		s := p.seek(t, hit)
		if s.segment == noSegment {
			break
		}
		for end := min(s.end, limit); hit < end; {
			f, ok := p.at(s.segment, hit, end)
			if !ok {
				return hit, idle
			}
			if p.extents[f.extent].refs == 0 {
				idle += f.to - f.from
			}
			p.found = append(p.found, f)
			hit = f.to
		}
	}
	return hit, idle
}

// at returns the part of segment s from block from on, and at most up to end,
// that was registered first and is in one extent. No older extent begins within
// it: whoever registers or touches a block holds what was registered first of
// those before it, and gives that back later.
func (p *Prefix) at(s segmentID, from, end int32) (f part, ok bool) {
	for id := p.segments[s].oldest; id != noExtent; id = p.extents[id].newer {
		if x := &p.extents[id]; x.lo <= from && from < x.hi {
			return part{id, from, min(x.hi, end)}, true
		}
	}
	return f, false
}

// Hold makes t hold what Find has just found for it.
func (p *Prefix) Hold(t *Table) {
	for _, f := range p.found {
		id := f.extent
		if p.extents[id].lo < f.from {
			id = p.split(id, f.from)
		}
		if p.extents[id].hi > f.to {
			p.split(id, f.to)
		}
		x := &p.extents[id]
		if x.refs == 0 {
			p.unlink(id)
			p.free -= int64(x.hi - x.lo)
		}
		x.refs++
		t.holds = append(t.holds, hold{id, f.to})
		t.hashed = f.to
	}
}

// Register registers the blocks of t, all of which it has taken, up to block end.
func (p *Prefix) Register(t *Table, end int32) {
	if len(t.chain.Hashes) == 0 {
		t.hashed = max(t.hashed, end)
		return
	}
	for t.hashed < end {
		f := p.seek(t, t.hashed)
		if f.segment == noSegment {
			f.segment = p.open(f.content, f.own)
			if f.own {
				t.own = f.segment
			} else {
				p.known.put(f.at, f.tag, f.segment)
			}
		}
		to := min(f.end, end)
		p.extend(t, f.segment, to)
		t.hashed = to
	}
}

// extend registers the blocks of t up to block to, which are of segment s.
func (p *Prefix) extend(t *Table, s segmentID, to int32) {
	if n := len(t.holds); n > 0 {
		id := t.holds[n-1].first
		for p.extents[id].hi < t.hashed {
			id = p.extents[id].after
		}
		if x := &p.extents[id]; x.segment == s && x.refs == 1 && x.newer == noExtent {
			x.hi = to
			t.holds[n-1].end = to
			return
		}
	}
	id := p.add(t.hashed, to)
	p.register(id, s)
	t.holds = append(t.holds, hold{id, to})
}

// Release gives back all that t holds, of which there are blocks in all, and
// returns how many nobody holds any more. What was registered stays so.
func (p *Prefix) Release(t *Table, blocks int32) (freed int64) {
	free := p.free
	if p.order == UncachedFirst {
		p.giveHead(blocks - t.hashed)
	} else {
		p.giveTail(blocks - t.hashed)
	}
	if len(t.chain.Hashes) == 0 {
		p.giveTail(t.hashed)
	}
	for i := len(t.holds) - 1; i >= 0; i-- {
		p.walk = p.walk[:0]
		h := t.holds[i]
		for id := h.first; ; id = p.extents[id].after {
			p.walk = append(p.walk, id)
			if p.extents[id].hi == h.end {
				break
			}
		}
		for j := len(p.walk) - 1; j >= 0; j-- {
			id := p.walk[j]
			if x := &p.extents[id]; x.refs > 1 {
				x.refs--
			} else {
				x.refs = 0
				p.pushTail(id)
			}
		}
	}
	t.holds, t.hashed = t.holds[:0], 0
	return p.free - free
}

// Leave ends t, which holds nothing: its blocks that no hash covers can no more
// be hit.
func (p *Prefix) Leave(t *Table) {
	if t.own == noSegment {
		return
	}
	s := &p.segments[t.own]
	for id := s.oldest; id != noExtent; {
		x := &p.extents[id]
		next := x.newer
		x.segment, x.older, x.newer = noSegment, noExtent, noExtent
		id = next
	}
	p.unused = append(p.unused, t.own)
	t.own = noSegment
}
