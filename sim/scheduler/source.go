package scheduler

import "slices"

// Source is where the behaviour and the defaults of an engine version come from.
type Source struct {
	// Repository is the owner/name of the engine on GitHub, Revision its tag and
	// commit, Scheduler the files that the policy follows.
	Repository, Revision, Scheduler string
	// Executed tells that the recorded schedules were made by running the engine's
	// own scheduler; otherwise they follow from reading it.
	Executed bool
	// Defaults are the files that defaults are in, the one for all other options last.
	Defaults []OptionsFile
}

// OptionsFile is a file of an engine that holds the defaults of options; without
// any named, of all others.
type OptionsFile struct {
	File    string
	Options []string
}

// DefaultOf returns the file that holds the default of option, or "" if none is
// known.
func (s Source) DefaultOf(option string) string {
	for _, f := range s.Defaults {
		if len(f.Options) == 0 || slices.Contains(f.Options, option) {
			return f.File
		}
	}
	return ""
}

// DeviceLimits are the limits that a version defaults to on some devices: those
// with MinBytes of memory and, unless Not is empty, without it in their name.
type DeviceLimits struct {
	MinBytes float64
	Not      string
	// Serve is for the API server, which is what is simulated; Offline is for
	// batches, vLLM's LLM class.
	Serve, Offline Budget
}

// Budget is the tokens and the sequences of a step.
type Budget struct{ MaxNumBatchedTokens, MaxNumSeqs int32 }

// everywhere are limits that depend on neither device nor usage.
func everywhere(tokens, seqs int32) []DeviceLimits {
	b := Budget{tokens, seqs}
	return []DeviceLimits{{Serve: b, Offline: b}}
}

// vllmDevices are the limits of vLLM V1 from v0.9, by get_batch_defaults.
func vllmDevices() []DeviceLimits {
	return []DeviceLimits{
		{MinBytes: 70 * (1 << 30), Not: "a100", Serve: Budget{8192, 1024}, Offline: Budget{16384, 1024}},
		{Serve: Budget{2048, 256}, Offline: Budget{8192, 256}},
	}
}

// vllmSource is the source of vLLM V1 at revision, whose file async decides on
// asynchronous scheduling.
func vllmSource(revision, async string) Source {
	return Source{
		Repository: "vllm-project/vllm", Revision: revision, Scheduler: "vllm/v1/core/sched/scheduler.py", Executed: true,
		Defaults: []OptionsFile{
			{"vllm/engine/arg_utils.py", []string{"max_num_batched_tokens", "max_num_seqs", "enable_chunked_prefill", "enable_prefix_caching"}},
			{"vllm/config/cache.py", []string{"block_size", "gpu_memory_utilization", "num_gpu_blocks_override"}},
			{async, []string{"async_scheduling"}},
			{"config.json of the model", []string{"max_model_len"}},
			{"vllm/config/scheduler.py", []string{"scheduling_policy", "long_prefill_token_threshold", "watermark", "scheduler_reserve_full_isl"}},
			{"vllm/config/model.py", []string{"enforce_eager"}},
			{"vllm/config/compilation.py", []string{"cudagraph_mode"}},
		},
	}
}

// v0Source is the source of vLLM V0.
func v0Source() Source {
	return Source{
		Repository: "vllm-project/vllm", Revision: "v0.8.5 (ba41cc90e8)", Executed: true,
		Scheduler: "vllm/core/scheduler.py, vllm/core/block_manager.py",
		Defaults: []OptionsFile{
			{"vllm/core/block_manager.py", []string{"watermark"}},
			{"vllm/core/scheduler.py", []string{"preemption_mode"}},
			{"config.json of the model", []string{"max_model_len"}},
			{"vllm/engine/arg_utils.py", []string{"enable_chunked_prefill"}},
			{"vllm/config.py", nil},
		},
	}
}

// sarathiSource is the source of a scheduler of the sarathi-serve repository, in
// file.
func sarathiSource(file string) Source {
	return Source{
		Repository: "microsoft/sarathi-serve", Revision: "96f9911790 (2026-01-08)", Executed: true,
		Scheduler: "sarathi/core/scheduler/" + file,
		Defaults: []OptionsFile{
			{"sarathi/core/block_space_manager/base_block_space_manager.py", []string{"watermark"}},
			{"config.json of the model", []string{"max_model_len"}},
			{"sarathi/core/scheduler/" + file, []string{"enable_chunked_prefill", "scheduling_policy", "long_prefill_token_threshold"}},
			{"servesim's own option, for the repository always does", []string{"regenerate_preempted"}},
			{"sarathi/config/config.py", []string{"max_num_batched_tokens", "max_num_seqs", "block_size", "gpu_memory_utilization",
				"num_gpu_blocks_override", "enable_dynamic_chunking_schedule"}},
		},
	}
}

// tensorRTLLMSource is the source of the schedulers of TensorRT-LLM. Its recorded
// schedules are those of a model of it that was written from reading, and that its own
// unit tests agree with as far as they go.
func tensorRTLLMSource() Source {
	return Source{
		Repository: "NVIDIA/TensorRT-LLM", Revision: "main (02a10fed, 0a949d31)",
		Scheduler: "cpp/tensorrt_llm/batch_manager/capacityScheduler.cpp, cpp/tensorrt_llm/batch_manager/microBatchScheduler.cpp",
		Defaults: []OptionsFile{
			{"config.json of the model", []string{"max_model_len"}},
			{"tensorrt_llm/llmapi/llm_args.py", nil},
		},
	}
}
