package kv

import (
	"fmt"
	"slices"
	"testing"

	"pgregory.net/rapid"
)

func ExamplePrefix() {
	p := NewPrefix(6, 16, Append)
	var a, b Table
	p.Enter(&a, Chain{Hashes: []uint64{7, 8}, HashTokens: 32, Covered: 50}) // 50 tokens, so 3 full blocks
	fmt.Println(p.Find(&a, 3))
	p.Take(4) // of which the last is not full
	p.Register(&a, 3)

	p.Enter(&b, Chain{Hashes: []uint64{7, 9}, HashTokens: 32, Covered: 64})
	fmt.Println(p.Find(&b, 3)) // the blocks of hash 7, which a holds
	p.Hold(&b)

	fmt.Println(p.Release(&a, 4), p.Free()) // its last two blocks
	fmt.Println(p.Release(&b, 2), p.Free())
	fmt.Println(p.Find(&a, 3)) // all that it had, free or not
	p.Take(4)                  // two that never held anything, a's last, and its third
	fmt.Println(p.Find(&a, 3))
	// Output:
	// 0 0
	// 2 0
	// 2 4
	// 2 6
	// 3 3
	// 2 2
}

// naive is a prefix cache in single blocks, as the engine has it.
type naive struct {
	*Blocks
	size   int64
	known  map[string][]BlockID // in the order in which they were registered
	called map[BlockID]string   // what a block is registered under
}

// sequence is one sequence of both caches.
type sequence struct {
	name    string
	chain   Chain
	tokens  int32 // it has in all
	table   Table
	blocks  int32
	held    []BlockID // of the naive one
	hashed  int
	waiting bool
}

// called returns what block i of q is registered under: the hashes and the
// tokens of its own up to its end.
func (q *sequence) called(i int, size int64) string {
	end := (int64(i) + 1) * size
	if end > int64(q.chain.Covered) {
		return fmt.Sprint(q.name, i)
	}
	n := 1
	for at := int64(q.lead()); at < end; at += int64(q.chain.HashTokens) {
		n++
	}
	return fmt.Sprint(q.chain.Hashes[:n], i, q.chain.Salt)
}

// lead returns the number of tokens that the first hash of q covers.
func (q *sequence) lead() int32 {
	if q.chain.LeadTokens > 0 {
		return q.chain.LeadTokens
	}
	return q.chain.HashTokens
}

func (n *naive) find(q *sequence, limit int) (found []BlockID, idle int32) {
	for i := range limit {
		if len(q.chain.Hashes) == 0 {
			break
		}
		ids := n.known[q.called(i, n.size)]
		if len(ids) == 0 {
			break
		}
		if n.refs[ids[0]] == 0 {
			idle++
		}
		found = append(found, ids[0])
	}
	return found, idle
}

func (n *naive) take(table []BlockID, count int64) []BlockID {
	before := len(table)
	table, _ = n.Take(table, count)
	for _, id := range table[before:] {
		if c, ok := n.called[id]; ok {
			delete(n.called, id)
			ids := n.known[c]
			i := slices.Index(ids, id)
			n.known[c] = slices.Delete(ids, i, i+1)
		}
	}
	return table
}

func (n *naive) register(q *sequence, end int) {
	for ; q.hashed < end; q.hashed++ {
		c, id := q.called(q.hashed, n.size), q.held[q.hashed]
		n.known[c] = append(n.known[c], id)
		n.called[id] = c
		n.SetHash(id, 1)
	}
}

// caches are a Prefix and its naive model, and the sequences of both.
type caches struct {
	p     *Prefix
	n     *naive
	units []int32 // tokens of a hash
	all   []*sequence
	next  int
}

// add draws a sequence that may begin as others do.
func (c *caches) add(t *rapid.T) {
	unit := c.units[rapid.IntRange(0, len(c.units)-1).Draw(t, "tokens of a hash")]
	q := &sequence{name: fmt.Sprint("own of ", c.next, " "), waiting: true, tokens: rapid.Int32Range(1, 90).Draw(t, "tokens")}
	c.next++
	group := rapid.SampledFrom([]uint64{1, 1, 1, 2}).Draw(t, "group")
	alike, hashes := rapid.IntRange(0, 12).Draw(t, "hashes alike"), rapid.IntRange(0, 12).Draw(t, "hashes")
	for i := range hashes {
		h := uint64(unit)<<32 | group<<16 | uint64(i)
		if i >= alike {
			h = uint64(c.next)<<48 | uint64(unit)<<32 | uint64(i)
		}
		q.chain.Hashes = append(q.chain.Hashes, h)
	}
	q.chain.HashTokens = unit
	if unit == 6 {
		q.chain.LeadTokens = 9
	}
	if hashes > 0 {
		q.chain.Covered = min(q.tokens, q.lead()+unit*int32(hashes-1))
	}
	q.chain.Salt = rapid.SampledFrom([]uint64{0, 0, 0, 1}).Draw(t, "salt")
	c.p.Enter(&q.table, q.chain)
	c.all = append(c.all, q)
}

// admit gives a waiting sequence what is cached of it and further blocks.
func (c *caches) admit(t *rapid.T, q *sequence) {
	limit := (int64(q.tokens) - 1) / c.n.size
	found, idle := c.n.find(q, int(limit))
	hit, free := c.p.Find(&q.table, int32(limit))
	if int(hit) != len(found) || free != idle {
		t.Fatalf("%s%v: %d blocks are cached, %d of them free; the model has %d and %d", q.name, q.chain, hit, free, len(found), idle)
	}
	more := rapid.Int64Range(0, c.n.Need(int64(q.tokens))-int64(hit)).Draw(t, "blocks")
	if more+int64(idle) > c.p.Free() {
		return // a lookup alone changes nothing
	}
	for _, id := range found {
		c.n.Share(id)
	}
	q.held, q.hashed, q.waiting = found, len(found), false
	c.p.Hold(&q.table)
	q.blocks = hit
	c.grow(t, q, more)
}

// grow gives a sequence further blocks and registers some of those it has.
func (c *caches) grow(t *rapid.T, q *sequence, more int64) {
	more = min(more, c.p.Free(), c.n.Need(int64(q.tokens))-int64(q.blocks))
	c.p.Take(more)
	q.held = c.n.take(q.held, more)
	q.blocks += int32(more)
	end := min(int64(q.blocks), int64(q.tokens)/c.n.size)
	if end > int64(q.hashed) {
		end = rapid.Int64Range(int64(q.hashed), end).Draw(t, "registered")
		c.n.register(q, int(end))
		c.p.Register(&q.table, int32(end))
	}
}

// release takes the blocks of q.
func (c *caches) release(t *rapid.T, q *sequence) {
	before := c.n.Free()
	if err := c.n.Release(q.held); err != nil {
		t.Fatal(err)
	}
	if freed := c.p.Release(&q.table, q.blocks); freed != c.n.Free()-before {
		t.Fatalf("%sfrees %d blocks; the model says %d", q.name, freed, c.n.Free()-before)
	}
	q.held, q.hashed, q.blocks, q.waiting = nil, 0, 0, true
}

// TestPrefixAgreesWithSingleBlocks does to a Prefix and to its model the same.
func TestPrefixAgreesWithSingleBlocks(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		total, size := rapid.Int64Range(1, 60).Draw(t, "blocks"), rapid.SampledFrom([]int64{1, 2, 4, 5, 16}).Draw(t, "block size")
		order := rapid.SampledFrom([]FreeOrder{Append, UncachedFirst}).Draw(t, "order")
		units := rapid.SliceOfN(rapid.SampledFrom([]int32{1, 4, 6, 16, 24}), 1, 2).Draw(t, "tokens of a hash")
		c := &caches{units: units, p: NewPrefix(total, size, order), n: &naive{Blocks: NewBlocks(total, size, false, order), size: size,
			known: map[string][]BlockID{}, called: map[BlockID]string{}}}
		pick := func(t *rapid.T, waiting bool) *sequence {
			var some []*sequence
			for _, q := range c.all {
				if q.waiting == waiting {
					some = append(some, q)
				}
			}
			if len(some) == 0 {
				t.Skip("there is none")
			}
			return rapid.SampledFrom(some).Draw(t, "sequence")
		}
		t.Repeat(map[string]func(*rapid.T){
			"add":   c.add,
			"admit": func(t *rapid.T) { c.admit(t, pick(t, true)) },
			"grow":  func(t *rapid.T) { c.grow(t, pick(t, false), rapid.Int64Range(0, 4).Draw(t, "blocks")) },
			"lose":  func(t *rapid.T) { c.release(t, pick(t, false)) },
			"leave": func(t *rapid.T) {
				q := rapid.SampledFrom(append(slices.Clone(c.all), nil)).Draw(t, "sequence")
				if q == nil {
					t.Skip("there is none")
				}
				if !q.waiting {
					c.release(t, q)
				}
				c.p.Leave(&q.table)
				c.all = slices.DeleteFunc(c.all, func(o *sequence) bool { return o == q })
			},
			"": func(t *rapid.T) { c.check(t) },
		})
	})
}

// check holds the two caches against each other, and the first to its laws.
func (c *caches) check(t *rapid.T) {
	if c.p.Free() != c.n.Free() {
		t.Fatalf("%d blocks are free; the model says %d", c.p.Free(), c.n.Free())
	}
	listed := int64(0)
	for id := c.p.head; id != noExtent; id = c.p.extents[id].next {
		x := &c.p.extents[id]
		if x.refs != 0 || x.hi <= x.lo {
			t.Fatalf("extent %d is on the free list: %+v", id, *x)
		}
		listed += int64(x.hi - x.lo)
	}
	if listed != c.p.Free() {
		t.Fatalf("%d blocks stand on the free list, of %d", listed, c.p.Free())
	}
	for _, q := range c.all {
		if int(q.table.hashed) != q.hashed {
			t.Fatalf("%s%d blocks are registered; the model says %d", q.name, q.table.hashed, q.hashed)
		}
	}
	used := 0
	for at, f := range c.p.known.slots {
		if f.segment == 0 {
			continue
		}
		used++
		s := &c.p.segments[f.segment-1]
		if found, _ := c.p.known.find(s.content, s.content.tag(), c.p.segments); s.oldest == noExtent || found != uint32(at) {
			t.Fatalf("%v stands at place %d, and is found at %d; what is cached of it begins with extent %d", s.content, at, found, s.oldest)
		}
	}
	if used != c.p.known.used {
		t.Fatalf("%d contents are known; %d are counted", used, c.p.known.used)
	}
}
