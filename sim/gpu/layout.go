package gpu

import (
	"errors"
	"fmt"
	"strings"
)

// layout is one GPU's share of a model of which a replica of tp GPUs runs each
// layer together (tensor parallelism).
type layout struct {
	tp      int64
	heads   int64 // query heads
	kvHeads int64 // KV heads, at least 1: with fewer than GPUs they are replicated
	qkv     int64 // columns of the query, key and value projection
	attnOut int64 // rows of the output projection of attention
	width   int64 // MLP width, or the width of one expert
	vocab   int64 // columns of the output projection, rounded up
}

// tensorParallel returns the numbers of GPUs a replica may have.
func tensorParallel() []int64 { return []int64{1, 2, 4, 8} }

// newLayout divides m among tp GPUs. The error joins everything that does not
// divide.
func newLayout(m *Model, tp int64) (layout, error) {
	allowed := false
	var names []string
	for _, n := range tensorParallel() {
		allowed = allowed || n == tp
		names = append(names, fmt.Sprint(n))
	}
	if !allowed {
		return layout{}, fmt.Errorf("tensor_parallel_size is %d; want one of %s", tp, strings.Join(names, ", "))
	}
	width, widthKey := m.Intermediate, "intermediate_size"
	if m.Experts > 0 {
		width, widthKey = m.ExpertWidth, "moe_intermediate_size"
	}
	var faults []error
	divides := func(key string, n int64) {
		if n%tp != 0 {
			faults = append(faults, fmt.Errorf("tensor_parallel_size %d does not divide %s %d of %s", tp, key, n, m.Name))
		}
	}
	divides("num_attention_heads", m.Heads)
	divides(widthKey, width)
	if m.KVHeads%tp != 0 && tp%m.KVHeads != 0 {
		faults = append(faults, fmt.Errorf("tensor_parallel_size %d neither divides num_key_value_heads %d of %s nor is a multiple of it",
			tp, m.KVHeads, m.Name))
	}
	if err := errors.Join(faults...); err != nil {
		return layout{}, err
	}
	l := layout{
		tp: tp, heads: m.Heads / tp, kvHeads: max(1, m.KVHeads/tp),
		width: width / tp, vocab: (m.Vocab + tp - 1) / tp,
	}
	l.qkv = (l.heads + 2*l.kvHeads) * m.HeadDim
	l.attnOut = l.heads * m.HeadDim
	return l, nil
}

// attn returns the attention of one GPU.
func (l layout) attn(m *Model, kv Format) AttnShape {
	return AttnShape{Heads: l.heads, KVHeads: l.kvHeads, HeadDim: m.HeadDim, KV: kv}
}

// experts returns the experts of one GPU.
func (l layout) experts(m *Model, weights Format) MoEShape {
	return MoEShape{Hidden: m.Hidden, Width: l.width, Experts: m.Experts, PerToken: m.ExpertsPerToken, WeightBytes: weights.BytesPerWeight()}
}

// gemms returns the matrix products of one layer, for one row, that a dense model
// runs: the projections to query, key and value, out of attention, and, unless the
// MLP is of experts, up and gate, and down.
func (l layout) gemms(m *Model, weights Format) []GEMMShape {
	b := weights.outsideExperts().BytesPerWeight()
	shapes := []GEMMShape{{1, l.qkv, m.Hidden, b}, {1, m.Hidden, l.attnOut, b}}
	if m.Experts == 0 {
		shapes = append(shapes, GEMMShape{1, 2 * l.width, m.Hidden, b}, GEMMShape{1, m.Hidden, l.width, b})
	}
	return shapes
}
