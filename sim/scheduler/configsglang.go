package scheduler

// checkSGLang checks what sglang does not have, or needs.
func (c *Config) checkSGLang(fault func(string, ...any)) {
	if c.BlockSize != 1 {
		fault("block_size: found %d; %s counts KV memory in tokens; set 1", c.BlockSize, SGLang)
	}
	if c.LongPrefillTokenThreshold != 0 {
		fault("long_prefill_token_threshold: found %d, which %s does not have; set 0", c.LongPrefillTokenThreshold, SGLang)
	}
	if c.MaxPrefillTokens < 1 {
		fault("max_prefill_tokens: found %d; it must be at least 1", c.MaxPrefillTokens)
	}
	if !(c.ScheduleConservativeness > 0 && c.ScheduleConservativeness <= 10) {
		fault("schedule_conservativeness: found %v; it must be more than 0 and at most 10", c.ScheduleConservativeness)
	}
	if c.EnableMixedChunk && !c.EnableChunkedPrefill {
		fault("enable_mixed_chunk: found true; it needs enable_chunked_prefill")
	}
	if c.EnableMixedChunk && c.MaxNumBatchedTokens < c.MaxNumSeqs {
		fault("max_num_batched_tokens: found %d; with enable_mixed_chunk the decodes count, and it must be at least max_num_seqs, %d", c.MaxNumBatchedTokens, c.MaxNumSeqs)
	}
	if c.SchedulingPolicy == LPM && !c.EnablePrefixCaching {
		fault("scheduling_policy: found lpm; without enable_prefix_caching it is fcfs; set that")
	}
	if c.IgnoreEOS && c.EnablePrefixCaching {
		fault("ignore_eos: found true, which has no effect with enable_prefix_caching; set false")
	}
}
