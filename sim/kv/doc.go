// Package kv is the paged KV cache of one engine, in blocks.
//
// It comes in three forms. Pool counts blocks, which is all that scheduling
// depends on while no prefix is shared, and costs nothing a token. Prefix is a
// prefix cache beside it: it knows what blocks hold and in which order free ones
// are used again, by runs of blocks with one history, not block by block. Blocks
// gives every block an identity, a reference count and a place on the free list,
// as the engines do; it is the slow form that the fast ones are tested against.
//
// Radix is the other kind of prefix cache, SGLang's: a tree that shares single tokens
// and evicts the leaf that was used longest ago.
package kv
