package scheduler

import (
	"cmp"
	"fmt"
	"strings"
)

// Preset is an engine version: a policy with its switches, and the limits that
// the version defaults to.
type Preset struct {
	// Name is what a scenario calls it, Summary one line about it.
	Name, Summary string
	// Config holds the switches; its limits are zero. See Limits.
	Config Config
	// GPUMemoryUtilization is the version's default share of GPU memory.
	GPUMemoryUtilization float64
	// Watermarked tells that the version has the watermark option.
	Watermarked bool
	// Devices are the limits by device, the first that a device meets; the last is
	// for all others.
	Devices []DeviceLimits
	// Source is where all this comes from.
	Source Source
}

// Presets lists the engine versions.
func Presets() []Preset {
	v1 := Config{
		Policy: VLLMV1, BlockSize: 16, EnableChunkedPrefill: true, SchedulingPolicy: FCFS, EnablePrefixCaching: true}
	v11, v20, v0 := v1, v1, v1
	v11.Unchunked, v11.Victim, v11.WastesLastStep = UnchunkedSkip, VictimGhost, true
	v20.Unchunked, v20.Victim, v20.ReserveFullISL = UnchunkedStop, VictimRestore, true
	v20.AsyncScheduling = true
	head := v20
	head.Victim, head.RefuseFullPrompt, head.UncachedFirst = VictimShift, true, true
	v0.Policy, v0.EnableChunkedPrefill, v0.Watermark = VLLMV0, false, 0.01
	v0.EnablePrefixCaching = false
	v0.MaxNumPartialPrefills, v0.MaxLongPartialPrefills = 1, 1
	return append([]Preset{
		{Name: "vllm@0.11", Summary: "vLLM 0.11, V1 engine", Config: v11, GPUMemoryUtilization: 0.9,
			Devices: vllmDevices(), Source: vllmSource("v0.11.0 (b8b302cde4)", "vllm/config/scheduler.py")},
		{Name: "vllm@0.20", Summary: "vLLM 0.20, V1 engine", Config: v20, GPUMemoryUtilization: 0.92,
			Devices: vllmDevices(), Source: vllmSource("v0.20.1 (132765e356)", "vllm/config/vllm.py")},
		{Name: "vllm@main", Summary: "vLLM main of August 2026, V1 engine", Config: head, GPUMemoryUtilization: 0.92, Watermarked: true,
			Devices: vllmDevices(), Source: vllmSource("main (5ac2684976, 2026-08-07)", "vllm/config/vllm.py")},
		{Name: "vllm@0.8-v0", Summary: "vLLM 0.8, V0 engine", Config: v0, GPUMemoryUtilization: 0.9, Watermarked: true,
			Devices: everywhere(2048, 256), Source: v0Source()},
	}, append(append(sarathiServe(), tensorRTLLM()...), sglangs()...)...)
}

// sarathiServe lists the schedulers of the sarathi-serve repository.
func sarathiServe() []Preset {
	var out []Preset
	for _, s := range []struct {
		name, policy, file, summary string
		chunked                     bool
	}{
		{"sarathi-serve@2026-01", Sarathi, "sarathi_scheduler.py", "Sarathi-Serve: chunks beside decodes", true},
		{"sarathi-serve-orca@2026-01", Orca, "orca_scheduler.py", "its Orca: whole prompts beside decodes", false},
		{"sarathi-serve-static@2026-01", Static, "faster_transformer_scheduler.py", "its FasterTransformer: batch by batch", false},
		{"sarathi-serve-vllm@2026-01", PrefillFirst, "vllm_scheduler.py", "its vLLM: whole prompts first", false},
		{"sarathi-serve-simple@2026-01", SimpleChunking, "simple_chunking_scheduler.py", "its simple chunking: chunks and decodes in turns", true},
	} {
		c := Config{Policy: s.policy, BlockSize: 16, EnableChunkedPrefill: s.chunked, SchedulingPolicy: FCFS}
		if !c.ReservesModelLen() {
			c.Watermark = 0.01
		}
		out = append(out, Preset{Name: s.name, Summary: s.summary, Config: c, GPUMemoryUtilization: 0.8,
			Devices: everywhere(512, 128), Source: sarathiSource(s.file)})
	}
	return out
}

// tensorRTLLM lists the capacity schedulers of TensorRT-LLM.
func tensorRTLLM() []Preset {
	var out []Preset
	for _, s := range []struct{ name, policy, summary string }{
		{"trtllm@main", TRTLLMNoEvict, "TensorRT-LLM, by reading: GUARANTEED_NO_EVICT"},
		{"trtllm-maxutil@main", TRTLLMMaxUtil, "its MAX_UTILIZATION"},
		{"trtllm-static@main", TRTLLMStatic, "its STATIC_BATCH"},
	} {
		out = append(out, Preset{Name: s.name, Summary: s.summary, GPUMemoryUtilization: 0.9, Devices: everywhere(8192, 2048), Source: tensorRTLLMSource(),
			Config: Config{Policy: s.policy, BlockSize: 32, SchedulingPolicy: FCFS, ContextChunking: FirstComeFirstServed, RefuseFullPrompt: true}})
	}
	return out
}

// FindPreset returns the preset called name. The error lists the names.
func FindPreset(name string) (Preset, error) {
	var names []string
	for _, p := range Presets() {
		if p.Name == name {
			return p, nil
		}
		names = append(names, p.Name)
	}
	return Preset{}, fmt.Errorf("unknown engine version %q; the versions are %s", name, strings.Join(names, ", "))
}

// Device is what vLLM's defaults depend on.
type Device struct {
	// Name is the GPU's, in any case.
	Name string
	// MemoryBytes is its memory, as the driver reports it.
	MemoryBytes float64
	// GPUs is the number of them that share the model; 0 is 1.
	GPUs int32
}

// meets tells that d is one of the devices that l is for.
func (d Device) meets(l DeviceLimits) bool {
	return d.MemoryBytes >= l.MinBytes && (l.Not == "" || !strings.Contains(strings.ToLower(d.Name), l.Not))
}

// On returns the limits of p for device d; without any, zero ones.
func (p Preset) On(d Device) (l DeviceLimits) {
	for _, l = range p.Devices {
		if d.meets(l) {
			break
		}
	}
	return l
}

// ChunkedPrefill returns the default of enable_chunked_prefill for a model of
// maxModelLen tokens: V1 has it on, V0 only for models of more than 32,768.
func (p Preset) ChunkedPrefill(maxModelLen int32) bool {
	if p.Config.Policy == VLLMV0 {
		return maxModelLen > 32768
	}
	return p.Config.EnableChunkedPrefill
}

// Limits returns the defaults of p for max_num_batched_tokens and max_num_seqs
// when serving (the API server's, not those of the offline LLM class), on
// device d, for a model of maxModelLen tokens and with chunked prefill as
// given. If givenSeqs is not 0, it is the max_num_seqs that the user set, which
// bounds the tokens too.
func (p Preset) Limits(d Device, maxModelLen int32, chunked bool, givenSeqs int32) (maxNumBatchedTokens, maxNumSeqs int32) {
	limits := p.On(d).Serve
	tokens, seqs := limits.MaxNumBatchedTokens, cmp.Or(givenSeqs, limits.MaxNumSeqs)
	switch {
	case p.Config.OfSarathiServe() && !chunked:
		return maxModelLen, seqs
	case !chunked && !p.Config.OfTensorRTLLM():
		tokens = max(tokens, maxModelLen)
	}
	if p.Config.Policy == SGLang && !chunked {
		return p.Config.MaxPrefillTokens, seqs
	}
	if p.Config.Policy != VLLMV1 {
		return tokens, seqs
	}
	if limit := int64(seqs) * int64(maxModelLen); int64(tokens) > limit {
		tokens = int32(limit)
	}
	return tokens, min(seqs, tokens)
}

// LongPrefillTokenThreshold returns the default of the option of that name for
// a model of maxModelLen tokens: V0 takes 4 % of it where several prompts may
// share a step, and everything else has none, 0.
func (p Preset) LongPrefillTokenThreshold(maxModelLen, maxNumPartialPrefills int32) int32 {
	if p.Config.Policy == VLLMV0 && maxNumPartialPrefills > 1 {
		return int32(float64(maxModelLen) * 0.04)
	}
	return 0
}
