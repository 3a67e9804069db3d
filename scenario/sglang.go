package scenario

import (
	"fmt"

	"servesim/internal/strict"
	"servesim/sim/scheduler"
)

// SGLangOptions are those of SGLang alone, under its own names. Its others have the
// name of vLLM's option that means the same: max_num_batched_tokens is
// chunked_prefill_size here, max_num_seqs max_running_requests, scheduling_policy
// schedule_policy, gpu_memory_utilization mem_fraction_static, enable_prefix_caching
// the radix cache and async_scheduling the overlap schedule.
type SGLangOptions struct {
	// MaxPrefillTokens is the most prompt tokens of a step that holds several
	// prompts.
	MaxPrefillTokens *int32 `toml:"max_prefill_tokens"`
	// EnableMixedChunk lets decodes run beside prompts.
	EnableMixedChunk *bool `toml:"enable_mixed_chunk"`
	// ScheduleConservativeness scales the outputs that running requests are
	// expected to make yet.
	ScheduleConservativeness *float64 `toml:"schedule_conservativeness"`
	// IgnoreEOS says that requests ignore the end token, which without a radix
	// cache changes how they are admitted.
	IgnoreEOS *bool `toml:"ignore_eos"`
}

// derived says what the default of option follows from in version p, if that is
// more than the GPU and the model, or "".
func derived(p scheduler.Preset, option string) string {
	switch {
	case p.Config.Policy != scheduler.SGLang:
	case option == "max_num_seqs":
		return "half the tokens of the KV cache, at most 2048 to 4096 by how many contexts it holds"
	case option == "gpu_memory_utilization":
		return "what room for activations and CUDA graphs leaves, by max_num_batched_tokens and tensor_parallel_size"
	}
	return ""
}

// StaticShare tells that the share of the memory that a settled e gives the engine
// is of weights and KV cache alone.
func (e *EngineSection) StaticShare() bool {
	p, err := scheduler.FindPreset(e.Policy)
	return err == nil && p.Config.Policy == scheduler.SGLang
}

// settle gives the absent options of version p their defaults.
func (o *SGLangOptions) settle(p scheduler.Preset, caches bool) {
	c := p.Config
	if c.Policy != scheduler.SGLang {
		return
	}
	settle(&o.MaxPrefillTokens, c.MaxPrefillTokens)
	settle(&o.EnableMixedChunk, c.EnableMixedChunk)
	settle(&o.ScheduleConservativeness, c.ScheduleConservativeness)
	if !caches {
		settle(&o.IgnoreEOS, c.IgnoreEOS)
	}
}

// faults returns a fault for each option that version p doesn't have.
func (o *SGLangOptions) faults(p scheduler.Preset) []strict.Fault {
	if p.Config.Policy == scheduler.SGLang {
		return nil
	}
	var faults []strict.Fault
	for _, option := range []struct {
		key string
		set bool
	}{
		{"max_prefill_tokens", o.MaxPrefillTokens != nil}, {"enable_mixed_chunk", o.EnableMixedChunk != nil},
		{"schedule_conservativeness", o.ScheduleConservativeness != nil}, {"ignore_eos", o.IgnoreEOS != nil},
	} {
		if option.set {
			faults = append(faults, strict.Fault{Key: "engine." + option.key, Text: fmt.Sprintf("%s has no such option; versions with it are %s; take the line out",
				p.Name, versionsWith(func(p scheduler.Preset) bool { return p.Config.Policy == scheduler.SGLang }))})
		}
	}
	return faults
}

// adopt copies the options into c.
func (o *SGLangOptions) adopt(c *scheduler.Config) {
	adopt(&c.MaxPrefillTokens, o.MaxPrefillTokens)
	adopt(&c.EnableMixedChunk, o.EnableMixedChunk)
	adopt(&c.ScheduleConservativeness, o.ScheduleConservativeness)
	adopt(&c.IgnoreEOS, o.IgnoreEOS)
}

// sglangFaults returns the faults of what is given and has no effect in SGLang.
func (p *Plan) sglangFaults() []strict.Fault {
	e, m := &p.Scenario.Engine, &p.Scenario.Memory
	var faults []strict.Fault
	for _, line := range []struct {
		key   string
		given bool
	}{{"memory.activations_bytes", m.Activations != nil}, {"memory.graphs_bytes", m.Graphs != nil}} {
		if line.given {
			faults = append(faults, strict.Fault{Key: line.key, Text: "has no effect with SGLang, whose gpu_memory_utilization (mem_fraction_static) leaves room for it; lower that in its place, or take the line out"})
		}
	}
	if !*e.EnableChunkedPrefill && p.document.given("engine.max_num_batched_tokens") {
		faults = append(faults, strict.Fault{Key: "engine.max_num_batched_tokens", Text: fmt.Sprintf(
			"found %d, which has no effect in SGLang with chunked prefill off; set max_prefill_tokens, or take the line out", *e.MaxNumBatchedTokens)})
	}
	return faults
}

// settleRunning gives max_num_seqs, if it is absent, the default that SGLang derives
// from the KV cache.
func (p *Plan) settleRunning() {
	if p.Config.Policy != scheduler.SGLang || p.document.given("engine.max_num_seqs") {
		return
	}
	n := scheduler.RunningRequests(p.Config.NumGPUBlocks, p.Config.MaxModelLen)
	p.Scenario.Engine.MaxNumSeqs, p.Config.MaxNumSeqs = &n, n
}
