package scheduler

import "servesim/sim/kv"

// hit is what the prefix cache has of a waiting sequence.
type hit struct {
	blocks, idle int32 // blocks from its first on, and how many of them nobody holds
	tokens       int32
}

// newCache returns the prefix cache that c describes, nil if there is none.
func newCache(c *Config) *kv.Prefix {
	if !c.EnablePrefixCaching || c.Policy == SGLang { // which has one of its own
		return nil
	}
	order := kv.Append
	if c.UncachedFirst {
		order = kv.UncachedFirst
	}
	return kv.NewPrefix(c.UsableBlocks(), int64(c.BlockSize), order)
}

// take takes n free blocks.
func (b *batch) take(n int64) {
	b.pool.Take(n)
	if b.cache != nil {
		b.cache.Take(n)
	}
}

// know makes the prefix cache ready for the sequence h, which is new.
func (b *batch) know(h Handle, c kv.Chain) {
	if b.cache == nil {
		return
	}
	for int(h) >= len(b.tables) {
		b.tables = append(b.tables, kv.Table{})
	}
	b.cache.Enter(&b.tables[h], c)
}

// forget ends what the prefix cache has of the sequence h alone, which has left.
func (b *batch) forget(h Handle) {
	if b.cache != nil {
		b.cache.Leave(&b.tables[h])
	}
}

// lookup looks up the waiting sequence h, all but its last token: something must
// be left to compute. It finds nothing for what has computed tokens already, as
// a ghost has.
func (b *batch) lookup(h Handle) (f hit) {
	s := &b.seqs[h]
	if b.cache == nil || s.computed > 0 {
		return f
	}
	f.blocks, f.idle = b.cache.Find(&b.tables[h], (s.known()-1)/b.BlockSize)
	f.tokens = f.blocks * b.BlockSize
	return f
}

// adopt makes the sequence h, which is admitted, hold what lookup has just found.
func (b *batch) adopt(h Handle, f hit) {
	if f.blocks == 0 {
		return
	}
	s := &b.seqs[h]
	b.cache.Hold(&b.tables[h])
	b.pool.Take(int64(f.idle))
	s.blocks, s.computed = f.blocks, f.tokens
}

// register makes the blocks of the first tokens tokens of h known to the prefix
// cache, as far as they are full.
func (b *batch) register(h Handle, tokens int32) {
	if b.cache != nil {
		b.cache.Register(&b.tables[h], tokens/b.BlockSize)
	}
}

// unseenTokens returns how many tokens of the decoding sequence s the scheduler
// has yet to see. With asynchronous scheduling it plans a step before it sees the
// token of the one before, and cannot register the block that this fills.
func (b *batch) unseenTokens(s *seq) int32 {
	if b.AsyncScheduling && (s.state != stalled || s.resumed) {
		return 1
	}
	return 0
}

// release frees the blocks of h, which has left the group if it was in it.
func (b *batch) release(h Handle) {
	s := &b.seqs[h]
	if b.cache == nil {
		b.pool.Give(int64(s.blocks))
		return
	}
	if s.state != prefill {
		b.register(h, s.computed-b.unseenTokens(s))
	}
	b.pool.Give(b.cache.Release(&b.tables[h], s.blocks))
}
