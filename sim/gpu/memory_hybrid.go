package gpu

// A HybridPool is the KV blocks of one GPU as vLLM's hybrid KV cache manager
// (v0.10 and later, vllm/v1/core/kv_cache_utils.py) counts them for a model with
// sliding-window layers. It divides the layers into groups of GroupLayers, each of
// one kind, and a block holds BlockSize tokens of the layers of one group. A
// sequence takes blocks for all of its tokens from each full group, and from each
// window group only those that the window still reaches.
type HybridPool struct {
	GroupLayers  int64 `json:"group_layers"`
	FullGroups   int64 `json:"full_groups"`
	WindowGroups int64 `json:"window_groups"`
	Blocks       int64 `json:"blocks"` // in all, of one GPU, vLLM's null block included
	window       int64 // tokens
	blockSize    int64 // tokens
}

// newHybridPool returns the pool of a stage that leaves l.KVBytes; nil if it has
// no window layers. A group has as many layers as the kind of which there are
// fewer, or as the other if that is less than a quarter more.
func newHybridPool(m *Model, l *Ledger, bytesPerLayer int64) *HybridPool {
	window, full := m.WindowLayers, m.Layers-m.WindowLayers
	if window == 0 {
		return nil
	}
	few, many := min(window, full), max(window, full)
	size := few
	if few == 0 || 4*many < 5*few {
		size = many
	}
	up := func(n int64) int64 { return (n + size - 1) / size }
	return &HybridPool{
		GroupLayers: size, FullGroups: up(full), WindowGroups: up(window),
		Blocks: max(0, l.KVBytes/(size*bytesPerLayer*l.BlockSize)),
		window: m.Window, blockSize: l.BlockSize,
	}
}

// BlocksOf returns the blocks that a sequence of tokens tokens holds while it
// decodes.
func (p *HybridPool) BlocksOf(tokens int64) int64 { return p.blocksOf(tokens, p.window) }

// blocksOf returns the blocks of a sequence whose window groups hold reach tokens.
func (p *HybridPool) blocksOf(tokens, reach int64) int64 {
	up := func(n int64) int64 { return (n + p.blockSize - 1) / p.blockSize }
	all := up(tokens)
	held := min(all, up(reach-1)+1) // a window may begin in the middle of a block
	return p.FullGroups*all + p.WindowGroups*held
}

// Tokens returns the GPU KV cache size that vLLM v0.10 and v0.11 print: the tokens
// for which every group has blocks.
func (p *HybridPool) Tokens() int64 {
	return p.Blocks / (p.FullGroups + p.WindowGroups) * p.blockSize
}

// Concurrency returns the maximum concurrency that vLLM prints for requests of
// tokens tokens: a window group then holds the window and one step's tokens,
// batched.
func (p *HybridPool) Concurrency(tokens, batched int64) float64 {
	return float64(p.Blocks) / float64(p.blocksOf(tokens, p.window+batched))
}

// Sequences returns how many sequences of tokens tokens fit in the replica while
// they decode, as the hybrid KV cache manager counts if there are window layers.
func (l *Ledger) Sequences(tokens int64) int64 {
	if l.Hybrid != nil && l.override == 0 {
		return l.Groups * (l.Hybrid.Blocks / l.Hybrid.BlocksOf(tokens))
	}
	return l.Blocks() / ((tokens + l.BlockSize - 1) / l.BlockSize)
}
