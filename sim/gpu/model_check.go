package gpu

import (
	"errors"
	"fmt"
)

// check returns what is wrong with the shape itself, whatever the GPU.
func (m *Model) check(file string) error {
	var faults []error
	fault := func(format string, args ...any) {
		faults = append(faults, fmt.Errorf("%s: %s", file, fmt.Sprintf(format, args...)))
	}
	if m.Heads%m.KVHeads != 0 {
		fault("num_attention_heads is %d, not a multiple of num_key_value_heads, %d", m.Heads, m.KVHeads)
	}
	m.checkExperts(fault)
	m.checkLatent(fault)
	if (m.Window == 0) != (m.WindowLayers == 0) {
		fault("sliding_window and num_sliding_layers belong together: give both or none")
	} else if m.WindowLayers > m.Layers {
		fault("num_sliding_layers is %d, more than num_hidden_layers, %d", m.WindowLayers, m.Layers)
	}
	for _, big := range []struct {
		key        string
		value, max int64
	}{
		{"num_hidden_layers", m.Layers, 10_000}, {"hidden_size", m.Hidden, 1 << 20},
		{"num_attention_heads", m.Heads, 1 << 14}, {"head_dim", m.HeadDim, 1 << 14},
		{"intermediate_size", m.Intermediate, 1 << 22}, {"vocab_size", m.Vocab, 1 << 24},
		{"num_local_experts", m.Experts, 1 << 14}, {"moe_intermediate_size", m.ExpertWidth, 1 << 22},
		{"shared_expert_intermediate_size", m.SharedWidth, 1 << 22},
		{"q_lora_rank", m.QRank, 1 << 20}, {"kv_lora_rank", m.KVRank, 1 << 20}, {"v_head_dim", m.VDim, 1 << 14},
	} {
		if big.value > big.max {
			fault("%s is %d; want at most %d", big.key, big.value, big.max)
		}
	}
	mlp := 3 * float64(m.Hidden) * float64(max(m.Intermediate, m.SharedWidth, max(1, m.Experts)*m.ExpertWidth))
	if n := float64(m.Layers) * mlp; n > maxParameters && len(faults) == 0 {
		fault("the sizes are those of a model of %.2g parameters; want at most %.0g", n, maxParameters)
	}
	return errors.Join(faults...)
}

// maxParameters is the size of the largest model, so that bytes can be counted in
// 64 bits.
const maxParameters = 1e15

// checkExperts tells fault what is wrong with the expert layers.
func (m *Model) checkExperts(fault func(format string, args ...any)) {
	if (m.Experts == 0) != (m.ExpertsPerToken == 0) || (m.Experts == 0) != (m.ExpertWidth == 0) {
		fault("num_local_experts, num_experts_per_tok and moe_intermediate_size belong together: give all three or none")
	} else if m.ExpertsPerToken > m.Experts {
		fault("num_experts_per_tok is %d, more than num_local_experts, %d", m.ExpertsPerToken, m.Experts)
	}
	if m.Experts == 0 && m.SharedWidth > 0 {
		fault("shared_expert_intermediate_size is %d, but there are no experts; give num_local_experts too", m.SharedWidth)
	}
	if m.Experts == 0 && m.DenseLayers > 0 {
		fault("num_dense_layers is %d, but there are no experts; give num_local_experts too", m.DenseLayers)
	} else if m.DenseLayers > 0 && m.DenseLayers >= m.Layers {
		fault("num_dense_layers is %d of num_hidden_layers, %d, which leaves no layer with experts", m.DenseLayers, m.Layers)
	}
}

// checkLatent tells fault what is wrong with latent attention.
func (m *Model) checkLatent(fault func(format string, args ...any)) {
	if m.KVRank == 0 {
		if m.QRank > 0 || m.NopeDim > 0 || m.RopeDim > 0 || m.VDim > 0 {
			fault("q_lora_rank, qk_nope_head_dim, qk_rope_head_dim and v_head_dim belong to multi-head latent attention: give kv_lora_rank too")
		}
		return
	}
	if m.NopeDim == 0 || m.RopeDim == 0 || m.VDim == 0 {
		fault("kv_lora_rank is %d, so qk_nope_head_dim, qk_rope_head_dim and v_head_dim must be given too", m.KVRank)
		return
	}
	if m.HeadDim != m.NopeDim+m.RopeDim {
		fault("head_dim is %d; with multi-head latent attention it must be qk_nope_head_dim + qk_rope_head_dim, %d", m.HeadDim, m.NopeDim+m.RopeDim)
	}
	if m.KVHeads != m.Heads {
		fault("num_key_value_heads is %d; with multi-head latent attention it must be num_attention_heads, %d", m.KVHeads, m.Heads)
	}
	if m.WindowLayers > 0 {
		fault("multi-head latent attention with a sliding window is not supported; take sliding_window out")
	}
}
