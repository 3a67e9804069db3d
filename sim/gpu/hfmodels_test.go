package gpu

import (
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

// deepseekConfig is the keys of DeepSeek-V3's config.json that matter, and some
// that do not.
const deepseekConfig = `{"model_type":"deepseek_v3","hidden_size":7168,"intermediate_size":18432,"max_position_embeddings":163840,
"num_attention_heads":128,"num_key_value_heads":128,"num_hidden_layers":61,"vocab_size":129280,"tie_word_embeddings":false,
"n_routed_experts":256,"n_shared_experts":1,"num_experts_per_tok":8,"moe_intermediate_size":2048,"first_k_dense_replace":3,"moe_layer_freq":1,
"q_lora_rank":1536,"kv_lora_rank":512,"qk_nope_head_dim":128,"qk_rope_head_dim":64,"v_head_dim":128,
"n_group":8,"topk_group":4,"num_nextn_predict_layers":1,"ep_size":1,"torch_dtype":"bfloat16",
"quantization_config":{"quant_method":"fp8","fmt":"e4m3","weight_block_size":[128,128]}}`

// qwenMoEConfig is a small qwen2_moe of 6 layers.
const qwenMoEConfig = `{"model_type":"qwen2_moe","hidden_size":2048,"intermediate_size":5632,"max_position_embeddings":8192,
"num_attention_heads":16,"num_key_value_heads":16,"num_hidden_layers":6,"vocab_size":151936,"num_experts":60,"num_experts_per_tok":4,
"moe_intermediate_size":1408,"shared_expert_intermediate_size":5632,"decoder_sparse_step":1,"sliding_window":32768,"use_sliding_window":false}`

func TestHFConfigOfDeepSeek(t *testing.T) {
	got, err := readHFConfig("DeepSeek-V3/config.json", []byte(deepseekConfig))
	if err != nil {
		t.Fatal(err)
	}
	want, err := LoadModel("DeepSeek-V3")
	if err != nil {
		t.Fatal(err)
	}
	want.IDs, want.WeightFormat = nil, "fp8"
	if d := cmp.Diff(want, got); d != "" {
		t.Error(d)
	}
}

// Where experts and windows are, by hand.
func TestHFConfigLayers(t *testing.T) {
	gemma := `{"model_type":"gemma3_text","hidden_size":2560,"intermediate_size":10240,"max_position_embeddings":131072,"head_dim":256,
"num_attention_heads":8,"num_key_value_heads":4,"num_hidden_layers":34,"vocab_size":262208,"sliding_window":1024}`
	for _, c := range []struct {
		name, text, old, new          string
		dense, shared, windows, qrank int64
	}{
		{"every layer sparse", qwenMoEConfig, "", "", 0, 5632, 0, 0},
		{"every second", qwenMoEConfig, `step":1`, `step":2`, 3, 5632, 0, 0},
		{"two listed", qwenMoEConfig, `step":1`, `step":1,"mlp_only_layers":[0,5]`, 2, 5632, 0, 0},
		{"second, but for one listed", qwenMoEConfig, `step":1`, `step":2,"mlp_only_layers":[1]`, 4, 5632, 0, 0},
		{"no shared", deepseekConfig, `"n_shared_experts":1`, `"n_shared_experts":null`, 3, 0, 0, 1536},
		{"two shared", deepseekConfig, `"n_shared_experts":1`, `"n_shared_experts":2`, 3, 4096, 0, 1536},
		{"none dense", deepseekConfig, `replace":3`, `replace":0`, 0, 2048, 0, 1536},
		{"every second of deepseek from 3 on", deepseekConfig, `freq":1`, `freq":2`, 32, 2048, 0, 1536},
		{"query at once", deepseekConfig, `"q_lora_rank":1536`, `"q_lora_rank":null`, 3, 2048, 0, 0},
		{"5 of 6 windows", gemma, "", "", 0, 0, 29, 0},
		{"3 of 4 windows", gemma, `window":1024`, `window":1024,"sliding_window_pattern":4`, 0, 0, 26, 0},
	} {
		m, err := readHFConfig("c.json", []byte(strings.Replace(c.text, c.old, c.new, 1)))
		if err != nil {
			t.Errorf("%s: %v", c.name, err)
			continue
		}
		if m.DenseLayers != c.dense || m.SharedWidth != c.shared || m.WindowLayers != c.windows || m.QRank != c.qrank {
			t.Errorf("%s: %d dense layers, shared width %d, %d window layers, query rank %d; want %+v", c.name, m.DenseLayers, m.SharedWidth, m.WindowLayers, m.QRank, c)
		}
	}
}

// Each fault names the key.
func TestHFConfigFaultsOfExpertsAndLatents(t *testing.T) {
	for _, c := range []struct{ text, old, new, want string }{
		{deepseekConfig, `"kv_lora_rank":512,`, ``, "kv_lora_rank is missing; want a whole number"},
		{deepseekConfig, `"v_head_dim":128`, `"v_dim":128`, "v_head_dim is missing; want a whole number"},
		{deepseekConfig, `"q_lora_rank":1536`, `"q_lora_rank":1536,"o_lora_rank":1024`, "o_lora_rank stands for a low-rank projection, which is not supported in a deepseek_v3"},
		{deepseekConfig, `"ep_size"`, `"index_topk":2048,"ep_size"`, "index_topk stands for sparse attention with an indexer, which is not supported in a deepseek_v3"},
		{deepseekConfig, `"n_routed_experts":256`, `"n_routed_experts":4`, "num_experts_per_tok is 8, more than num_local_experts, 4"},
		{deepseekConfig, `replace":3`, `replace":61`, "n_routed_experts is 256, but no layer has experts"},
		{deepseekConfig, `replace":3`, `replace":-1`, "first_k_dense_replace is -1; want a whole number"},
		{deepseekConfig, `freq":1`, `freq":0`, "moe_layer_freq is 0; want a whole number"},
		{qwenMoEConfig, `step":1`, `step":1,"mlp_only_layers":3`, "mlp_only_layers is 3; want a list of layers"},
		{qwenMoEConfig, `step":1`, `step":1,"mlp_only_layers":["a"]`, "mlp_only_layers has the string \"a\"; want numbers of layers"},
		{qwenMoEConfig, `step":1`, `step":1,"n_shared_experts":3`, "n_shared_experts stands for shared experts, which is not supported in a qwen2_moe"},
		{qwenMoEConfig, `"num_experts":60`, `"num_experts":-60`, "num_experts is -60; want a whole number"},
		{llamaConfig, `"hidden_size"`, `"mamba_d_state": 16, "hidden_size"`, "mamba_d_state stands for layers with a state in place of attention"},
		{llamaConfig, `"llama"`, `"gemma2"`, "head_dim is missing"},
	} {
		_, err := readHFConfig("c.json", []byte(strings.Replace(c.text, c.old, c.new, 1)))
		if err == nil || !strings.Contains(err.Error(), c.want) {
			t.Errorf("%s: got\n%v\nwant\n%s", c.new, err, c.want)
		}
	}
}
