package scheduler_test

import (
	"fmt"
	"testing"

	"pgregory.net/rapid"

	"servesim/sim/scheduler"
)

// modes calls test for every policy, chunked or not, under both scheduling
// policies where it has them, with a function that draws the rest of a configuration.
func modes(t *testing.T, test func(t *testing.T, draw func(*rapid.T) scheduler.Config)) {
	for _, p := range scheduler.Policies() {
		for _, chunked := range []bool{true, false} {
			for _, order := range []string{scheduler.FCFS, scheduler.Priority, scheduler.LPM} {
				c := scheduler.Config{Policy: p.Name}
				if (p.Name == scheduler.SGLang) != (order == scheduler.LPM) && order != scheduler.FCFS ||
					p.Name == scheduler.VLLMV0 && chunked && order == scheduler.Priority || c.OfTensorRTLLM() && order == scheduler.Priority ||
					c.OfSarathiServe() && (order == scheduler.Priority || chunked != chunks(p.Name)) {
					continue // a fault of the configuration
				}
				t.Run(fmt.Sprintf("%s/chunked=%v/%s", p.Name, chunked, order), func(t *testing.T) {
					test(t, func(t *rapid.T) scheduler.Config {
						c := anyLimits(t, p.Name)
						c.EnableChunkedPrefill, c.SchedulingPolicy = chunked, order
						if p.Name == scheduler.SGLang {
							sglangLimits(t, &c)
						}
						return c
					})
				})
			}
		}
	}
}

// chunks tells that a policy of sarathi-serve computes prompts in chunks.
func chunks(policy string) bool {
	return policy == scheduler.Sarathi || policy == scheduler.SimpleChunking
}

// anyLimits draws limits small enough to preempt, and every version switch.
func anyLimits(t *rapid.T, policy string) scheduler.Config {
	c := scheduler.Config{
		Policy:                    policy,
		MaxNumBatchedTokens:       rapid.Int32Range(1, 48).Draw(t, "max_num_batched_tokens"),
		MaxNumSeqs:                rapid.Int32Range(1, 8).Draw(t, "max_num_seqs"),
		MaxModelLen:               rapid.Int32Range(4, 80).Draw(t, "max_model_len"),
		BlockSize:                 rapid.SampledFrom([]int32{1, 2, 4, 5, 16}).Draw(t, "block_size"),
		NumGPUBlocks:              rapid.Int64Range(2, 40).Draw(t, "num_gpu_blocks"),
		LongPrefillTokenThreshold: rapid.SampledFrom([]int32{0, 0, 1, 3, 8}).Draw(t, "long_prefill_token_threshold"),
		Watermark:                 rapid.SampledFrom([]float64{0, 0.01, 0.2}).Draw(t, "watermark"),
		ReserveFullISL:            rapid.Bool().Draw(t, "scheduler_reserve_full_isl"),
		Unchunked: rapid.SampledFrom([]scheduler.UnchunkedRule{
			scheduler.UnchunkedStop, scheduler.UnchunkedSkip, scheduler.UnchunkedIgnore}).Draw(t, "unchunked"),
		Victim: rapid.SampledFrom([]scheduler.VictimRule{
			scheduler.VictimGhost, scheduler.VictimRestore, scheduler.VictimShift}).Draw(t, "victim"),
	}
	c.MaxNumPartialPrefills = rapid.Int32Range(1, min(3, c.MaxNumBatchedTokens)).Draw(t, "max_num_partial_prefills")
	c.MaxLongPartialPrefills = rapid.Int32Range(1, c.MaxNumPartialPrefills).Draw(t, "max_long_partial_prefills")
	if c.OfSarathiServe() {
		c.LongPrefillTokenThreshold = 0
	}
	if c.OfTensorRTLLM() {
		c.LongPrefillTokenThreshold, c.Watermark = 0, 0
		c.MaxNumBatchedTokens = max(c.MaxNumBatchedTokens, c.MaxNumSeqs, c.BlockSize)
		c.ContextChunking = rapid.SampledFrom([]scheduler.ChunkingPolicy{scheduler.FirstComeFirstServed, scheduler.EqualProgress}).Draw(t, "context chunking")
	}
	if c.ReservesModelLen() {
		c.NumGPUBlocks += 2 + int64(c.MaxModelLen)/int64(c.BlockSize)*5/4
	}
	if policy == scheduler.Sarathi && rapid.Bool().Draw(t, "chunk schedule") {
		c.ChunkSchedule = scheduler.ChunkSchedule{LowChunkSize: 32, HighChunkSize: 64, MaxTokens: 30, Stages: rapid.Int32Range(1, 4).Draw(t, "stages")}
	}
	return c
}

// sglangLimits draws what sglang has.
func sglangLimits(t *rapid.T, c *scheduler.Config) {
	c.BlockSize, c.LongPrefillTokenThreshold = 1, 0
	c.NumGPUBlocks, c.MaxModelLen = rapid.Int64Range(20, 150).Draw(t, "tokens"), rapid.Int32Range(60, 120).Draw(t, "context length")
	c.MaxPrefillTokens = rapid.Int32Range(1, 60).Draw(t, "max_prefill_tokens")
	c.ScheduleConservativeness = rapid.SampledFrom([]float64{0.05, 0.3, 1, 2}).Draw(t, "schedule_conservativeness")
	c.EnablePrefixCaching = c.SchedulingPolicy == scheduler.LPM || rapid.Bool().Draw(t, "radix cache")
	c.IgnoreEOS = !c.EnablePrefixCaching && rapid.Bool().Draw(t, "ignore_eos")
	c.CachesOutput = rapid.Bool().Draw(t, "caches output")
	if c.EnableMixedChunk = c.EnableChunkedPrefill && rapid.Bool().Draw(t, "enable_mixed_chunk"); c.EnableMixedChunk {
		c.MaxNumBatchedTokens = max(c.MaxNumBatchedTokens, c.MaxNumSeqs)
	}
}
