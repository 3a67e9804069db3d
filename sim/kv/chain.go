package kv

// A Chain says what the tokens of a sequence are, as far as another sequence may
// begin with the same.
type Chain struct {
	// Hashes stand each for a block of tokens and everything before it. Tokens
	// behind the last of them are like those of no other sequence. Without any,
	// nobody knows what the tokens are, and nothing of them is ever found.
	Hashes []uint64
	// HashTokens is the number of tokens that one of Hashes covers, which need
	// not be the size of a block of the cache; LeadTokens, if it is not 0, that of
	// the first one; Covered that of all of them.
	HashTokens, LeadTokens, Covered int32
	// Salt keeps sequences apart: the same hash under another salt is another.
	Salt uint64
}

// shared returns how many blocks of blockSize tokens the hashes tell the content
// of: those that end in a block of a hash.
func (c *Chain) shared(blockSize int64) int32 {
	if len(c.Hashes) == 0 {
		return 0
	}
	return int32(int64(c.Covered) / blockSize)
}

// hash returns the index of the hash in whose block the given block of blockSize
// tokens ends, and the first block that ends behind it.
func (c *Chain) hash(block int32, blockSize int64) (i int, end int32) {
	last, lead := (int64(block)+1)*blockSize-1, int64(c.LeadTokens)
	if lead == 0 {
		lead = int64(c.HashTokens)
	}
	behind := lead // the first token behind the hash
	if last >= lead {
		i = int((last-lead)/int64(c.HashTokens)) + 1
		behind += int64(i) * int64(c.HashTokens)
	}
	return i, int32(behind / blockSize)
}
