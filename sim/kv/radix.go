package kv

import "slices"

// Radix is a prefix cache that shares single tokens: a tree whose nodes each hold
// a run of tokens, with locks, and the instant at which each was last used. What
// no lock holds can be evicted, the leaf that was used longest ago first.
//
// It follows SGLang (python/sglang/srt/mem_cache/radix_cache.py). It knows no
// slots: who calls it counts those that are free. Time is the number of walks.
type Radix struct {
	nodes     []radixNode
	spare     []NodeID
	children  map[edge]NodeID
	leaves    []NodeID // a heap of the unlocked leaves, by when they were used
	walks     int64
	evictable int64
}

// NodeID names a node of a Radix; the zero NodeID is the root, which holds nothing.
type NodeID int32

// Name says what the tokens of one sequence are: those that its Chain covers, and
// behind them its own, which are like those of no other.
type Name struct {
	Chain
	// Own is not that of another sequence.
	Own uint64
}

// radixNode is the tokens from lo up to hi of the sequence that name names. Its
// Hashes begin with that of number first.
type radixNode struct {
	name   Name
	first  int32
	lo, hi int32
	parent NodeID
	kids   int32
	locks  int32
	heap   int32 // place in leaves, -1 if it has none
	used   int64
}

// edge is where a node hangs and the first of its tokens.
type edge struct {
	parent        NodeID
	tokens, lead  int32 // of a hash; tokens is 0 if it is a token of one sequence alone
	content, salt uint64
}

// NewRadix returns an empty cache.
func NewRadix() *Radix {
	return &Radix{nodes: []radixNode{{heap: -1}}, children: map[edge]NodeID{}}
}

// Reset empties r and keeps its memory.
func (r *Radix) Reset() {
	r.nodes, r.spare, r.leaves, r.evictable = r.nodes[:1], r.spare[:0], r.leaves[:0], 0
	r.nodes[0] = radixNode{heap: -1}
	clear(r.children)
}

// Evictable returns the number of tokens that no lock holds.
func (r *Radix) Evictable() int64 { return r.evictable }

// index returns the number of the hash that covers token at of c.
func (c *Chain) index(at int32) int32 {
	if lead := c.LeadTokens; lead > 0 {
		if at < lead {
			return 0
		}
		return (at-lead)/c.HashTokens + 1
	}
	return at / c.HashTokens
}

// end returns the first token behind the hash of number i of c.
func (c *Chain) end(i int32) int32 {
	if c.LeadTokens > 0 {
		return c.LeadTokens + i*c.HashTokens
	}
	return (i + 1) * c.HashTokens
}

// covered returns the number of tokens that the hashes of c tell of.
func (c *Chain) covered() int32 {
	if c.HashTokens == 0 {
		return 0
	}
	return c.Covered
}

// edgeOf returns the edge below parent of what begins with token at of n, of whose
// hashes those before first are missing.
func edgeOf(parent NodeID, n *Name, first, at int32) edge {
	if at >= n.covered() {
		return edge{parent: parent, content: n.Own}
	}
	return edge{parent: parent, tokens: n.HashTokens, lead: n.LeadTokens, content: n.Hashes[n.index(at)-first], salt: n.Salt}
}

// common returns how far, from token at on and up to token to, what x holds is
// what n names.
func (x *radixNode) common(n *Name, at, to int32) int32 {
	have, want := x.name.covered(), n.covered()
	for at < to {
		switch {
		case at < have && at < want:
			i := n.index(at)
			if x.name.HashTokens != n.HashTokens || x.name.LeadTokens != n.LeadTokens || x.name.Salt != n.Salt ||
				x.name.Hashes[i-x.first] != n.Hashes[i] {
				return at
			}
			at = min(to, n.end(i), have, want)
		case at >= have && at >= want && x.name.Own == n.Own:
			return to
		default:
			return at
		}
	}
	return at
}

// walk goes down from the root as far as the first tokens of n lead, marks all that
// it enters as used, and returns where it ends and how many tokens that are. What
// it enters in part is cut there.
func (r *Radix) walk(n *Name, tokens int32) (at NodeID, found int32) {
	r.walks++
	for found < tokens {
		kid, ok := r.children[edgeOf(at, n, 0, found)]
		if !ok {
			break
		}
		r.use(kid)
		hi := r.nodes[kid].hi
		found = r.nodes[kid].common(n, found, min(tokens, hi))
		if found < hi {
			return r.split(kid, found), found
		}
		at = kid
	}
	return at, found
}

// Match returns the node in which the longest run of the first tokens of n that the
// cache has ends, and its length.
func (r *Radix) Match(n *Name, tokens int32) (NodeID, int32) { return r.walk(n, tokens) }

// Insert puts the first tokens of n into the cache. It returns the node in which
// they end, and how many of them the cache had.
func (r *Radix) Insert(n *Name, tokens int32) (end NodeID, had int32) {
	at, had := r.walk(n, tokens)
	if had == tokens {
		return at, had
	}
	x := radixNode{name: *n, lo: had, hi: tokens, parent: at, heap: -1, used: r.walks}
	x.name.Hashes = nil
	if shared := min(tokens, n.covered()); had < shared {
		x.first = n.index(had)
		x.name.Hashes = slices.Clone(n.Hashes[x.first : n.index(shared-1)+1])
	}
	id := r.add(x)
	r.children[edgeOf(at, &x.name, x.first, had)] = id
	if at != 0 {
		r.nodes[at].kids++
		r.unlist(at)
	}
	r.evictable += int64(tokens - had)
	r.list(id)
	return id, had
}

// add returns the ID of a new node.
func (r *Radix) add(x radixNode) NodeID {
	if n := len(r.spare); n > 0 {
		id := r.spare[n-1]
		r.spare = r.spare[:n-1]
		r.nodes[id] = x
		return id
	}
	r.nodes = append(r.nodes, x)
	return NodeID(len(r.nodes) - 1)
}

// split cuts node id at token at, and returns the new node above it.
func (r *Radix) split(id NodeID, at int32) NodeID {
	x := r.nodes[id]
	upper := r.add(radixNode{name: x.name, first: x.first, lo: x.lo, hi: at, parent: x.parent, kids: 1, locks: x.locks, heap: -1, used: r.walks})
	r.children[edgeOf(x.parent, &x.name, x.first, x.lo)] = upper
	r.children[edgeOf(upper, &x.name, x.first, at)] = id
	r.nodes[id].lo, r.nodes[id].parent = at, upper
	return upper
}

// Lock keeps node id and all above it from being evicted.
func (r *Radix) Lock(id NodeID) {
	for ; id != 0; id = r.nodes[id].parent {
		x := &r.nodes[id]
		if x.locks++; x.locks == 1 {
			r.evictable -= int64(x.hi - x.lo)
			r.unlist(id)
		}
	}
}

// Unlock takes back one Lock of node id.
func (r *Radix) Unlock(id NodeID) {
	for ; id != 0; id = r.nodes[id].parent {
		x := &r.nodes[id]
		if x.locks--; x.locks == 0 {
			r.evictable += int64(x.hi - x.lo)
			if x.kids == 0 {
				r.list(id)
			}
		}
	}
}

// Evict drops leaves, the one used longest ago first, until at least n tokens are
// dropped or all is locked, and returns how many were.
func (r *Radix) Evict(n int64) (dropped int64) {
	for dropped < n && len(r.leaves) > 0 {
		id := r.leaves[0]
		r.unlist(id)
		x := &r.nodes[id]
		dropped += int64(x.hi - x.lo)
		delete(r.children, edgeOf(x.parent, &x.name, x.first, x.lo))
		if up := &r.nodes[x.parent]; x.parent != 0 {
			if up.kids--; up.kids == 0 && up.locks == 0 {
				r.list(x.parent)
			}
		}
		x.name.Hashes = nil
		r.spare = append(r.spare, id)
	}
	r.evictable -= dropped
	return dropped
}

// use marks node id as used by the walk under way.
func (r *Radix) use(id NodeID) {
	x := &r.nodes[id]
	x.used = r.walks
	if x.heap >= 0 {
		r.sink(x.heap)
	}
}

// list puts node id among the unlocked leaves.
func (r *Radix) list(id NodeID) {
	r.nodes[id].heap = int32(len(r.leaves))
	r.leaves = append(r.leaves, id)
	r.lift(r.nodes[id].heap)
}

// unlist takes node id from the unlocked leaves, if it is among them.
func (r *Radix) unlist(id NodeID) {
	i, last := r.nodes[id].heap, int32(len(r.leaves)-1)
	if i < 0 {
		return
	}
	r.nodes[id].heap = -1
	moved := r.leaves[last]
	r.leaves = r.leaves[:last]
	if i == last {
		return
	}
	r.leaves[i], r.nodes[moved].heap = moved, i
	r.lift(i)
	r.sink(r.nodes[moved].heap)
}

func (r *Radix) before(i, j int32) bool {
	return r.nodes[r.leaves[i]].used < r.nodes[r.leaves[j]].used
}

func (r *Radix) swap(i, j int32) {
	r.leaves[i], r.leaves[j] = r.leaves[j], r.leaves[i]
	r.nodes[r.leaves[i]].heap, r.nodes[r.leaves[j]].heap = i, j
}

func (r *Radix) lift(i int32) {
	for ; i > 0 && r.before(i, (i-1)/2); i = (i - 1) / 2 {
		r.swap(i, (i-1)/2)
	}
}

func (r *Radix) sink(i int32) {
	for n := int32(len(r.leaves)); ; {
		least := i
		for c := 2*i + 1; c <= 2*i+2 && c < n; c++ {
			if r.before(c, least) {
				least = c
			}
		}
		if least == i {
			return
		}
		r.swap(i, least)
		i = least
	}
}
