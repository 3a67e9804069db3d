package kv

import (
	"fmt"
	"testing"

	"pgregory.net/rapid"
)

// text is the name of a sequence whose tokens are those of words, a hash each.
func text(own uint64, words ...uint64) *Name {
	n := &Name{Own: own, Chain: Chain{HashTokens: 1, Covered: int32(len(words))}}
	for i := range words { // a hash stands for all that comes before it too
		n.Hashes = append(n.Hashes, 31*uint64(i+1)+words[i])
		if i > 0 {
			n.Hashes[i] += 1009 * n.Hashes[i-1]
		}
	}
	return n
}

func ExampleRadix() {
	r := NewRadix()
	a, b := text(1, 7, 7, 7, 1), text(2, 7, 7, 9)
	end, had := r.Insert(a, 6) // two tokens of its own behind the four
	r.Lock(end)
	fmt.Println(had, r.Evictable())
	_, found := r.Match(b, 3) // cuts the node of a
	fmt.Println(found)
	r.Insert(b, 3)
	fmt.Println(r.Evictable(), r.Evict(5), r.Evictable()) // only what b alone has
	r.Unlock(end)
	fmt.Println(r.Evictable(), r.Evict(1), r.Evictable()) // a whole leaf goes
	// Output:
	// 0 0
	// 2
	// 1 1 0
	// 6 4 2
}

// TestRadixOldestFirst: leaves go by when they were last walked to.
func TestRadixOldestFirst(t *testing.T) {
	r := NewRadix()
	names := []*Name{text(1, 1), text(2, 2), text(3, 3)}
	for _, n := range names {
		r.Insert(n, 1)
	}
	r.Match(names[0], 1)
	r.Evict(1)
	for i, want := range []int32{1, 0, 1} {
		if _, found := r.Match(names[i], 1); found != want {
			t.Errorf("%d tokens of sequence %d are left; want %d", found, i, want)
		}
	}
}

// TestRadixCounts holds the counts against what the nodes say, whatever is done,
// and that what was put in is found until it is evicted.
func TestRadixCounts(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		r := NewRadix()
		var locked []NodeID
		own := uint64(0)
		name := func(t *rapid.T) (*Name, int32) {
			own++
			size := rapid.SampledFrom([]int32{1, 3}).Draw(t, "tokens of a hash")
			words := rapid.SliceOfN(rapid.Uint64Range(1, 2), 1, 6).Draw(t, "words")
			n := text(own, words...)
			n.HashTokens, n.Covered = size, size*int32(len(words))-rapid.Int32Range(0, size-1).Draw(t, "less")
			return n, n.Covered + rapid.Int32Range(0, 3).Draw(t, "own tokens")
		}
		t.Repeat(map[string]func(*rapid.T){
			"insert": func(t *rapid.T) {
				n, tokens := name(t)
				_, before := r.Match(n, tokens)
				end, had := r.Insert(n, tokens)
				if again, found := r.Match(n, tokens); had != before || found != tokens || again != end {
					t.Fatalf("of %d tokens %d were found and %d had; now %d are, and they end in %d, not %d", tokens, before, had, found, again, end)
				}
				if rapid.Bool().Draw(t, "lock") {
					r.Lock(end)
					locked = append(locked, end)
				}
			},
			"match": func(t *rapid.T) {
				n, tokens := name(t)
				r.Match(n, tokens)
			},
			"unlock": func(t *rapid.T) {
				if len(locked) == 0 {
					t.Skip("nothing is locked")
				}
				i := rapid.IntRange(0, len(locked)-1).Draw(t, "which")
				r.Unlock(locked[i])
				locked = append(locked[:i:i], locked[i+1:]...)
			},
			"evict": func(t *rapid.T) {
				n, before := rapid.Int64Range(0, 12).Draw(t, "tokens"), r.Evictable()
				if got := r.Evict(n); got < min(n, before) || before-got != r.Evictable() {
					t.Fatalf("of %d tokens %d were to go; %d did, and %d are left", before, n, got, r.Evictable())
				}
			},
			"": func(t *rapid.T) {
				evictable, leaves := int64(0), 0
				for _, id := range r.children {
					x := &r.nodes[id]
					if x.locks == 0 {
						evictable += int64(x.hi - x.lo)
						if x.kids == 0 {
							leaves++
						}
					}
					if x.lo >= x.hi || x.parent != 0 && r.nodes[x.parent].hi != x.lo || r.nodes[x.parent].locks < x.locks && x.parent != 0 {
						t.Fatalf("node %d, %+v, below %+v", id, x, r.nodes[x.parent])
					}
				}
				if evictable != r.Evictable() || leaves != len(r.leaves) {
					t.Fatalf("%d tokens can be evicted, and %d leaves; by the counts %d and %d", evictable, leaves, r.Evictable(), len(r.leaves))
				}
			},
		})
	})
}
