package kv

// unlink takes extent id off the free list.
func (p *Prefix) unlink(id extentID) {
	x := &p.extents[id]
	if x.prev == noExtent {
		p.head = x.next
	} else {
		p.extents[x.prev].next = x.next
	}
	if x.next == noExtent {
		p.tail = x.prev
	} else {
		p.extents[x.next].prev = x.prev
	}
	x.prev, x.next = noExtent, noExtent
}

// pushTail puts extent id at the tail of the free list.
func (p *Prefix) pushTail(id extentID) {
	x := &p.extents[id]
	x.prev, x.next = p.tail, noExtent
	if p.tail == noExtent {
		p.head = id
	} else {
		p.extents[p.tail].next = id
	}
	p.tail = id
	p.free += int64(x.hi - x.lo)
}

// pushHead puts extent id at the head of the free list.
func (p *Prefix) pushHead(id extentID) {
	x := &p.extents[id]
	x.prev, x.next = noExtent, p.head
	if p.head == noExtent {
		p.tail = id
	} else {
		p.extents[p.head].prev = id
	}
	p.head = id
	p.free += int64(x.hi - x.lo)
}

// giveTail puts n blocks that nothing can hit at the tail of the free list.
func (p *Prefix) giveTail(n int32) {
	switch {
	case n == 0:
	case p.tail != noExtent && p.extents[p.tail].segment == noSegment:
		p.extents[p.tail].hi += n
		p.free += int64(n)
	default:
		p.pushTail(p.add(0, n))
	}
}

// giveHead puts n blocks that nothing can hit at the head of the free list.
func (p *Prefix) giveHead(n int32) {
	switch {
	case n == 0:
	case p.head != noExtent && p.extents[p.head].segment == noSegment:
		p.extents[p.head].hi += n
		p.free += int64(n)
	default:
		p.pushHead(p.add(0, n))
	}
}
