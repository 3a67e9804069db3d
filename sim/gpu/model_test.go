package gpu

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"servesim/models"
)

// Every file is reachable by its name, by its lower-case file name and by each
// of its ids, and no two share one.
func TestShippedModels(t *testing.T) {
	seen := map[string]string{}
	for _, file := range ModelNames() {
		m, err := LoadModel(file)
		if err != nil {
			t.Error(err)
			continue
		}
		if strings.ToLower(m.Name) != file || len(m.IDs) == 0 {
			t.Errorf("%s.toml is called %q and has ids %q", file, m.Name, m.IDs)
		}
		for _, id := range m.IDs {
			if other, ok := seen[strings.ToLower(id)]; ok {
				t.Errorf("%s is in %s and %s", id, other, file)
			}
			seen[strings.ToLower(id)] = file
			if got, err := LoadModel(strings.ToUpper(id)); err != nil || got.Name != m.Name {
				t.Errorf("%s: %+v, %v", id, got, err)
			}
		}
	}
}

// Parameter counts as the model cards give them, in billions.
func TestWeightsOfShippedModels(t *testing.T) {
	for name, billions := range map[string]float64{
		"Llama-3.1-8B": 8.03, "Llama-3.3-70B": 70.6, "Llama-3.1-405B": 405.9, "Qwen3-8B": 8.2, "Qwen3-32B": 32.8,
		"Mistral-7B": 7.25, "Mixtral-8x7B": 46.7, "Qwen3-30B-A3B": 30.5, "gpt-oss-20b": 20.9, "gpt-oss-120b": 116.8,
		"Llama-2-70B": 69.0, "Llama-3.1-70B": 70.6, "Qwen3-14B": 14.8, "Yi-34B": 34.4, "DeepSeek-V3": 671, "DeepSeek-R1": 671,
	} {
		m, err := LoadModel(name)
		if err != nil {
			t.Fatal(err)
		}
		l, err := newLayout(m, 1)
		if err != nil {
			t.Fatal(err)
		}
		if got := weightBytes(m, l, BF16) / 2e9; got < billions*0.995 || got > billions*1.005 {
			t.Errorf("%s has %.2f billion parameters, its card says %v", name, got, billions)
		}
	}
}

func TestModelFaults(t *testing.T) {
	text, err := models.FS.ReadFile("llama-3.1-8b.toml")
	if err != nil {
		t.Fatal(err)
	}
	for _, c := range []struct{ old, new, want string }{
		{"num_hidden_layers = 32", "n_layers = 32", "m.toml:7: n_layers: unknown key; did you mean \"num_hidden_layers\"?\nm.toml: num_hidden_layers: missing; give a whole number from 1 to 1073741824"},
		{"num_attention_heads = 32", "num_attention_heads = 30", "m.toml: num_attention_heads is 30, not a multiple of num_key_value_heads, 8"},
		{"num_hidden_layers = 32", "num_hidden_layers = 0", "m.toml:7: num_hidden_layers: found 0; must be a whole number from 1 to 1073741824"},
		{"num_hidden_layers = 32", "num_hidden_layers = 1000000", "m.toml: num_hidden_layers is 1000000; want at most 10000"},
		{"tie_word_embeddings = false", "tie_word_embeddings = 0", "m.toml:14: tie_word_embeddings: found 0; must be true or false"},
		{"tie_word_embeddings = false", "tie_word_embeddings = false\nsliding_window = 128", "m.toml: sliding_window and num_sliding_layers belong together: give both or none"},
		{"tie_word_embeddings = false", "tie_word_embeddings = false\nnum_local_experts = 8", "m.toml: num_local_experts, num_experts_per_tok and moe_intermediate_size belong together: give all three or none"},
		{"tie_word_embeddings = false", "tie_word_embeddings = false\nweight_format = \"awq\"", "m.toml: weight_format is \"awq\"; want one of bf16, fp8, int8, fp4 and mxfp4"},
		{"num_attention_heads = 32", "num_attention_heads = 32\nq_lora_rank = 12", "m.toml: q_lora_rank, qk_nope_head_dim, qk_rope_head_dim and v_head_dim belong to multi-head latent attention: give kv_lora_rank too"},
		{"num_attention_heads = 32", "num_attention_heads = 32\nkv_lora_rank = 512", "m.toml: kv_lora_rank is 512, so qk_nope_head_dim, qk_rope_head_dim and v_head_dim must be given too"},
		{"tie_word_embeddings = false", "tie_word_embeddings = false\nnum_dense_layers = 2", "m.toml: num_dense_layers is 2, but there are no experts; give num_local_experts too"},
		{"tie_word_embeddings = false", "tie_word_embeddings = false\nnum_local_experts = 16384\nnum_experts_per_tok = 1\nmoe_intermediate_size = 4194304", "m.toml: the sizes are those of a model of 2.7e+16 parameters; want at most 1e+15"},
		{"schema = 1", "schema = 2", "m.toml:3: schema: found 2; this servesim reads schema 1"},
	} {
		_, err := readModel("m.toml", strings.Replace(string(text), c.old, c.new, 1))
		if err == nil || err.Error() != c.want {
			t.Errorf("%s: got\n%v\nwant\n%s", c.new, err, c.want)
		}
	}
	for name, want := range map[string]string{
		"llama-3.1-7b": "allowed are deepseek-r1", // a number that no model has is no slip of the pen
		"lama-3.1-8b":  `did you mean "llama-3.1-8b"?`,
		"some/Model":   `no model has the id "some/Model", and no file is there`,
		"none.json":    "none.json",
	} {
		if _, err := LoadModel(name); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%s: %v", name, err)
		}
	}
}

const llamaConfig = `{
  "architectures": ["LlamaForCausalLM"],
  "model_type": "llama",
  "hidden_size": 4096,
  "intermediate_size": 14336,
  "max_position_embeddings": 131072,
  "num_attention_heads": 32,
  "num_hidden_layers": 32,
  "num_key_value_heads": 8,
  "rope_scaling": {"factor": 8.0},
  "tie_word_embeddings": false,
  "vocab_size": 128256
}`

// A config.json of each supported kind reads as the model that ships.
func TestHFConfig(t *testing.T) {
	qwen := strings.NewReplacer(`"llama"`, `"qwen3"`, "4096,", "5120,", "14336", "25600", "131072", "40960",
		`heads": 32`, `heads": 64, "head_dim": 128`, `layers": 32`, `layers": 64, "sliding_window": null, "use_sliding_window": false`,
		"128256", "151936").Replace(llamaConfig)
	oss := `{"model_type":"gpt_oss","hidden_size":2880,"intermediate_size":2880,"max_position_embeddings":131072,"num_attention_heads":64,
	"num_hidden_layers":24,"num_key_value_heads":8,"head_dim":64,"vocab_size":201088,"num_local_experts":32,"num_experts_per_tok":4,
	"sliding_window":128,"tie_word_embeddings":false,"layer_types":[` + strings.TrimSuffix(strings.Repeat(`"sliding_attention","full_attention",`, 12), ",") + `]}`
	for name, text := range map[string]string{"Llama-3.1-8B": llamaConfig, "Qwen3-32B": qwen, "gpt-oss-20b": oss} {
		path := filepath.Join(t.TempDir(), name, "config.json")
		if err := os.MkdirAll(filepath.Dir(path), 0o777); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(path, []byte(text), 0o666); err != nil {
			t.Fatal(err)
		}
		got, err := LoadModel(path)
		if err != nil {
			t.Error(err)
			continue
		}
		want, err := LoadModel(name)
		if err != nil {
			t.Fatal(err)
		}
		want.IDs, want.WeightFormat = nil, ""
		if d := cmp.Diff(want, got); d != "" {
			t.Errorf("%s: %s", name, d)
		}
	}
}

func TestHFConfigFaults(t *testing.T) {
	for _, c := range []struct{ old, new, want string }{
		{`"llama"`, `"deepseek_v9", "kv_lora_rank": 512`, "c.json:3: kv_lora_rank stands for multi-head latent attention (MLA), which is not supported\nc.json:3: model_type is \"deepseek_v9\"; supported are llama, mistral, qwen2, qwen3, olmo2, granite, gemma2, gemma3_text, cohere2, mixtral, qwen2_moe, qwen3_moe, gpt_oss, glm4_moe, deepseek_v2, deepseek_v3, kimi_k2"},
		{`  "model_type": "llama",`, ``, "c.json: model_type is missing; supported are llama, mistral, qwen2, qwen3, olmo2, granite, gemma2, gemma3_text, cohere2, mixtral, qwen2_moe, qwen3_moe, gpt_oss, glm4_moe, deepseek_v2, deepseek_v3, kimi_k2"},
		{`"num_hidden_layers": 32`, `"num_hidden_layers": -1`, "c.json:8: num_hidden_layers is -1; want a whole number from 1 to 1073741824"},
		{`"num_hidden_layers": 32`, `"num_hidden_layers": 32.5`, "c.json:8: num_hidden_layers is 32.5; want a whole number from 1 to 1073741824"},
		{`"num_hidden_layers": 32`, `"x": 32`, "c.json: num_hidden_layers is missing; want a whole number from 1 to 1073741824"},
		{`"llama"`, `"llama", "sliding_window": 4096`, "c.json:3: sliding_window is set, but neither layer_types, sliding_window_pattern nor use_sliding_window says for which layers"},
		{`"llama"`, `"llama", "layer_types": ["linear_attention"]`, "c.json:3: layer_types has linear_attention; supported are full_attention and sliding_attention"},
		{`"llama"`, `"llama", "text_config": {}`, "c.json:3: text_config stands for a multimodal model, which is not supported in a llama"},
		{`false`, `0`, "c.json:11: tie_word_embeddings is 0; want true or false"},
		{`128256`, `128256,`, "c.json:13: not a config.json: invalid character '}' looking for beginning of object key string"},
	} {
		_, err := readHFConfig("c.json", []byte(strings.Replace(llamaConfig, c.old, c.new, 1)))
		if err == nil || err.Error() != c.want {
			t.Errorf("%s: got\n%v\nwant\n%s", c.new, err, c.want)
		}
	}
}

// What a config.json says of its weights is known, whatever the run is given.
func TestHFConfigWeightFormat(t *testing.T) {
	for says, want := range map[string]string{
		``:                                   "",
		`"torch_dtype": "bfloat16",`:         "bf16",
		`"dtype": "float16",`:                "bf16",
		`"torch_dtype": "float8_e4m3fn",`:    "fp8",
		`"torch_dtype": "int8",`:             "int8",
		`"quantization_config": null,`:       "",
		`"quantization_config": {"bits":4},`: "an unnamed quantization",
		`"torch_dtype": "float16", "quantization_config": {"quant_method": "awq", "bits": 4},`:        "awq",
		`"quantization_config": {"quant_method": "fp8"},`:                                             "fp8",
		`"quantization_config": {"quant_method": "mxfp4"},`:                                           "mxfp4",
		`"quantization_config": {"quant_method": "modelopt", "quant_algo": "NVFP4"},`:                 "fp4",
		`"quantization_config": {"quant_method": "compressed-tensors", "format": "float-quantized"},`: "fp8",
		`"quantization_config": {"quant_method": "compressed-tensors", "format": "pack-quantized"},`:  "compressed-tensors pack-quantized",
	} {
		m, err := readHFConfig("c.json", []byte(strings.Replace(llamaConfig, "{", "{"+says, 1)))
		if err != nil || m.WeightFormat != want {
			t.Errorf("%s: %+v, %v; want %q", says, m, err, want)
		}
	}
}

// A sliding window on all layers: Mistral-7B v0.1.
func TestHFConfigSlidingWindow(t *testing.T) {
	m, err := readHFConfig("c.json", []byte(strings.Replace(llamaConfig, `"llama"`, `"mistral", "sliding_window": 4096`, 1)))
	if err != nil || m.Window != 4096 || m.WindowLayers != 32 {
		t.Errorf("%+v, %v", m, err)
	}
}

// Whatever reads as a config is a model that either fits no layout or costs time.
func FuzzReadHFConfig(f *testing.F) {
	f.Add([]byte(llamaConfig))
	f.Add([]byte(deepseekConfig))
	f.Add([]byte(qwenMoEConfig))
	f.Add([]byte(`{"model_type":"mixtral","num_local_experts":8,"num_experts_per_tok":2,"layer_types":[null]}`))
	f.Add([]byte("null"))
	p, err := LoadProfile("b200")
	if err != nil {
		f.Fatal(err)
	}
	f.Fuzz(func(t *testing.T, text []byte) {
		m, err := readHFConfig("c.json", text)
		if err != nil {
			return
		}
		s := Setup{Profile: p, Model: m, TP: 1, Weights: BF16, KV: BF16, Engine: "generic"}
		c, err := NewCost(s)
		if err != nil {
			return
		}
		if d := c.Step(Work{DecodeSeqs: 1, DecodeKV: 1, Samples: 1}); d <= 0 {
			t.Fatalf("a step of %+v takes %v", m, d)
		}
		if _, err := NewLedger(s, vllmOptions(8192)); err != nil && !strings.Contains(err.Error(), "does not fit") {
			t.Fatalf("ledger of %+v: %v", m, err)
		}
	})
}

// Loading is part of the start of every run.
func BenchmarkLoad(b *testing.B) {
	for b.Loop() {
		if _, err := LoadProfile("h100"); err != nil {
			b.Fatal(err)
		}
		if _, err := LoadModel("meta-llama/Llama-3.3-70B-Instruct"); err != nil {
			b.Fatal(err)
		}
	}
}
