package gpu

import (
	"fmt"
	"maps"
	"slices"
	"strings"
)

// hfType is a model_type of Hugging Face that this package understands.
type hfType struct {
	name        string
	experts     string   // the key that counts the experts, or empty
	expertWidth string   // the key of their width
	own         []string // keys of hfForeign that this type has and hfConfig reads
	latent      bool     // its attention is multi-head latent attention
	headDim     bool     // transformers gives head_dim no value that follows from others
	tied        bool     // what tie_word_embeddings is if absent
	windowed    bool     // sliding_window alone is for all layers
	pattern     int64    // what sliding_window_pattern is if absent, or 0
}

// hfTypes returns the model types: transformers whose layers have grouped-query
// or latent attention and a gated MLP or experts. What else they differ in, norms
// before or after, norms of query and key, biases, caps of logits, rotary scaling,
// does not change the cost of a step in this model.
func hfTypes() []hfType {
	routed := []string{"n_routed_experts", "n_shared_experts"}
	latent := append([]string{"kv_lora_rank", "q_lora_rank"}, routed...)
	const width = "moe_intermediate_size"
	return []hfType{
		{name: "llama"},
		{name: "mistral", windowed: true},
		{name: "qwen2"},
		{name: "qwen3"},
		{name: "olmo2"},
		{name: "granite"},
		{name: "gemma2", headDim: true, tied: true, pattern: 2},
		{name: "gemma3_text", headDim: true, tied: true, pattern: 6},
		{name: "cohere2", tied: true, pattern: 4},
		{name: "mixtral", experts: "num_local_experts", expertWidth: "intermediate_size", windowed: true},
		{name: "qwen2_moe", experts: "num_experts", expertWidth: width, own: []string{"mlp_only_layers", "decoder_sparse_step", "shared_expert_intermediate_size"}},
		{name: "qwen3_moe", experts: "num_experts", expertWidth: width, own: []string{"mlp_only_layers", "decoder_sparse_step"}},
		{name: "gpt_oss", experts: "num_local_experts", expertWidth: "intermediate_size"},
		{name: "glm4_moe", experts: "n_routed_experts", expertWidth: width, own: append([]string{"first_k_dense_replace"}, routed...)},
		{name: "deepseek_v2", experts: "n_routed_experts", expertWidth: width, own: append([]string{"first_k_dense_replace", "moe_layer_freq"}, latent...), latent: true},
		{name: "deepseek_v3", experts: "n_routed_experts", expertWidth: width, own: append([]string{"first_k_dense_replace", "moe_layer_freq"}, latent...), latent: true},
		{name: "kimi_k2", experts: "n_routed_experts", expertWidth: width, own: append([]string{"first_k_dense_replace", "moe_layer_freq"}, latent...), latent: true},
	}
}

// hfForeign returns keys that a config must not set unless its type has them,
// because they change what is computed, and what each stands for.
func hfForeign() [][2]string {
	return [][2]string{
		{"kv_lora_rank", "multi-head latent attention (MLA)"},
		{"q_lora_rank", "multi-head latent attention (MLA)"},
		{"n_routed_experts", "shared and routed experts"},
		{"n_shared_experts", "shared experts"},
		{"shared_expert_intermediate_size", "shared experts"},
		{"first_k_dense_replace", "dense layers before the expert layers"},
		{"mlp_only_layers", "dense layers among the expert layers"},
		{"interleave_moe_layer_step", "dense layers among the expert layers"},
		{"text_config", "a multimodal model"},
		{"vision_config", "a multimodal model"},
		{"is_encoder_decoder", "an encoder"},
		{"attn_layer_period", "layers without attention"},
		{"attention_chunk_size", "chunked local attention"},
		{"kv_sharing_layers", "layers that share their KV cache"},
		{"num_kv_shared_layers", "layers that share their KV cache"},
		{"num_zero_experts", "experts that compute nothing"},
		{"hc_mult", "several residual streams"},
	}
}

// hfForeignStem returns what a key stands for by its beginning or end, or nothing.
func hfForeignStem(key string) string {
	switch {
	case strings.HasSuffix(key, "_lora_rank"):
		return "a low-rank projection"
	case strings.HasPrefix(key, "index_"):
		return "sparse attention with an indexer"
	case strings.HasPrefix(key, "linear_attn"), strings.HasPrefix(key, "linear_num"), strings.HasPrefix(key, "linear_key"), strings.HasPrefix(key, "mamba_"), strings.HasPrefix(key, "ssm_"):
		return "layers with a state in place of attention"
	}
	return ""
}

// kind returns the model type, and ok false, with faults, if it or a key is not
// supported.
func (c *hfConfig) kind() (kind hfType, ok bool) {
	var names []string
	for _, t := range hfTypes() {
		names = append(names, t.name)
		if c.keys["model_type"] == t.name {
			kind, ok = t, true
		}
	}
	told := map[string]bool{}
	foreign := func(key, what string) {
		told[key] = true
		if !slices.Contains(kind.own, key) && says(c.keys[key]) {
			c.fault(key, "stands for %s, which is not supported%s", what, kind.where())
		}
	}
	for _, f := range hfForeign() {
		foreign(f[0], f[1])
	}
	for _, key := range slices.Sorted(maps.Keys(c.keys)) {
		if what := hfForeignStem(key); what != "" && !told[key] {
			foreign(key, what)
		}
	}
	if !ok {
		found := "missing"
		if v, has := c.keys["model_type"]; has {
			found = fmt.Sprintf("%q", fmt.Sprint(v))
		}
		c.fault("model_type", "is %s; supported are %s", found, strings.Join(names, ", "))
	}
	return kind, ok && len(c.faults) == 0
}

// where says of which type a key is not supported, if that is known.
func (t hfType) where() string {
	if t.name == "" {
		return ""
	}
	return " in a " + t.name
}

// says tells whether a value sets its key: null, false and an empty list don't.
func says(value any) bool {
	switch v := value.(type) {
	case nil:
		return false
	case bool:
		return v
	case []any:
		return len(v) > 0
	}
	return true
}
