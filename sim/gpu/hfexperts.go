package gpu

import (
	"encoding/json"
	"slices"
)

// experts reads the experts of a type that has them: how many, how wide, the
// shared ones, and which layers have a dense MLP instead.
func (c *hfConfig) experts(m *Model, kind hfType) {
	if kind.experts == "" || kind.latent && c.keys[kind.experts] == nil {
		return // a deepseek_v2 may be dense
	}
	m.Experts = c.count(kind.experts, 0)
	m.ExpertsPerToken = c.count("num_experts_per_tok", 0)
	m.ExpertWidth = c.count(kind.expertWidth, 0)
	if slices.Contains(kind.own, "n_shared_experts") {
		m.SharedWidth = c.countFrom0("n_shared_experts") * m.ExpertWidth
	} else if slices.Contains(kind.own, "shared_expert_intermediate_size") {
		m.SharedWidth = c.count("shared_expert_intermediate_size", 0)
	}
	where := c.sparsity(kind)
	if len(c.faults) > 0 {
		return
	}
	layers := min(m.Layers, 10_000) // the most that a model may have
	for i := range layers {
		if !where.holds(i) {
			m.DenseLayers++
		}
	}
	if m.DenseLayers == layers {
		c.fault(kind.experts, "is %d, but no layer has experts; see decoder_sparse_step, mlp_only_layers, first_k_dense_replace and moe_layer_freq", m.Experts)
	}
}

// sparsity says which layers have experts. In transformers it is, for qwen2_moe
// and qwen3_moe, every decoder_sparse_step-th layer that mlp_only_layers does not
// list, and for the others every moe_layer_freq-th from first_k_dense_replace on.
type sparsity struct {
	step, frequency, first int64
	dense                  []int64
}

// holds tells whether layer i, from 0, has experts.
func (s sparsity) holds(i int64) bool {
	return (i+1)%s.step == 0 && i%s.frequency == 0 && i >= s.first && !slices.Contains(s.dense, i)
}

// sparsity reads the keys that kind has; the others stand for every layer.
func (c *hfConfig) sparsity(kind hfType) sparsity {
	s := sparsity{step: 1, frequency: 1}
	for _, key := range kind.own {
		switch key {
		case "decoder_sparse_step":
			s.step = c.count(key, 1)
		case "moe_layer_freq":
			s.frequency = c.count(key, 1)
		case "first_k_dense_replace":
			s.first = c.countFrom0(key)
		case "mlp_only_layers":
			s.dense = c.layers(key)
		}
	}
	return s
}

// layers returns the list of numbers of layers under key, nil if it is absent.
func (c *hfConfig) layers(key string) []int64 {
	list, ok := c.keys[key].([]any)
	if !ok && c.keys[key] != nil {
		c.fault(key, "is %s; want a list of layers, from 0", found(c.keys[key]))
	}
	var out []int64
	for _, v := range list {
		text, _ := v.(json.Number)
		n, err := text.Int64()
		if err != nil || n < 0 {
			c.fault(key, "has %s; want numbers of layers, from 0", found(v))
			return nil
		}
		out = append(out, n)
	}
	return out
}

// countFrom0 returns the whole number under key, 0 if it is absent.
func (c *hfConfig) countFrom0(key string) int64 {
	if v := c.keys[key]; v == nil || v == json.Number("0") {
		return 0
	}
	return c.count(key, 0)
}
