package gpu

import (
	"errors"
	"fmt"
	"strings"
)

// layout is one GPU's share of a model.
type layout struct {
	tp        int64 // GPUs that run each layer together
	attention int64 // GPUs that share the attention of a sequence, tp or fewer
	groups    int64 // groups of such GPUs, tp/attention: each has sequences of its own
	ep        int64 // groups of GPUs that the experts are divided among

	heads   int64 // query heads
	kvHeads int64 // KV heads, at least 1: with fewer than GPUs they are replicated
	qkv     int64 // values of query, key and value that a token has
	attnOut int64 // rows of the output projection of attention
	width   int64 // MLP width, or the width of one expert
	shared  int64 // width of the shared experts, 0 without
	dense   int64 // MLP width of the dense layers among expert layers, 0 without
	vocab   int64 // columns of the output projection, rounded up
}

// tensorParallel returns the numbers of GPUs that can run each layer together.
func tensorParallel() []int64 { return []int64{1, 2, 4, 8} }

// newLayout divides m among tp GPUs, each operator over all of them. The error
// joins everything that does not divide.
func newLayout(m *Model, tp int64) (layout, error) {
	return divide(m, layout{tp: tp, attention: tp, groups: 1, ep: 1})
}

// divide fills in what each GPU of l holds of m.
func divide(m *Model, l layout) (layout, error) {
	if err := allowedTP(l.tp); err != nil {
		return layout{}, err
	}
	width, widthKey := m.Intermediate, "intermediate_size"
	if m.Experts > 0 {
		width, widthKey = m.ExpertWidth, "moe_intermediate_size"
	}
	var faults []error
	divides := func(what string, parts int64, key string, n int64) {
		if n%parts != 0 {
			faults = append(faults, fmt.Errorf("%s %d does not divide %s %d of %s", what, parts, key, n, m.Name))
		}
	}
	const tp = "tensor_parallel_size"
	attention := tp
	if l.groups > 1 {
		attention = "attention over a number of GPUs of"
	}
	divides(attention, l.attention, "num_attention_heads", m.Heads)
	if l.ep > 1 {
		divides("experts over a number of GPUs of", l.tp/l.ep, widthKey, width)
	} else {
		divides(tp, l.tp, widthKey, width)
	}
	divides(tp, l.tp, "shared_expert_intermediate_size", m.SharedWidth)
	if m.DenseLayers > 0 {
		divides(tp, l.tp, "intermediate_size", m.Intermediate)
		l.dense = m.Intermediate / l.tp
	}
	if m.KVRank == 0 && m.KVHeads%l.attention != 0 && l.attention%m.KVHeads != 0 {
		faults = append(faults, fmt.Errorf("%s %d neither divides num_key_value_heads %d of %s nor is a multiple of it",
			attention, l.attention, m.KVHeads, m.Name))
	}
	if err := errors.Join(faults...); err != nil {
		return layout{}, err
	}
	l.heads, l.kvHeads = m.Heads/l.attention, max(1, m.KVHeads/l.attention)
	l.width, l.shared = width/(l.tp/l.ep), m.SharedWidth/l.tp
	l.vocab = (m.Vocab + l.tp - 1) / l.tp
	if m.KVRank > 0 {
		return latentLayout(m, l), nil
	}
	l.qkv = (l.heads + 2*l.kvHeads) * m.HeadDim
	l.attnOut = l.heads * m.HeadDim
	return l, nil
}

// allowedTP returns the fault of a number of GPUs that no replica has.
func allowedTP(tp int64) error {
	var names []string
	for _, n := range tensorParallel() {
		if n == tp {
			return nil
		}
		names = append(names, fmt.Sprint(n))
	}
	return fmt.Errorf("tensor_parallel_size is %d; want one of %s", tp, strings.Join(names, ", "))
}

// A shape is a weight matrix on one GPU, n columns x k rows, of a projection.
type shape struct {
	name string // as models call it
	n, k int64
}

// attentionShapes returns the projections of the attention of one layer.
func (l layout) attentionShapes(m *Model) []shape {
	if m.KVRank > 0 {
		return latentShapes(m, l)
	}
	return []shape{{"qkv_proj", l.qkv, m.Hidden}, {"o_proj", m.Hidden, l.attnOut}}
}

// mlpShapes returns the two projections of a gated MLP of a width: gate and up
// as one, and down.
func mlpShapes(m *Model, width int64) []shape {
	return []shape{{"gate_up_proj", 2 * width, m.Hidden}, {"down_proj", m.Hidden, width}}
}

// sharedShapes returns the projections of the shared experts of one layer.
func (l layout) sharedShapes(m *Model) []shape {
	s := mlpShapes(m, l.shared)
	for i := range s {
		s[i].name = "shared_" + s[i].name
	}
	return s
}

// shapes returns the projections of m, each kind of layer once; the weights of
// experts are not among them.
func (l layout) shapes(m *Model) []shape {
	s := l.attentionShapes(m)
	if m.Experts == 0 {
		s = append(s, mlpShapes(m, l.width)...)
	}
	if l.shared > 0 {
		s = append(s, l.sharedShapes(m)...)
	}
	if l.dense > 0 {
		s = append(s, mlpShapes(m, l.dense)...)
	}
	return s
}

// experts returns the experts of one layer, before they are divided among groups.
func (l layout) experts(m *Model, weights Format) MoEShape {
	return MoEShape{Hidden: m.Hidden, Width: l.width, Experts: m.Experts, PerToken: m.ExpertsPerToken, WeightBytes: weights.BytesPerWeight()}
}
