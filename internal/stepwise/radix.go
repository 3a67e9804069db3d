package stepwise

import "slices"

// token is what one token of a request is, with all that comes before it.
type token struct {
	hash, salt uint64
	size, lead int32
	own        *request
	position   int
}

// tokens returns the first n tokens of q.
func (q *request) tokens(n int) []token {
	c, out := q.chain, []token{}
	hash, end := 0, int(c.HashTokens)
	if c.LeadTokens > 0 {
		end = int(c.LeadTokens)
	}
	for i := range n {
		if len(c.Hashes) == 0 || i >= int(c.Covered) {
			out = append(out, token{own: q, position: i})
			continue
		}
		if i == end {
			hash, end = hash+1, end+int(c.HashTokens)
		}
		out = append(out, token{hash: c.Hashes[hash], salt: c.Salt, size: c.HashTokens, lead: c.LeadTokens, position: i})
	}
	return out
}

// branch is a node of a radix tree.
type branch struct {
	key   []token
	up    *branch
	down  []*branch
	locks int
	used  int
}

// radix is SGLang's radix tree, written out plainly.
type radix struct {
	root  branch
	clock int
}

// find goes down along key as far as it leads, cutting a node that it leads into.
func (r *radix) find(key []token) (at *branch, found int) {
	r.clock++
	at = &r.root
	for found < len(key) {
		i := slices.IndexFunc(at.down, func(b *branch) bool { return b.key[0] == key[found] })
		if i < 0 {
			break
		}
		b := at.down[i]
		b.used = r.clock
		n := 0
		for n < len(b.key) && found+n < len(key) && b.key[n] == key[found+n] {
			n++
		}
		found += n
		if n < len(b.key) {
			top := &branch{key: b.key[:n], up: at, down: []*branch{b}, locks: b.locks, used: r.clock}
			at.down[i], b.up, b.key = top, top, b.key[n:]
			return top, found
		}
		at = b
	}
	return at, found
}

// insert puts key into the tree, and returns where it ends and how much of it was there.
func (r *radix) insert(key []token) (at *branch, found int) {
	at, found = r.find(key)
	if found == len(key) {
		return at, found
	}
	leaf := &branch{key: key[found:], up: at, used: r.clock}
	at.down = append(at.down, leaf)
	return leaf, found
}

// lock changes the locks of b and all above it.
func (b *branch) lock(by int) {
	for ; b != nil && b.up != nil; b = b.up {
		b.locks += by
	}
}

// all calls f for each node below b.
func (b *branch) all(f func(*branch)) {
	for _, d := range b.down {
		f(d)
		d.all(f)
	}
}

// evictable returns the number of tokens that are not locked.
func (r *radix) evictable() (n int) {
	r.root.all(func(b *branch) {
		if b.locks == 0 {
			n += len(b.key)
		}
	})
	return n
}

// evict drops leaves until n tokens are dropped, and returns how many were.
func (r *radix) evict(n int) (dropped int) {
	for dropped < n {
		var oldest *branch
		r.root.all(func(b *branch) {
			if len(b.down) == 0 && b.locks == 0 && (oldest == nil || b.used < oldest.used) {
				oldest = b
			}
		})
		if oldest == nil {
			break
		}
		dropped += len(oldest.key)
		up := oldest.up
		i := slices.Index(up.down, oldest)
		up.down = slices.Delete(up.down, i, i+1)
	}
	return dropped
}
