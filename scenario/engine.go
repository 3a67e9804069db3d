package scenario

import (
	"fmt"
	"math"
	"strings"

	"servesim/internal/strict"
	"servesim/sim/scheduler"
)

// EngineSection is the engine's version and its options, under the engines' own
// names. An option that is absent has the version's default, which --print
// writes out.
type EngineSection struct {
	// Policy is a name of scheduler.Presets.
	Policy                    string   `toml:"policy"`
	MaxNumBatchedTokens       *int32   `toml:"max_num_batched_tokens"`
	MaxNumSeqs                *int32   `toml:"max_num_seqs"`
	MaxModelLen               *int32   `toml:"max_model_len"`
	BlockSize                 *int32   `toml:"block_size"`
	GPUMemoryUtilization      *float64 `toml:"gpu_memory_utilization"`
	NumGPUBlocksOverride      *int64   `toml:"num_gpu_blocks_override"`
	EnableChunkedPrefill      *bool    `toml:"enable_chunked_prefill"`
	EnablePrefixCaching       *bool    `toml:"enable_prefix_caching"`
	LongPrefillTokenThreshold *int32   `toml:"long_prefill_token_threshold"`
	MaxNumPartialPrefills     *int32   `toml:"max_num_partial_prefills"`
	MaxLongPartialPrefills    *int32   `toml:"max_long_partial_prefills"`
	SchedulingPolicy          *string  `toml:"scheduling_policy"`
	PreemptionMode            *string  `toml:"preemption_mode"`
	Watermark                 *float64 `toml:"watermark"`
	ReserveFullISL            *bool    `toml:"scheduler_reserve_full_isl"`
	AsyncScheduling           *bool    `toml:"async_scheduling"`
	EnforceEager              *bool    `toml:"enforce_eager"`
	CUDAGraphMode             string   `toml:"cudagraph_mode"`
	SarathiOptions
	TensorRTLLMOptions
	SGLangOptions
}

// settle gives every absent option that version p has its default, for device d
// and a model of modelLen tokens.
func (e *EngineSection) settle(p scheduler.Preset, d scheduler.Device, modelLen int32) {
	c := p.Config
	settle(&e.MaxModelLen, modelLen)
	settle(&e.EnableChunkedPrefill, p.ChunkedPrefill(*e.MaxModelLen))
	tokens, seqs := p.Limits(d, *e.MaxModelLen, *e.EnableChunkedPrefill, value(e.MaxNumSeqs))
	settle(&e.MaxNumBatchedTokens, tokens)
	if !c.OfSarathiServe() && c.Policy != scheduler.SGLang {
		seqs = min(seqs, *e.MaxNumBatchedTokens)
	}
	settle(&e.MaxNumSeqs, seqs)
	settle(&e.BlockSize, c.BlockSize)
	if !c.OfTensorRTLLM() {
		settle(&e.GPUMemoryUtilization, p.MemoryShare(d, *e.MaxNumBatchedTokens))
	}
	settle(&e.SchedulingPolicy, c.SchedulingPolicy)
	if p.Watermarked {
		settle(&e.Watermark, c.Watermark)
	}
	switch c.Policy {
	case scheduler.VLLMV0:
		settle(&e.MaxNumPartialPrefills, c.MaxNumPartialPrefills)
		settle(&e.MaxLongPartialPrefills, c.MaxLongPartialPrefills)
		settle(&e.PreemptionMode, scheduler.Recompute)
	case scheduler.VLLMV1, scheduler.SGLang:
		settle(&e.AsyncScheduling, c.AsyncScheduling)
		settle(&e.EnablePrefixCaching, c.EnablePrefixCaching)
	}
	e.SarathiOptions.settle(p)
	e.TensorRTLLMOptions.settle(p, *e.EnableChunkedPrefill)
	e.SGLangOptions.settle(p, value(e.EnablePrefixCaching))
	settle(&e.LongPrefillTokenThreshold, p.LongPrefillTokenThreshold(*e.MaxModelLen, value(e.MaxNumPartialPrefills)))
	if c.ReserveFullISL {
		settle(&e.ReserveFullISL, true)
	}
}

// check returns the faults of settled options that version p of vLLM refuses at
// its start.
func (e *EngineSection) check(p scheduler.Preset) []strict.Fault {
	var faults []strict.Fault
	fault := func(option, format string, args ...any) {
		faults = append(faults, strict.Fault{Key: "engine." + option, Text: fmt.Sprintf(format, args...)})
	}
	vllm := p.Config.Policy == scheduler.VLLMV0 || p.Config.Policy == scheduler.VLLMV1
	if vllm && !*e.EnableChunkedPrefill && *e.MaxNumBatchedTokens < *e.MaxModelLen {
		fault("max_num_batched_tokens", "found %d, less than max_model_len, %d, which vLLM refuses with chunked prefill off: a prompt could be too long for any step; raise it, lower max_model_len, or take the line out",
			*e.MaxNumBatchedTokens, *e.MaxModelLen)
	}
	if vllm && *e.MaxNumBatchedTokens < *e.MaxNumSeqs {
		fault("max_num_seqs", "found %d, more than max_num_batched_tokens, %d, which vLLM refuses; lower it", *e.MaxNumSeqs, *e.MaxNumBatchedTokens)
	}
	if u := e.GPUMemoryUtilization; u != nil && !(*u > 0 && *u <= 1) {
		fault("gpu_memory_utilization", "found %v; must be more than 0 and at most 1", *u)
	}
	switch mode := value(e.PreemptionMode); mode {
	case "", scheduler.Recompute:
	case scheduler.Swap:
		fault("preemption_mode", "found swap; its schedules are modelled (servesim conform), but not the time that KV takes to the CPU's memory and back, of which there is no measurement for any GPU here; set recompute")
	default:
		fault("preemption_mode", "found %q; must be recompute, or swap, which is not simulated", mode)
	}
	least, null := int64(1), ""
	if p.Config.Policy == scheduler.VLLMV1 {
		least, null = 2, ", of which one is the null block"
	}
	if n := e.NumGPUBlocksOverride; n != nil && (*n < least || *n > math.MaxInt32) {
		fault("num_gpu_blocks_override", "found %d; must be from %d to %d blocks%s", *n, least, math.MaxInt32, null)
	}
	return append(faults, e.TensorRTLLMOptions.check(*e.EnableChunkedPrefill)...)
}

// lacking returns a fault for each option of e that version p doesn't have.
func (e *EngineSection) lacking(p scheduler.Preset) []strict.Fault {
	var faults []strict.Fault
	lacks := func(set, has bool, option, which string) {
		if set && !has {
			faults = append(faults, strict.Fault{
				Key:  "engine." + option,
				Text: fmt.Sprintf("%s has no such option; %s; take the line out", p.Name, which),
			})
		}
	}
	sglang := p.Config.Policy == scheduler.SGLang
	v0, v1 := p.Config.Policy == scheduler.VLLMV0, p.Config.Policy == scheduler.VLLMV1
	lacks(e.Watermark != nil, p.Watermarked, "watermark", "versions with it are "+versionsWith(func(p scheduler.Preset) bool { return p.Watermarked }))
	lacks(e.ReserveFullISL != nil, p.Config.ReserveFullISL, "scheduler_reserve_full_isl", "versions with it are "+versionsWith(func(p scheduler.Preset) bool { return p.Config.ReserveFullISL }))
	lacks(e.MaxNumPartialPrefills != nil, v0, "max_num_partial_prefills", "only the V0 engine limits partial prefills")
	lacks(e.MaxLongPartialPrefills != nil, v0, "max_long_partial_prefills", "only the V0 engine limits partial prefills")
	lacks(e.EnablePrefixCaching != nil, v1 || sglang, "enable_prefix_caching", "only the prefix caches of vLLM's V1 engine and of SGLang are modelled")
	lacks(e.PreemptionMode != nil, v0, "preemption_mode", "only the V0 engine can swap, others compute again")
	lacks(e.CUDAGraphMode != "", v1, "cudagraph_mode", "it replays graphs for decodes, or none with enforce_eager")
	trtllm := p.Config.OfTensorRTLLM()
	lacks(e.AsyncScheduling != nil && !trtllm, v1 || sglang, "async_scheduling", "it always alternates host and GPU")
	lacks(e.AsyncScheduling != nil && trtllm, false, "async_scheduling", "disable_overlap_scheduler is what it has")
	lacks(e.GPUMemoryUtilization != nil, !trtllm, "gpu_memory_utilization", "free_gpu_memory_fraction is what it has")
	faults = append(faults, e.SarathiOptions.faults(p)...)
	return append(append(faults, e.TensorRTLLMOptions.lacking(p)...), e.SGLangOptions.faults(p)...)
}

// config returns the scheduler's configuration that a settled e describes, with
// the number of KV blocks given.
func (e *EngineSection) config(p scheduler.Preset, blocks int64) scheduler.Config {
	c := p.Config
	c.MaxNumBatchedTokens = *e.MaxNumBatchedTokens
	c.MaxNumSeqs = *e.MaxNumSeqs
	c.MaxModelLen = *e.MaxModelLen
	c.BlockSize = *e.BlockSize
	c.NumGPUBlocks = blocks
	c.EnableChunkedPrefill = *e.EnableChunkedPrefill
	c.LongPrefillTokenThreshold = *e.LongPrefillTokenThreshold
	c.SchedulingPolicy = *e.SchedulingPolicy
	c.AsyncScheduling = value(e.AsyncScheduling)
	c.EnablePrefixCaching = value(e.EnablePrefixCaching)
	adopt(&c.Watermark, e.Watermark)
	adopt(&c.ReserveFullISL, e.ReserveFullISL)
	adopt(&c.MaxNumPartialPrefills, e.MaxNumPartialPrefills)
	adopt(&c.MaxLongPartialPrefills, e.MaxLongPartialPrefills)
	e.SarathiOptions.adopt(&c)
	e.TensorRTLLMOptions.adopt(&c)
	e.SGLangOptions.adopt(&c)
	return c
}

// versionsWith lists the presets that have what has asks for.
func versionsWith(has func(scheduler.Preset) bool) string {
	var names []string
	for _, p := range scheduler.Presets() {
		if has(p) {
			names = append(names, p.Name)
		}
	}
	return strings.Join(names, ", ")
}

// PolicyNames lists the engine versions.
func PolicyNames() []string {
	var names []string
	for _, p := range scheduler.Presets() {
		names = append(names, p.Name)
	}
	return names
}

// UnknownName says that word isn't the name of a kind of thing, and what is.
func UnknownName(kind, word string, names []string) string {
	return fmt.Sprintf("unknown %s %q; %s", kind, word, strict.Unlike(word, names))
}

// settle gives an absent option its default.
func settle[T any](option **T, value T) {
	if *option == nil {
		*option = &value
	}
}

// adopt copies an option that is there.
func adopt[T any](to *T, option *T) {
	if option != nil {
		*to = *option
	}
}
