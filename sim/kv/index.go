package kv

// index finds segments by their content. It is a hash table with linear probing:
// a segment stands at its home, which follows from its content, or behind it with
// no gap between.
type index struct {
	slots []slot // a power of two of them, at most half of them used
	bits  uint   // their number is 1<<bits
	used  int
}

// slot is a place of an index.
type slot struct {
	tag     uint32    // of the content; its upper bits are the home
	segment segmentID // plus 1; 0 is nobody
}

// firstBits is the size of an empty index.
const firstBits = 8

func newIndex() index { return index{slots: make([]slot, 1<<firstBits), bits: firstBits} }

// tag mixes the bits of c (the finalizer of MurmurHash3).
func (c content) tag() uint32 {
	x := c.hash ^ c.salt*0x9e3779b97f4a7c15
	x ^= x >> 33
	x *= 0xff51afd7ed558ccd
	x ^= x >> 33
	x *= 0xc4ceb9fe1a85ec53
	return uint32(x >> 32)
}

// find returns where the segment of content c, whose tag is tag, stands among
// segments or, if there is none, would stand.
func (x *index) find(c content, tag uint32, segments []segment) (at uint32, s segmentID) {
	mask := uint32(len(x.slots) - 1)
	for at = tag >> (32 - x.bits); ; at = (at + 1) & mask {
		switch f := &x.slots[at]; {
		case f.segment == 0:
			return at, noSegment
		case f.tag == tag && segments[f.segment-1].content == c:
			return at, f.segment - 1
		}
	}
}

// put puts segment s of the given tag at place at, where find found none.
func (x *index) put(at, tag uint32, s segmentID) {
	x.slots[at] = slot{tag, s + 1}
	if x.used++; 2*x.used <= len(x.slots) {
		return
	}
	old := x.slots
	x.bits++
	x.slots = make([]slot, 2*len(old))
	mask := uint32(len(x.slots) - 1)
	for _, f := range old {
		if f.segment == 0 {
			continue
		}
		at := f.tag >> (32 - x.bits)
		for x.slots[at].segment != 0 {
			at = (at + 1) & mask
		}
		x.slots[at] = f
	}
}

// remove takes out what stands at place at, and moves up what stands behind it.
func (x *index) remove(at uint32) {
	x.used--
	mask := uint32(len(x.slots) - 1)
	for next := (at + 1) & mask; x.slots[next].segment != 0; next = (next + 1) & mask {
		home := x.slots[next].tag >> (32 - x.bits)
		if (next-home)&mask >= (next-at)&mask {
			x.slots[at] = x.slots[next]
			at = next
		}
	}
	x.slots[at] = slot{}
}
