package main

import (
	"encoding/json"
	"fmt"
	"strings"
	"testing"
	"unicode/utf8"

	"servesim/sim/gpu"
)

// noLayout are the models and GPUs for which one node of eight is too small in fp8.
func noLayout(model, profile string) bool {
	return strings.HasPrefix(model, "deepseek") && profile == "h100"
}

// TestEveryModelOnEveryGPU prints the ledger of every shipped pair at the smallest
// layout that fits, and runs the default scenario on it.
func TestEveryModelOnEveryGPU(t *testing.T) {
	for _, model := range gpu.ModelNames() {
		for _, profile := range gpu.ProfileNames() {
			tp := smallestTP(t, model, profile)
			if noLayout(model, profile) {
				o := do(t, "model", model, "--gpu", profile, "--tp", "8", "--dtype", "fp8")
				if o.code != exitUsage || !strings.Contains(o.stderr, "even tensor_parallel_size 8 leaves -") ||
					!strings.Contains(o.stderr, "tensor_parallel_size 8 and pipeline_parallel_size 2, 16 GPUs, with ") {
					t.Errorf("%s on %s: exit %d, %s", model, profile, o.code, o.stderr)
				}
				ok(t, "model", model, "--gpu", profile, "--tp", "8", "--pp", "2", "--dtype", "fp8")
				continue
			}
			if tp == "" {
				t.Errorf("%s fits no layout of %s", model, profile)
				continue
			}
			out := ok(t, "model", model, "--gpu", profile, "--tp", tp, "--dtype", "fp8")
			for _, want := range []string{"Model  ", "Parameters  ", "Weights  ", "weights  ", "activations  ", "kv cache  ", "|", "#", "KV cache  ", "Requests  "} {
				if !strings.Contains(out, want) {
					t.Errorf("%s on %s lacks %q:\n%s", model, profile, want, out)
				}
			}
			for line := range strings.Lines(out) {
				if utf8.RuneCountInString(strings.TrimSuffix(line, "\n")) > 100 {
					t.Errorf("%s on %s: a line of more than 100 columns: %s", model, profile, line)
				}
			}
			run := ok(t, "run", "--model", model, "--gpu", profile, "--tp", tp, "--dtype", "fp8", "--set", "requests=40")
			if !strings.Contains(run, " completed") {
				t.Errorf("%s on %s: %s", model, profile, run)
			}
		}
	}
}

// smallestTP returns the fewest GPUs that hold a model in fp8 and its longest
// sequence, as `servesim model` finds it out, or "".
func smallestTP(t *testing.T, model, profile string) string {
	t.Helper()
	for _, tp := range []string{"1", "2", "4", "8"} {
		if o := do(t, "model", model, "--gpu", profile, "--tp", tp, "--dtype", "fp8"); o.code == exitOK {
			return tp
		}
	}
	return ""
}

// TestModelNamesTheSmallestLayout holds that the layout which an error names fits.
func TestModelNamesTheSmallestLayout(t *testing.T) {
	for _, c := range []struct{ args, want string }{
		{"Llama-3.1-70B", "use the smallest layout that fits, tensor_parallel_size 4, with "},
		{"Llama-3.1-70B --gpu b200 --max-model-len 8192 --gpu-memory-utilization 0.5", "or use the smallest layout that fits, tensor_parallel_size 2, with "},
		{"Llama-3.1-405B", "or tensor_parallel_size 8 and pipeline_parallel_size 2, 16 GPUs, with "},
		{"DeepSeek-V3 --gpu h200 --dtype fp8 --tp 4", "use the smallest layout that fits, tensor_parallel_size 8, with "},
	} {
		args := append([]string{"model"}, strings.Fields(c.args)...)
		o := do(t, args...)
		if o.code != exitUsage || !strings.Contains(o.stderr, c.want) {
			t.Errorf("%s: exit %d, %s", c.args, o.code, o.stderr)
			continue
		}
		var tp, pp int
		if _, err := fmt.Sscanf(c.want[strings.Index(c.want, "tensor_parallel_size"):], "tensor_parallel_size %d and pipeline_parallel_size %d", &tp, &pp); tp == 0 {
			t.Fatal(err)
		}
		ok(t, append(args, "--tp", fmt.Sprint(tp), "--pp", fmt.Sprint(pp))...)
	}
}

// TestModelJSON holds that what is printed is a ledger.
func TestModelJSON(t *testing.T) {
	var v struct {
		Kind   string
		Usable int64 `json:"usable_bytes"`
		Share  int64 `json:"share_bytes"`
		KV     int64 `json:"kv_cache_bytes"`
		Blocks int64 `json:"num_gpu_blocks"`
		Items  []struct{ Bytes int64 }
		Hybrid *struct{ Blocks int64 }
		Fits   []struct {
			Tokens   int64 `json:"request_tokens"`
			Requests int64
		}
	}
	out := ok(t, "model", "gpt-oss-120b", "--gpu", "h200", "--dtype", "mxfp4", "--max-model-len", "5000", "--json")
	if err := json.Unmarshal([]byte(out), &v); err != nil {
		t.Fatal(err)
	}
	sum := v.KV
	for _, i := range v.Items {
		sum += i.Bytes
	}
	if v.Kind != "servesim-model" || sum != v.Share || v.Share >= v.Usable || len(v.Items) != 5 || v.Hybrid == nil || v.Hybrid.Blocks <= v.Blocks {
		t.Errorf("%+v", v)
	}
	if n := len(v.Fits); n != 3 || v.Fits[n-1].Tokens != 5000 || v.Fits[0].Requests <= v.Fits[n-1].Requests {
		t.Errorf("fits %+v", v.Fits)
	}
}

// configOf returns a small config.json with one piece replaced.
func configOf(old, new string) string {
	const text = `{"model_type": "deepseek_v3", "hidden_size": 1024, "intermediate_size": 4096, "max_position_embeddings": 8192,
 "num_attention_heads": 16, "num_key_value_heads": 16, "num_hidden_layers": 8, "vocab_size": 32000, "tie_word_embeddings": false,
 "n_routed_experts": 16, "n_shared_experts": 1, "num_experts_per_tok": 2, "moe_intermediate_size": 512, "first_k_dense_replace": 1,
 "q_lora_rank": 256, "kv_lora_rank": 128, "qk_nope_head_dim": 64, "qk_rope_head_dim": 32, "v_head_dim": 64}`
	if !strings.Contains(text, old) {
		panic("the config has no " + old)
	}
	return strings.Replace(text, old, new, 1)
}

// TestWrongModels tries what a reader may get wrong; each error says what and
// what is allowed instead.
func TestWrongModels(t *testing.T) {
	for _, c := range []struct{ name, config, args, want string }{
		{"heads", "", "Qwen3-14B --tp 16", "tensor_parallel_size is 16; want one of 1, 2, 4, 8"},
		{"heads that do not divide", configOf(`heads": 16, "num_key_value_heads": 16`, `heads": 12, "num_key_value_heads": 12`), "./c.json --tp 8", "tensor_parallel_size 8 does not divide num_attention_heads 12"},
		{"width that does not divide", configOf(`moe_intermediate_size": 512`, `moe_intermediate_size": 510`), "./c.json --tp 4", "tensor_parallel_size 4 does not divide moe_intermediate_size 510"},
		{"experts of a dense model", "", "Qwen3-8B --tp 2 --ep 2", "expert_parallel_size is 2, but Qwen3-8B has no experts"},
		{"more groups than experts", "", "Mixtral-8x7B --tp 8 --ep 16 --dtype fp8", "expert_parallel_size is 16, more than the 8 experts"},
		{"groups that do not divide the experts", configOf(`n_routed_experts": 16`, `n_routed_experts": 18`), "./c.json --tp 4 --ep 4", "expert_parallel_size 4 does not divide the 18 experts"},
		{"more groups than GPUs", "", "Mixtral-8x7B --tp 2 --ep 4", "expert_parallel_size is 4; it must divide tensor_parallel_size, 2"},
		{"attention groups", "", "Qwen3-8B --tp 4 --dp-attention 3", "data_parallel_attention_size is 3; it must divide tensor_parallel_size, 4"},
		{"three GPUs", "", "Qwen3-8B --tp 3", "tensor_parallel_size is 3; want one of 1, 2, 4, 8"},
		{"unknown name", "", "Qwen9", `MODEL: no model is called "Qwen9"; allowed are deepseek-r1`},
		{"numbers below 0", "", "Qwen3-8B --max-model-len -5 --max-num-seqs -1", "--max-model-len: found -5; must be above 0, or left out for the default\nservesim: --max-num-seqs: found -1"},
		{"stages", "", "Qwen3-8B --pp 99", "pipeline_parallel_size is 99; want 0 to 64"},
		{"unknown key of latent attention", configOf(`"q_lora_rank"`, `"o_lora_rank": 64, "q_lora_rank"`), "./c.json", "c.json:4: o_lora_rank stands for a low-rank projection, which is not supported in a deepseek_v3"},
		{"missing key of latent attention", configOf(`"kv_lora_rank": 128, `, ``), "./c.json", "c.json: kv_lora_rank is missing; want a whole number"},
		{"int4 weights", "", "Qwen3-8B --dtype int4", `--dtype: "int4" is not a number format; the formats are bf16, fp8, int8, fp4 (also called nvfp4) and mxfp4`},
		{"quantized to 4 bits", configOf(`{`, `{"quantization_config": {"quant_method": "awq", "bits": 4}, `), "./c.json", "--dtype: missing, and ./c.json says awq, which is not modelled"},
		{"negative size", configOf(`"hidden_size": 1024`, `"hidden_size": -1024`), "./c.json", "c.json:1: hidden_size is -1024; want a whole number from 1"},
		{"fraction", configOf(`"num_hidden_layers": 8`, `"num_hidden_layers": 8.5`), "./c.json", "num_hidden_layers is 8.5; want a whole number"},
		{"no layer with experts", configOf(`replace": 1`, `replace": 8`), "./c.json", "n_routed_experts is 16, but no layer has experts"},
		{"more experts a token than there are", configOf(`per_tok": 2`, `per_tok": 32`), "./c.json", "num_experts_per_tok is 32, more than num_local_experts, 16"},
		{"unknown type", configOf(`deepseek_v3`, `rwkv7`), "./c.json", `model_type is "rwkv7"; supported are llama,`},
		{"unknown model", "", "Llama-3.1-8", `MODEL: no model is called "Llama-3.1-8"; did you mean "llama-3.1-8b"?`},
		{"unknown GPU", "", "Qwen3-8B --gpu h1000", `--gpu: no GPU profile is called "h1000"; allowed are b200, h100, h200`},
		{"KV of 4 bits", "", "Qwen3-8B --kv-cache-dtype fp4", `--kv-cache-dtype: found "fp4"; the KV cache is bf16 or fp8`},
		{"mxfp4 without experts", "", "Qwen3-8B --dtype mxfp4", "weights are mxfp4, a format of experts, and Qwen3-8B has none"},
		{"share", "", "Qwen3-8B --gpu-memory-utilization 1.5", "--gpu-memory-utilization: found 1.5; must be more than 0 and at most 1"},
		{"more sequences than tokens", "", "Qwen3-8B --max-num-seqs 9000", "--max-num-seqs: found 9000, more than max_num_batched_tokens, 8192"},
		{"negative tokens", "", "Qwen3-8B --block-size -16", "block_size is -16; want 1 to 65536"},
		{"engine version", "", "Qwen3-8B --policy vllm@0.1", "--policy: "},
		{"multimodal", configOf(`{`, `{"vision_config": {}, `), "./c.json", "vision_config stands for a multimodal model, which is not supported"},
	} {
		inFolder(t, map[string]string{"c.json": c.config})
		o := do(t, append([]string{"model"}, strings.Fields(c.args)...)...)
		if o.code != exitUsage || o.stdout != "" || !strings.Contains(o.stderr, c.want) {
			t.Errorf("%s: exit %d, stderr\n%swant\n%s", c.name, o.code, o.stderr, c.want)
		}
	}
}

// TestCautionOfMissingStepTimes holds that a ledger without step times says so.
func TestCautionOfMissingStepTimes(t *testing.T) {
	out := unfolded(ok(t, "model", "Qwen3-8B", "--dtype", "int8"))
	if !strings.Contains(out, `it has a ledger but no step times: profile h100 has no weight format "int8"; it has bf16, fp8`) {
		t.Error(out)
	}
}

// TestConfigSaysItsFormat holds that a run takes the weights as the config.json
// has them, and says so if it can't.
func TestConfigSaysItsFormat(t *testing.T) {
	fp8 := configOf(`{`, `{"quantization_config": {"quant_method": "fp8"}, `)
	awq := configOf(`{`, `{"quantization_config": {"quant_method": "awq"}, `)
	inFolder(t, map[string]string{"s.toml": small, "fp8.json": fp8, "awq.json": awq})
	if out := ok(t, "run", "s.toml", "--model", "./fp8.json"); !strings.Contains(out, "weights fp8") {
		t.Error(out)
	}
	if o := do(t, "run", "s.toml", "--model", "./awq.json"); o.code != exitUsage || !strings.Contains(o.stderr, "model.dtype: missing, and ./awq.json says awq") {
		t.Errorf("exit %d, %s", o.code, o.stderr)
	}
	ok(t, "run", "s.toml", "--model", "./awq.json", "--dtype", "bf16")
}

// TestWindowsAreCautionedAbout holds that a run says how it counts window layers,
// where the engine would count otherwise.
func TestWindowsAreCautionedAbout(t *testing.T) {
	inFolder(t, map[string]string{"s.toml": small})
	const want = "KV blocks hold the sliding-window layers in full"
	for args, caution := range map[string]bool{"--model gpt-oss-20b": true, "--model gpt-oss-20b --policy vllm@0.8-v0": false, "--model Qwen3-8B": false} {
		if out := ok(t, append([]string{"run", "s.toml"}, strings.Fields(args)...)...); strings.Contains(unfolded(out), want) != caution {
			t.Errorf("%s: %s", args, out)
		}
	}
}

func TestGPU(t *testing.T) {
	if out := ok(t, "gpu"); strings.Count(out, "\n") != 1+len(gpu.ProfileNames()) {
		t.Error(out)
	}
	for _, name := range gpu.ProfileNames() {
		out := ok(t, "gpu", name)
		for _, want := range []string{name + "\n", "\nDatasheet\n", "  hbm_bytes_per_s = ", "\nKernels vllm: GEMM, by format of the weights\n  bf16 = {", "\nEngines\n", "vllm = {"} {
			if !strings.Contains(out, want) {
				t.Errorf("%s lacks %q:\n%s", name, want, out)
			}
		}
	}
	if o := do(t, "gpu", "a100"); o.code != exitUsage || !strings.Contains(o.stderr, `no GPU profile is called "a100"`) {
		t.Errorf("exit %d, %s", o.code, o.stderr)
	}
}
