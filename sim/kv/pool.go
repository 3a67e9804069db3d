package kv

// Pool counts the KV blocks of an engine.
type Pool struct {
	blockSize int64
	usable    int64
	free      int64
}

// NewPool returns a pool of usable blocks of blockSize tokens, all free. Both
// must be positive.
func NewPool(usable, blockSize int64) Pool {
	return Pool{blockSize: blockSize, usable: usable, free: usable}
}

// Need returns the number of blocks that tokens tokens occupy.
func (p *Pool) Need(tokens int64) int64 { return (tokens + p.blockSize - 1) / p.blockSize }

// Usable returns the number of blocks that sequences can hold.
func (p *Pool) Usable() int64 { return p.usable }

// Free returns the number of blocks that no sequence holds.
func (p *Pool) Free() int64 { return p.free }

// Used returns the number of blocks that sequences hold.
func (p *Pool) Used() int64 { return p.usable - p.free }

// Take takes n free blocks. The caller has made sure that there are as many.
func (p *Pool) Take(n int64) { p.free -= n }

// Give gives n blocks back.
func (p *Pool) Give(n int64) { p.free += n }
