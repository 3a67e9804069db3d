package scenario

import (
	"fmt"

	"servesim/internal/strict"
	"servesim/sim/scheduler"
)

// TensorRTLLMOptions are those of TensorRT-LLM alone, under its own names; its
// max_num_tokens is max_num_batched_tokens here, max_batch_size is max_num_seqs and
// tokens_per_block is block_size. Its capacity_scheduler_policy is in the version.
type TensorRTLLMOptions struct {
	// ContextChunkingPolicy divides a step among prompts, with chunked prefill.
	ContextChunkingPolicy *string `toml:"context_chunking_policy"`
	// FreeGPUMemoryFraction is the share for KV blocks of what weights and
	// activations leave of each GPU's memory.
	FreeGPUMemoryFraction *float64 `toml:"free_gpu_memory_fraction"`
	// DisableOverlapScheduler makes host and GPU take turns.
	DisableOverlapScheduler *bool `toml:"disable_overlap_scheduler"`
}

// settle gives the absent options of version p their defaults.
func (o *TensorRTLLMOptions) settle(p scheduler.Preset, chunked bool) {
	if !p.Config.OfTensorRTLLM() {
		return
	}
	if chunked {
		settle(&o.ContextChunkingPolicy, string(p.Config.ContextChunking))
	}
	settle(&o.FreeGPUMemoryFraction, p.GPUMemoryUtilization)
	settle(&o.DisableOverlapScheduler, false)
}

// lacking returns a fault for each option that is set and that version p doesn't have.
func (o *TensorRTLLMOptions) lacking(p scheduler.Preset) []strict.Fault {
	if p.Config.OfTensorRTLLM() {
		return nil
	}
	var faults []strict.Fault
	for _, x := range []struct {
		option string
		set    bool
	}{
		{"context_chunking_policy", o.ContextChunkingPolicy != nil},
		{"free_gpu_memory_fraction", o.FreeGPUMemoryFraction != nil},
		{"disable_overlap_scheduler", o.DisableOverlapScheduler != nil},
	} {
		if x.set {
			faults = append(faults, strict.Fault{Key: "engine." + x.option, Text: fmt.Sprintf("%s has no such option; versions with it are %s; take the line out",
				p.Name, versionsWith(func(p scheduler.Preset) bool { return p.Config.OfTensorRTLLM() }))})
		}
	}
	return faults
}

// check returns the faults of settled options.
func (o *TensorRTLLMOptions) check(chunked bool) []strict.Fault {
	var faults []strict.Fault
	if f := o.FreeGPUMemoryFraction; f != nil && !(*f > 0 && *f <= 1) {
		faults = append(faults, strict.Fault{Key: "engine.free_gpu_memory_fraction", Text: fmt.Sprintf("found %v; must be more than 0 and at most 1", *f)})
	}
	if o.ContextChunkingPolicy != nil && !chunked {
		faults = append(faults, strict.Fault{Key: "engine.context_chunking_policy", Text: fmt.Sprintf("found %q; it has no effect without enable_chunked_prefill; set that, or take the line out", *o.ContextChunkingPolicy)})
	}
	return faults
}

// adopt copies the options into c.
func (o *TensorRTLLMOptions) adopt(c *scheduler.Config) {
	if o.ContextChunkingPolicy != nil {
		c.ContextChunking = scheduler.ChunkingPolicy(*o.ContextChunkingPolicy)
	}
}

// overlaps tells that the host prepares a step while the GPU runs the one before.
func (o *TensorRTLLMOptions) overlaps() bool {
	return o.DisableOverlapScheduler != nil && !*o.DisableOverlapScheduler
}
