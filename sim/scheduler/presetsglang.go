package scheduler

import "math"

// sglangs lists the versions of SGLang. Its options have the names of vLLM's that
// mean the same: max_num_batched_tokens is chunked_prefill_size, max_num_seqs
// max_running_requests, scheduling_policy schedule_policy, gpu_memory_utilization
// mem_fraction_static, enable_prefix_caching the radix cache and async_scheduling
// the overlap schedule.
func sglangs() []Preset {
	c := Config{
		Policy: SGLang, BlockSize: 1, EnableChunkedPrefill: true, SchedulingPolicy: FCFS,
		EnablePrefixCaching: true, AsyncScheduling: true, ScheduleConservativeness: 1, MaxPrefillTokens: 16384,
	}
	later := c
	later.CachesOutput = true
	return []Preset{
		{Name: "sglang@0.5.6", Summary: "SGLang 0.5.6", Config: c,
			Devices: sglangDevices(), Source: sglangSource("v0.5.6.post1 (60d36e7be7)")},
		{Name: "sglang@2026-02", Summary: "SGLang main of February 2026", Config: later,
			Devices: sglangDevices(), Source: sglangSource("main (d2b3c7fb14, 2026-02-26)")},
	}
}

// sglangDevices are the limits of SGLang by memory. The number of requests is the
// least of what it derives from the KV cache.
func sglangDevices() []DeviceLimits {
	limits := func(gib float64, tokens int32) DeviceLimits {
		b := Budget{tokens, sgLeastRunning}
		return DeviceLimits{MinBytes: gib * (1 << 30), Serve: b, Offline: b}
	}
	return []DeviceLimits{limits(160, 16384), limits(60, 8192), limits(35, 4096), limits(0, 2048)}
}

// sglangSource is the source of SGLang at revision.
func sglangSource(revision string) Source {
	return Source{
		Repository: "sgl-project/sglang", Revision: revision, Executed: true,
		Scheduler: "python/sglang/srt/managers/scheduler.py, schedule_policy.py, schedule_batch.py, mem_cache/radix_cache.py",
		Defaults: []OptionsFile{
			{"config.json of the model", []string{"max_model_len"}},
			{"python/sglang/srt/model_executor/model_runner.py", []string{"max_num_seqs"}},
			{"python/sglang/srt/server_args.py", nil},
		},
	}
}

// The requests that may run at once: 512 for each request of the context's length
// that the KV cache holds, between these bounds.
const sgLeastRunning, sgMostRunning = 2048, 4096

// RunningRequests returns SGLang's default of max_running_requests for a KV cache
// of tokens tokens and requests of up to maxModelLen tokens.
func RunningRequests(tokens int64, maxModelLen int32) int32 {
	fits := tokens * 512 / int64(max(1, maxModelLen))
	return int32(max(1, min(tokens/2, max(sgLeastRunning, min(fits, sgMostRunning)))))
}

// MemoryShare returns the default of gpu_memory_utilization on device d with steps
// of up to tokens prompt tokens. SGLang leaves room for activations, CUDA graphs and
// collectives and rounds to 0.001; elsewhere it is a number of the version.
func (p Preset) MemoryShare(d Device, tokens int32) float64 {
	if p.Config.Policy != SGLang {
		return p.GPUMemoryUtilization
	}
	mem := float64(d.MemoryBytes / (1 << 20)) // MiB
	reserved := 512 + float64(1.5*float64(max(tokens, 2048))) + float64(2*d.graphSequences()) + float64(128*d.gpus())
	if mem > 60*1024 {
		reserved = max(reserved, 10*1024)
	}
	return math.Round((mem-reserved)/mem*1000) / 1000
}

// gpus returns the number of GPUs that share a model.
func (d Device) gpus() int32 { return max(1, d.GPUs) }

// graphSequences returns the most sequences that SGLang captures in a CUDA graph.
func (d Device) graphSequences() float64 {
	few := d.gpus() < 4
	pick := func(small, large float64) float64 {
		if few {
			return small
		}
		return large
	}
	switch gib := d.MemoryBytes / (1 << 30); {
	case gib < 20:
		return 8
	case gib < 35:
		return pick(24, 80)
	case gib < 60:
		return pick(32, 160)
	case gib < 160:
		return pick(256, 512)
	}
	return 512
}
