// Package kv is the paged KV cache of one engine, in blocks.
//
// It comes in two forms. Pool counts blocks, which is all that scheduling
// depends on while no prefix is shared, and costs nothing a token. Blocks gives
// every block an identity, a reference count and a place on the free list, as
// the engines do; it is what a prefix cache builds on, and the slow form that
// the fast one is tested against.
package kv
