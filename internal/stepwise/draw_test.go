package stepwise

import (
	"pgregory.net/rapid"

	"servesim/sim/scheduler"
	"servesim/sim/workload"
)

// anyScheduler draws a policy with limits small enough to preempt.
func anyScheduler(t *rapid.T) scheduler.Config {
	presets := scheduler.Presets()
	c := presets[rapid.IntRange(0, len(presets)-1).Draw(t, "preset")].Config
	c.MaxNumBatchedTokens = rapid.Int32Range(1, 64).Draw(t, "max_num_batched_tokens")
	c.MaxNumSeqs = rapid.Int32Range(1, 12).Draw(t, "max_num_seqs")
	c.MaxModelLen = rapid.Int32Range(8, 120).Draw(t, "max_model_len")
	c.BlockSize = rapid.SampledFrom([]int32{1, 2, 4, 5, 16}).Draw(t, "block_size")
	c.NumGPUBlocks = rapid.Int64Range(2, 60).Draw(t, "num_gpu_blocks")
	c.EnableChunkedPrefill = rapid.Bool().Draw(t, "chunked")
	c.LongPrefillTokenThreshold = rapid.SampledFrom([]int32{0, 0, 1, 3, 8}).Draw(t, "threshold")
	c.SchedulingPolicy = rapid.SampledFrom([]string{scheduler.FCFS, scheduler.FCFS, scheduler.Priority}).Draw(t, "scheduling_policy")
	if c.Policy == scheduler.VLLMV0 {
		if c.EnableChunkedPrefill {
			c.SchedulingPolicy = scheduler.FCFS
		}
		c.MaxNumPartialPrefills = rapid.Int32Range(1, min(3, c.MaxNumBatchedTokens)).Draw(t, "mpp")
		c.MaxLongPartialPrefills = rapid.Int32Range(1, c.MaxNumPartialPrefills).Draw(t, "mlpp")
		if c.SchedulingPolicy == scheduler.FCFS && rapid.Bool().Draw(t, "swap") {
			c.PreemptionMode, c.NumCPUBlocks = scheduler.Swap, rapid.SampledFrom([]int64{1, 5, 1000, 1000, 1000}).Draw(t, "cpu blocks")
		}
	}
	c.Watermark = rapid.SampledFrom([]float64{0, 0.01, 0.2}).Draw(t, "watermark")
	c.ReserveFullISL = rapid.Bool().Draw(t, "reserve")
	c.RefuseFullPrompt = rapid.Bool().Draw(t, "refuse full prompt")
	if c.OfSarathiServe() {
		anySarathi(t, &c)
	}
	if c.OfTensorRTLLM() {
		anyTensorRTLLM(t, &c)
	}
	if c.Policy == scheduler.SGLang {
		anySGLang(t, &c)
	}
	if c.Policy == scheduler.VLLMV1 {
		c.Unchunked = rapid.SampledFrom([]scheduler.UnchunkedRule{scheduler.UnchunkedStop, scheduler.UnchunkedSkip, scheduler.UnchunkedIgnore}).Draw(t, "unchunked")
		c.EnablePrefixCaching, c.UncachedFirst = rapid.IntRange(0, 3).Draw(t, "caching") > 0, rapid.Bool().Draw(t, "uncached first")
		c.AsyncScheduling, c.WastesLastStep = rapid.Bool().Draw(t, "async"), false
		c.Victim = rapid.SampledFrom([]scheduler.VictimRule{scheduler.VictimGhost, scheduler.VictimRestore, scheduler.VictimShift}).Draw(t, "victim")
	}
	return c
}

// anySarathi turns c into what a policy of sarathi-serve takes.
func anySarathi(t *rapid.T, c *scheduler.Config) {
	c.SchedulingPolicy, c.LongPrefillTokenThreshold = scheduler.FCFS, 0
	c.EnableChunkedPrefill = c.Policy == scheduler.Sarathi || c.Policy == scheduler.SimpleChunking
	if c.ReservesModelLen() {
		c.NumGPUBlocks += 2 + int64(c.MaxModelLen)/int64(c.BlockSize)*5/4
	} else {
		c.Regenerate = rapid.Bool().Draw(t, "regenerate")
	}
	if c.Policy == scheduler.Sarathi && rapid.Bool().Draw(t, "chunk schedule") {
		c.ChunkSchedule = scheduler.ChunkSchedule{LowChunkSize: 32, HighChunkSize: 64, MaxTokens: 30, Stages: rapid.Int32Range(1, 4).Draw(t, "stages")}
	}
}

// anyTensorRTLLM turns c into what a policy of TensorRT-LLM takes.
func anyTensorRTLLM(t *rapid.T, c *scheduler.Config) {
	c.SchedulingPolicy, c.LongPrefillTokenThreshold, c.Watermark = scheduler.FCFS, 0, 0
	c.MaxNumBatchedTokens = max(c.MaxNumBatchedTokens, c.MaxNumSeqs, c.BlockSize)
	c.ContextChunking = rapid.SampledFrom([]scheduler.ChunkingPolicy{scheduler.FirstComeFirstServed, scheduler.EqualProgress}).Draw(t, "context chunking")
}

// anySGLang turns c into what sglang takes.
func anySGLang(t *rapid.T, c *scheduler.Config) {
	c.BlockSize, c.LongPrefillTokenThreshold = 1, 0
	c.NumGPUBlocks = rapid.Int64Range(20, 200).Draw(t, "tokens")
	c.MaxPrefillTokens = rapid.Int32Range(1, 80).Draw(t, "max_prefill_tokens")
	c.ScheduleConservativeness = rapid.SampledFrom([]float64{0.02, 0.1, 0.3, 1, 2}).Draw(t, "schedule_conservativeness")
	c.EnablePrefixCaching = rapid.IntRange(0, 3).Draw(t, "radix cache") > 0
	c.IgnoreEOS = !c.EnablePrefixCaching && rapid.Bool().Draw(t, "ignore_eos")
	c.SchedulingPolicy = scheduler.FCFS
	if c.EnablePrefixCaching {
		c.SchedulingPolicy = rapid.SampledFrom([]string{scheduler.FCFS, scheduler.LPM}).Draw(t, "schedule_policy")
	}
	c.AsyncScheduling = rapid.Bool().Draw(t, "overlap")
	if c.EnableMixedChunk = c.EnableChunkedPrefill && rapid.Bool().Draw(t, "enable_mixed_chunk"); c.EnableMixedChunk {
		c.MaxNumBatchedTokens = max(c.MaxNumBatchedTokens, c.MaxNumSeqs)
	}
}

// anyBlocks draws the hashes of the prompt of r, that may begin as others do.
func anyBlocks(t *rapid.T, r *workload.Request) {
	r.BlockTokens = rapid.SampledFrom([]int32{4, 4, 4, 1, 6, 16}).Draw(t, "tokens of a hash")
	group := uint64(r.BlockTokens)<<8 | rapid.Uint64Range(0, 1).Draw(t, "group")
	alike := rapid.Int32Range(0, 16).Draw(t, "hashes alike")
	if r.LeadTokens = rapid.SampledFrom([]int32{0, 0, 3, 20}).Draw(t, "tokens of the first hash"); r.LeadTokens > 0 {
		group += uint64(r.LeadTokens) << 16
	}
	for i := range rapid.Int32Range(0, (r.Prompt+r.BlockTokens-1)/r.BlockTokens).Draw(t, "hashes") {
		hash := group<<24 | uint64(i)
		if i >= alike {
			hash |= uint64(r.ID+1) << 48
		}
		r.Blocks = append(r.Blocks, hash)
	}
}
