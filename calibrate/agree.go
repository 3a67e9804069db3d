package calibrate

import (
	"fmt"
	"strings"

	"servesim/calibrate/vllmlog"
	"servesim/sim/gpu"
	"servesim/sim/scheduler"
)

// Deployment is what a scenario says of the server that was measured.
type Deployment struct {
	Setup                gpu.Setup
	Scheduler            scheduler.Config
	GPUMemoryUtilization float64
}

// A Disagreement is a setting of which a log says other than the scenario.
type Disagreement struct {
	Key      string // of the scenario
	Line     int    // of the log
	Log, Has string // what the log says, and what the scenario has
}

// Disagreements returns where the settings in a log are not those of d: a fit to it
// would then be of another server.
func (d *Deployment) Disagreements(s *vllmlog.Settings) []Disagreement {
	var out []Disagreement
	number := func(key string, f vllmlog.Figure, has float64) {
		if f.Given() && f.Least != has {
			out = append(out, Disagreement{key, f.Line, fmt.Sprintf("%g", f.Least), fmt.Sprintf("%g", has)})
		}
	}
	number("hardware.tensor_parallel_size", s.TensorParallelSize, float64(d.Setup.TP))
	number("hardware.pipeline_parallel_size", s.PipelineParallelSize, float64(max(1, d.Setup.PP)))
	number("engine.max_model_len", s.MaxModelLen, float64(d.Scheduler.MaxModelLen))
	number("engine.max_num_batched_tokens", s.MaxNumBatchedTokens, float64(d.Scheduler.MaxNumBatchedTokens))
	number("engine.max_num_seqs", s.MaxNumSeqs, float64(d.Scheduler.MaxNumSeqs))
	number("engine.block_size", s.BlockSize, float64(d.Scheduler.BlockSize))
	number("engine.gpu_memory_utilization", s.GPUMemoryUtilization, d.GPUMemoryUtilization)
	flag := func(key string, w vllmlog.Word, has bool) {
		if w.Text == "True" != has && (w.Text == "True" || w.Text == "False") {
			out = append(out, Disagreement{key, w.Line, strings.ToLower(w.Text), fmt.Sprint(has)})
		}
	}
	flag("engine.enforce_eager", s.EnforceEager, d.Setup.EnforceEager)
	flag("engine.async_scheduling", s.AsyncScheduling, d.Setup.Async)
	if w := s.KVCacheDtype; w.Text != "" && w.Text != "auto" {
		if is, has := strings.HasPrefix(w.Text, "fp8"), d.Setup.KV == gpu.FP8; is != has {
			out = append(out, Disagreement{"model.kv_cache_dtype", w.Line, w.Text, string(d.Setup.KV)})
		}
	}
	if w := s.Quantization; w.Text == "fp8" && d.Setup.Weights != gpu.FP8 {
		out = append(out, Disagreement{"model.dtype", w.Line, w.Text, string(d.Setup.Weights)})
	}
	return out
}
