package kv

import "fmt"

// FreeOrder says where a block that nobody holds any more joins the free list.
type FreeOrder uint8

const (
	// Append: at the tail, so blocks are used again in the order they were
	// freed (vLLM up to v0.20).
	Append FreeOrder = iota
	// UncachedFirst: a block without a hash at the head, one with a hash at the
	// tail, so that what cannot be hit again is used up first (vLLM main, with
	// prefix caching).
	UncachedFirst
)

// BlockID names a block of Blocks, from 0.
type BlockID int32

// none ends the free list.
const none = BlockID(-1)

// Blocks is a pool of blocks with identities and reference counts, and a free
// list that is a queue: blocks are taken from its head.
type Blocks struct {
	blockSize  int64
	order      FreeOrder
	refs       []int32
	hash       []uint64
	prev, next []BlockID
	head, tail BlockID
	free       int64
}

// NewBlocks returns a pool of total blocks of blockSize tokens, all free and in
// order of identity. With nullBlock, block 0 stands for "no block", as in vLLM
// V1, and is never handed out.
func NewBlocks(total, blockSize int64, nullBlock bool, order FreeOrder) *Blocks {
	b := &Blocks{
		blockSize: blockSize, order: order,
		refs: make([]int32, total), hash: make([]uint64, total),
		prev: make([]BlockID, total), next: make([]BlockID, total),
		head: none, tail: none,
	}
	for id := BlockID(0); int64(id) < total; id++ {
		if nullBlock && id == 0 {
			b.refs[id] = 1
			continue
		}
		b.pushTail(id)
	}
	return b
}

// Need returns the number of blocks that tokens tokens occupy.
func (b *Blocks) Need(tokens int64) int64 { return (tokens + b.blockSize - 1) / b.blockSize }

// Free returns the number of blocks that nobody holds.
func (b *Blocks) Free() int64 { return b.free }

// Take takes n blocks from the head of the free list, forgets what they held,
// and appends them to table. It returns table unchanged and false if there are
// fewer than n.
func (b *Blocks) Take(table []BlockID, n int64) ([]BlockID, bool) {
	if n > b.free {
		return table, false
	}
	for ; n > 0; n-- {
		id := b.head
		b.unlink(id)
		b.refs[id], b.hash[id] = 1, 0
		table = append(table, id)
	}
	return table, true
}

// Share adds a holder to block id, taking it off the free list if it was there.
func (b *Blocks) Share(id BlockID) {
	if b.refs[id] == 0 {
		b.unlink(id)
	}
	b.refs[id]++
}

// Held tells whether anybody holds block id.
func (b *Blocks) Held(id BlockID) bool { return b.refs[id] > 0 }

// SetHash marks block id as holding the content that hash, which is not 0,
// stands for.
func (b *Blocks) SetHash(id BlockID, hash uint64) { b.hash[id] = hash }

// Release drops one holder from each block of table, last block first, so that
// a prefix outlives what follows it. It reports an error, and changes nothing
// more, at a block that nobody holds.
func (b *Blocks) Release(table []BlockID) error {
	for i := len(table) - 1; i >= 0; i-- {
		id := table[i]
		if b.refs[id] == 0 {
			return fmt.Errorf("block %d is released but nobody holds it", id)
		}
		if b.refs[id]--; b.refs[id] > 0 {
			continue
		}
		if b.order == UncachedFirst && b.hash[id] == 0 {
			b.pushHead(id)
		} else {
			b.pushTail(id)
		}
	}
	return nil
}

func (b *Blocks) pushTail(id BlockID) {
	b.prev[id], b.next[id] = b.tail, none
	if b.tail == none {
		b.head = id
	} else {
		b.next[b.tail] = id
	}
	b.tail = id
	b.free++
}

func (b *Blocks) pushHead(id BlockID) {
	b.prev[id], b.next[id] = none, b.head
	if b.head == none {
		b.tail = id
	} else {
		b.prev[b.head] = id
	}
	b.head = id
	b.free++
}

func (b *Blocks) unlink(id BlockID) {
	if p := b.prev[id]; p == none {
		b.head = b.next[id]
	} else {
		b.next[p] = b.next[id]
	}
	if n := b.next[id]; n == none {
		b.tail = b.prev[id]
	} else {
		b.prev[n] = b.prev[id]
	}
	b.free--
}
