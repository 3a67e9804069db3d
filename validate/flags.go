package validate

import "strings"

// inferenceMAX is the key of InferenceMAX in the list of sources.
const inferenceMAX = "s26"

// flags are what a server was started with, as far as its source documents it;
// 0 is the engine's default.
type flags struct {
	tokens  int64  // of the largest step
	seqs    int64  // that may run at once
	block   int64  // tokens of a KV block
	chunked bool   // chunked prefill
	eager   bool   // steps with prompt tokens replay no CUDA graph
	engine  string // whose constants are meant, if not those of the version
	kv      string // format of the KV cache, whatever the table says
	notes   []string
}

// serverFlags returns the flags of the server of r.
//
// Source of those of InferenceMAX (s26): SemiAnalysisAI/InferenceX, benchmarks/
// 70b_fp8_h100_slurm.sh, 70b_fp8_h200_slurm.sh, 70b_fp8_b200_docker.sh,
// 70b_fp8_h200_trt_slurm.sh, 70b_fp8_b200_trt_slurm.sh, 70b_fp4_b200_trt_slurm.sh,
// gptoss_fp4_b200_trt_slurm.sh; MAX_MODEL_LEN there is the sum of the nominal
// lengths. TensorRT-LLM's defaults: max_num_tokens 8192, 32 tokens a block, no
// chunked prefill.
func serverFlags(r *Row) flags {
	f := flags{chunked: true}
	trt := strings.HasSuffix(r.Engine, "trtllm")
	switch {
	case trt:
		f.tokens, f.block, f.seqs, f.eager = 8192, 32, 2048, true
	case r.Engine == "sglang":
		f.tokens = 8192
	}
	if r.Source != inferenceMAX {
		if trt || r.Engine == "sglang" {
			f.notes = append(f.notes, "server options not documented: chunked prefill at 8192 tokens a step")
		}
		return f
	}
	switch {
	case r.Engine == "vllm":
		f.tokens = 8192
		f.seqs = r.Concurrency
		if r.GPU == "B200" {
			f.seqs = 512
			f.eager = r.Weights != "mxfp4" // cudagraph_mode FULL_DECODE_ONLY
			if r.Weights == "mxfp4" {
				f.kv, f.engine = "fp8", "vllm-mxfp8" // VLLM_USE_FLASHINFER_MOE_MXFP4_MXFP8
			}
		}
		if r.GPU == "H100" && r.KV == "fp8" {
			f.kv = "bf16"
			f.notes = append(f.notes, unbelievedKV)
		}
	case trt:
		f.chunked = false
		f.tokens = r.Prompt + r.Output
		if r.GPU == "B200" && r.Weights == "fp8" {
			f.tokens = 16384
		}
		if r.Weights == "mxfp4" {
			f.tokens = 20000
		}
	}
	return f
}

// unbelievedKV says why the table's KV format is not believed. The calibration runs
// on H100 that exhaust the cache measure a mean TTFT of 30.8 and 59.2 s; with the
// blocks of a bf16 cache they come out at 30.4 and 59.5 s, with those of an fp8
// cache at 0.4 and 8.4 s. And decode attention then reads at the rate that kernels
// measure, where an fp8 cache would be read at 0.62 of it.
const unbelievedKV = "KV cache taken as bf16, not fp8 as its start script asks: only so do runs that exhaust it come out (30.8 and 59.2 s of TTFT)"

// Waits tells whether the server of r holds prompts back to batch them:
// InferenceMAX sets batch_wait_timeout_iters 20 and batch_wait_max_tokens_ratio
// 0.9 for TensorRT-LLM where lengths are 1024 and 1024 and TP is below 8.
func Waits(r *Row) bool {
	return r.Source == inferenceMAX && r.Engine == "trtllm" && r.Prompt == 1024 && r.Output == 1024 && r.TP < 8 && r.Weights != "mxfp4"
}
