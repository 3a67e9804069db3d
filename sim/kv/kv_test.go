package kv

import (
	"fmt"
	"slices"
	"testing"

	"pgregory.net/rapid"
)

func ExamplePool() {
	p := NewPool(10, 16)
	fmt.Println(p.Need(0), p.Need(1), p.Need(16), p.Need(17))
	p.Take(p.Need(100))
	fmt.Println(p.Usable(), p.Used(), p.Free())
	p.Give(7)
	fmt.Println(p.Used(), p.Free())
	// Output:
	// 0 1 1 2
	// 10 7 3
	// 0 10
}

func ExampleBlocks() {
	b := NewBlocks(6, 16, true, Append) // block 0 stands for no block
	first, _ := b.Take(nil, 2)
	second, _ := b.Take(nil, 2)
	fmt.Println(first, second, b.Free())
	b.Release(first) // behind block 5, its last block first
	third, ok := b.Take(nil, 3)
	fmt.Println(third, ok)
	_, ok = b.Take(nil, 1)
	fmt.Println(ok)
	// Output:
	// [1 2] [3 4] 1
	// [5 2 1] true
	// false
}

// drain takes all that is free.
func drain(b *Blocks) []BlockID {
	ids, _ := b.Take(nil, b.Free())
	return ids
}

func TestFreeOrder(t *testing.T) {
	for _, c := range []struct {
		what     string
		order    FreeOrder
		hashed   []BlockID // those whose content has a hash
		released [][]BlockID
		want     []BlockID
	}{
		{"as numbered", Append, nil, nil, []BlockID{6, 7}},
		{"at the tail, last first", Append, nil, [][]BlockID{{0, 1, 2}}, []BlockID{6, 7, 2, 1, 0}},
		{"hashes do not matter", Append, []BlockID{1}, [][]BlockID{{0, 1, 2}}, []BlockID{6, 7, 2, 1, 0}},
		{"tables one by one", Append, nil, [][]BlockID{{3, 4}, {0, 1}}, []BlockID{6, 7, 4, 3, 1, 0}},
		{"without a hash at the head", UncachedFirst, nil, [][]BlockID{{0, 1, 2}}, []BlockID{0, 1, 2, 6, 7}},
		{"with a hash at the tail", UncachedFirst, []BlockID{0, 1, 2}, [][]BlockID{{0, 1, 2}}, []BlockID{6, 7, 2, 1, 0}},
		{"only full blocks have a hash", UncachedFirst, []BlockID{0, 1}, [][]BlockID{{0, 1, 2}}, []BlockID{2, 6, 7, 1, 0}},
		{"tables one by one, mixed", UncachedFirst, []BlockID{0, 3, 4}, [][]BlockID{{3, 4, 5}, {0, 1}}, []BlockID{1, 5, 6, 7, 4, 3, 0}},
	} {
		b := NewBlocks(8, 4, false, c.order)
		if _, ok := b.Take(nil, 6); !ok {
			t.Fatal("6 of 8 blocks cannot be taken")
		}
		for _, id := range c.hashed {
			b.SetHash(id, uint64(id)+1)
		}
		for _, table := range c.released {
			if err := b.Release(table); err != nil {
				t.Fatal(err)
			}
		}
		if got := drain(b); !slices.Equal(got, c.want) {
			t.Errorf("%s: free in the order %v; want %v", c.what, got, c.want)
		}
	}
}

// TestTakeForgets: a block taken again has no hash until it is set.
func TestTakeForgets(t *testing.T) {
	b := NewBlocks(3, 4, false, UncachedFirst)
	table := drain(b)
	b.SetHash(0, 7)
	for want := range 2 {
		if err := b.Release(table[:1]); err != nil {
			t.Fatal(err)
		}
		if got := drain(b); !slices.Equal(got, []BlockID{0}) {
			t.Fatalf("round %d: %v is free; want block 0", want, got)
		}
	}
	// Had block 0 kept its hash, it would come behind block 1.
	if err := b.Release(table[:2]); err != nil {
		t.Fatal(err)
	}
	if got := drain(b); !slices.Equal(got, []BlockID{0, 1}) {
		t.Errorf("free in the order %v; want 0, then 1", got)
	}
}

func TestShare(t *testing.T) {
	b := NewBlocks(4, 4, false, Append)
	a, _ := b.Take(nil, 2) // 0 and 1
	b.Share(0)
	if err := b.Release(a); err != nil { // 1 is free, 0 has a holder left
		t.Fatal(err)
	}
	if b.Free() != 3 {
		t.Errorf("%d blocks are free; want 3", b.Free())
	}
	b.Share(3) // off the free list, out of its middle
	if b.Free() != 2 {
		t.Errorf("%d blocks are free; want 2", b.Free())
	}
	if got := drain(b); !slices.Equal(got, []BlockID{2, 1}) {
		t.Errorf("free in the order %v; want 2, 1", got)
	}
	if err := b.Release([]BlockID{0, 3}); err != nil {
		t.Fatal(err)
	}
	if got := drain(b); !slices.Equal(got, []BlockID{3, 0}) {
		t.Errorf("free in the order %v; want 3, 0", got)
	}
}

func TestReleaseOfFreeBlock(t *testing.T) {
	b := NewBlocks(4, 4, true, Append)
	table, _ := b.Take(nil, 2) // 1 and 2
	err := b.Release([]BlockID{1, 3, 2})
	if err == nil || err.Error() != "block 3 is released but nobody holds it" {
		t.Errorf("Release returns %v", err)
	}
	// 2 came before the fault and is free, 1 came behind it and is held.
	if b.Free() != 2 {
		t.Errorf("%d blocks are free; want 2", b.Free())
	}
	if err := b.Release(table[:1]); err != nil {
		t.Errorf("block 1 cannot be released: %v", err)
	}
	if err := b.Release(table[:1]); err == nil {
		t.Error("block 1 can be released twice")
	}
}

// TestFormsAgree does to a Pool and to Blocks the same.
func TestFormsAgree(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		total := rapid.Int64Range(2, 40).Draw(t, "blocks")
		size := rapid.Int64Range(1, 20).Draw(t, "block size")
		null := rapid.Bool().Draw(t, "null block")
		usable := total
		if null {
			usable--
		}
		pool := NewPool(usable, size)
		blocks := NewBlocks(total, size, null, rapid.SampledFrom([]FreeOrder{Append, UncachedFirst}).Draw(t, "order"))
		var tables [][]BlockID
		t.Repeat(map[string]func(*rapid.T){
			"take": func(t *rapid.T) {
				tokens := rapid.Int64Range(0, 8*size).Draw(t, "tokens")
				n := pool.Need(tokens)
				if n*size < tokens || n > 0 && (n-1)*size >= tokens || blocks.Need(tokens) != n {
					t.Fatalf("%d tokens need %d blocks of %d by count, %d by identity", tokens, n, size, blocks.Need(tokens))
				}
				table, ok := blocks.Take(nil, n)
				if ok != (n <= pool.Free()) || !ok && table != nil {
					t.Fatalf("taking %d blocks of %d: %v, %v", n, pool.Free(), table, ok)
				}
				if ok {
					pool.Take(n)
					for _, id := range table {
						if rapid.Bool().Draw(t, "hashed") {
							blocks.SetHash(id, 9)
						}
					}
					tables = append(tables, table)
				}
			},
			"release": func(t *rapid.T) {
				if len(tables) == 0 {
					t.Skip("nothing is held")
				}
				i := rapid.IntRange(0, len(tables)-1).Draw(t, "table")
				if err := blocks.Release(tables[i]); err != nil {
					t.Fatal(err)
				}
				pool.Give(int64(len(tables[i])))
				tables = slices.Delete(tables, i, i+1)
			},
			"": func(t *rapid.T) {
				held := map[BlockID]bool{}
				for _, table := range tables {
					for _, id := range table {
						if held[id] || id < 0 || int64(id) >= total || null && id == 0 {
							t.Fatalf("block %d of %d is handed out twice, or does not exist, or is the null block", id, total)
						}
						held[id] = true
					}
				}
				if n := int64(len(held)); pool.Used() != n || pool.Free() != usable-n || blocks.Free() != usable-n {
					t.Fatalf("%d of %d blocks are held; by count %d are used and %d free, by identity %d free",
						n, usable, pool.Used(), pool.Free(), blocks.Free())
				}
			},
		})
	})
}

// TestHolders counts holders beside Blocks: a block is free when it has none.
func TestHolders(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		const total = 6
		b := NewBlocks(total, 4, false, rapid.SampledFrom([]FreeOrder{Append, UncachedFirst}).Draw(t, "order"))
		var holders [total]int
		t.Repeat(map[string]func(*rapid.T){
			"take": func(t *rapid.T) {
				if table, ok := b.Take(nil, 1); ok {
					if holders[table[0]] != 0 {
						t.Fatalf("block %d is taken while it has %d holders", table[0], holders[table[0]])
					}
					holders[table[0]] = 1
				}
			},
			"share": func(t *rapid.T) {
				id := rapid.IntRange(0, total-1).Draw(t, "block")
				b.Share(BlockID(id))
				holders[id]++
			},
			"release": func(t *rapid.T) {
				id := rapid.IntRange(0, total-1).Draw(t, "block")
				if err := b.Release([]BlockID{BlockID(id)}); (err == nil) != (holders[id] > 0) {
					t.Fatalf("releasing block %d with %d holders: %v", id, holders[id], err)
				}
				holders[id] = max(0, holders[id]-1)
			},
			"": func(t *rapid.T) {
				free := int64(0)
				for _, n := range holders {
					if n == 0 {
						free++
					}
				}
				if b.Free() != free {
					t.Fatalf("%d blocks are free; the holders are %v", b.Free(), holders)
				}
			},
		})
	})
}
