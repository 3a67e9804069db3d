package stepwise

import (
	"cmp"
	"slices"

	"servesim/sim/kv"
	"servesim/sim/workload"
)

// blockName is what a full block holds: the tokens that hash stands for, up to
// the end of the block, or those of one request that no hash covers.
type blockName struct {
	hash, salt uint64
	own        *request
	block      int // of its sequence, from 0
}

// cache is the full blocks of a pool by what they hold.
type cache struct {
	known map[blockName][]kv.BlockID // in the order in which they were registered
	names map[kv.BlockID]blockName
}

func newCache() *cache {
	return &cache{known: map[blockName][]kv.BlockID{}, names: map[kv.BlockID]blockName{}}
}

// chainOf returns what the tokens of w are.
func chainOf(w *workload.Request) kv.Chain {
	return kv.Chain{Hashes: slices.Clone(w.Blocks), HashTokens: w.BlockTokens, LeadTokens: w.LeadTokens, Covered: w.Covered()}
}

// name returns what block i of q, which is full, holds.
func (c *core) name(q *request, i int) blockName {
	last := (i+1)*int(c.BlockSize) - 1 // the block's last token
	if last >= int(q.chain.Covered) {
		return blockName{own: q, block: i}
	}
	hash := 0
	for end := int(cmp.Or(q.chain.LeadTokens, q.chain.HashTokens)); end <= last; end += int(q.chain.HashTokens) {
		hash++
	}
	return blockName{hash: q.chain.Hashes[hash], salt: q.chain.Salt, block: i}
}

// lookup returns the blocks that q, which waits, would find: those of all its
// tokens but the last, as far as one follows the other.
func (c *core) lookup(q *request) (found blockTable) {
	if c.cache == nil || q.computed > 0 || len(q.chain.Hashes) == 0 {
		return nil
	}
	for i := range (q.known() - 1) / int(c.BlockSize) {
		ids := c.cache.known[c.name(q, i)]
		if len(ids) == 0 {
			break
		}
		found = append(found, ids[0])
	}
	return found
}

// idle returns how many of found nobody holds.
func (c *core) idle(found blockTable) (n int64) {
	for _, id := range found {
		if !c.pool.Held(id) {
			n++
		}
	}
	return n
}

// adopt makes q, which is admitted, hold what lookup found.
func (c *core) adopt(q *request, found blockTable) {
	if len(found) == 0 {
		return
	}
	for _, id := range found {
		c.pool.Share(id)
	}
	q.blocks, q.hashed, q.computed = found, len(found), len(found)*int(c.BlockSize)
}

// register registers the blocks of the first tokens tokens of q that are full.
func (c *core) register(q *request, tokens int) {
	if c.cache == nil {
		return
	}
	for ; q.hashed < tokens/int(c.BlockSize); q.hashed++ {
		id, name := q.blocks[q.hashed], c.name(q, q.hashed)
		c.cache.known[name] = append(c.cache.known[name], id)
		c.cache.names[id] = name
		c.pool.SetHash(id, 1)
	}
}

// unregister forgets what blocks held that are taken anew.
func (c *core) unregister(taken blockTable) {
	if c.cache == nil {
		return
	}
	for _, id := range taken {
		name, ok := c.cache.names[id]
		if !ok {
			continue
		}
		delete(c.cache.names, id)
		ids := c.cache.known[name]
		i := slices.Index(ids, id)
		if c.cache.known[name] = slices.Delete(ids, i, i+1); len(ids) == 1 {
			delete(c.cache.known, name)
		}
	}
}

// flying returns 1 if the last step that was planned samples a token for q that
// the scheduler has not seen when it plans the next.
func (c *core) flying(q *request) int {
	if c.AsyncScheduling && q.sampled {
		return 1
	}
	return 0
}

// see lets the scheduler see the tokens of the step before the last one planned,
// with asynchronous scheduling, whose blocks it can register now.
func (c *core) see() {
	for _, q := range c.running {
		if c.AsyncScheduling && q.sampledBefore && !q.ended {
			c.register(q, q.computed-c.flying(q))
		}
	}
}

// planned notes for whom the steps p and the one before it sample tokens.
func (c *core) planned(p *plan) {
	for _, list := range [][]*request{c.running, c.waiting} {
		for _, q := range list {
			q.sampledBefore, q.sampled = q.sampled, false
		}
	}
	for _, it := range p.items {
		it.r.sampled = it.decode || it.last
	}
}
