package gpu

import "strings"

// weightFormat returns what a config.json says its weights are: a Format if
// servesim has it, else the word that the config has for it, or "" if it says
// nothing. Floats of 16 and 32 bits are bf16, for the engines run all of them at
// 16 bits (vLLM's dtype "auto" casts float32) and step times know no difference.
func (c *hfConfig) weightFormat() string {
	if q, ok := c.keys["quantization_config"].(map[string]any); ok {
		return quantization(q)
	}
	for _, key := range []string{"torch_dtype", "dtype"} { // the older name and the newer
		switch v := c.keys[key].(type) {
		case string:
			switch strings.TrimPrefix(v, "torch.") {
			case "bfloat16", "float16", "half", "float32", "float":
				return string(BF16)
			case "float8_e4m3fn", "float8_e5m2":
				return string(FP8)
			}
			return v
		}
	}
	return ""
}

// quantization returns what a quantization_config stands for: a Format, or, for
// weights of fewer integer bits (awq, gptq, bitsandbytes, compressed-tensors of
// packed integers), its own word.
func quantization(q map[string]any) string {
	word := func(key string) string { s, _ := q[key].(string); return strings.ToLower(s) }
	method := word("quant_method")
	switch method {
	case "fp8", "fbgemm_fp8":
		return string(FP8)
	case "mxfp4":
		return string(MXFP4)
	case "modelopt", "modelopt_fp4":
		switch algo := word("quant_algo"); {
		case strings.HasPrefix(algo, "fp8"):
			return string(FP8)
		case strings.HasPrefix(algo, "nvfp4"), method == "modelopt_fp4":
			return string(FP4)
		}
	case "compressed-tensors":
		switch format := word("format"); {
		case format == "float-quantized":
			return string(FP8)
		case strings.HasPrefix(format, "nvfp4"):
			return string(FP4)
		case format == "int-quantized":
			return string(INT8) // weights and activations of 8 bits
		case format != "":
			return method + " " + format
		}
	case "":
		return "an unnamed quantization"
	}
	return method
}
