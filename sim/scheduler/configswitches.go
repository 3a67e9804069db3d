package scheduler

// checkSwitches checks what only one policy uses.
func (c *Config) checkSwitches(fault func(string, ...any)) {
	if _, known := findPolicy(c.Policy); known && c.EnablePrefixCaching && c.Policy != VLLMV1 && c.Policy != SGLang {
		fault("enable_prefix_caching: found true, which is modelled for %s and %s alone; set false", VLLMV1, SGLang)
	}
	switch c.Policy {
	case VLLMV1:
		if c.AsyncScheduling && c.WastesLastStep {
			fault("async_scheduling: found true; this version would decode a token more than each request has, which is not modelled; set false, or take vllm@0.20")
		}
		switch c.Unchunked {
		case UnchunkedStop, UnchunkedSkip, UnchunkedIgnore:
		default:
			fault("unchunked rule: found %q; it must be stop, skip or ignore", c.Unchunked)
		}
		switch c.Victim {
		case VictimGhost, VictimRestore, VictimShift:
		default:
			fault("victim rule: found %q; it must be ghost, restore or shift", c.Victim)
		}
	case VLLMV0:
		if c.AsyncScheduling {
			fault("async_scheduling: found true, which %s does not have; set false", VLLMV0)
		}
		if c.EnableChunkedPrefill && c.SchedulingPolicy == Priority {
			fault("scheduling_policy: found priority, which has no effect in %s with chunked prefill on; set fcfs, or enable_chunked_prefill = false", VLLMV0)
		}
		if c.MaxNumPartialPrefills < 1 || c.MaxNumPartialPrefills > c.MaxNumBatchedTokens {
			fault("max_num_partial_prefills: found %d; it must be at least 1, and at most max_num_batched_tokens (%d) so that each prompt gets a token",
				c.MaxNumPartialPrefills, c.MaxNumBatchedTokens)
		}
		if c.MaxLongPartialPrefills < 1 || c.MaxLongPartialPrefills > c.MaxNumPartialPrefills {
			fault("max_long_partial_prefills: found %d; it must be at least 1 and at most max_num_partial_prefills (%d)",
				c.MaxLongPartialPrefills, c.MaxNumPartialPrefills)
		}
	}
	if c.OfSarathiServe() {
		c.checkSarathi(fault)
	}
	if c.OfTensorRTLLM() {
		c.checkTensorRTLLM(fault)
	} else if c.ContextChunking != "" {
		fault("context_chunking_policy: found %q; %s has none; take it out", c.ContextChunking, c.Policy)
	}
	if c.Policy == SGLang {
		c.checkSGLang(fault)
	}
	c.checkSwap(fault)
}

// checkSwap checks the mode of preemption.
func (c *Config) checkSwap(fault func(string, ...any)) {
	switch {
	case c.PreemptionMode != "" && c.PreemptionMode != Recompute && c.PreemptionMode != Swap:
		fault("preemption_mode: found %q; it must be recompute or swap", c.PreemptionMode)
	case c.PreemptionMode != Swap:
	case c.Policy != VLLMV0:
		fault("preemption_mode: found swap, which only %s has; set recompute", VLLMV0)
	case c.SchedulingPolicy == Priority:
		fault("preemption_mode: found swap beside scheduling_policy priority, of which no schedule is recorded; set recompute, or fcfs")
	case c.NumCPUBlocks < 1:
		fault("num_cpu_blocks: found %d; swapping needs at least 1", c.NumCPUBlocks)
	}
}

// checkSarathi checks what the policies of sarathi-serve do not have, or need.
func (c *Config) checkSarathi(fault func(string, ...any)) {
	if c.AsyncScheduling {
		fault("async_scheduling: found true, which %s does not have; set false", c.Policy)
	}
	if c.SchedulingPolicy == Priority {
		fault("scheduling_policy: found priority; %s serves by arrival; set fcfs", c.Policy)
	}
	if c.LongPrefillTokenThreshold != 0 {
		fault("long_prefill_token_threshold: found %d, which %s does not have; set 0", c.LongPrefillTokenThreshold, c.Policy)
	}
	chunked := c.Policy == Sarathi || c.Policy == SimpleChunking
	if c.EnableChunkedPrefill != chunked {
		fault("enable_chunked_prefill: found %v; %s has it %v", c.EnableChunkedPrefill, c.Policy, chunked)
	}
	if c.ReservesModelLen() && c.Regenerate {
		fault("regenerate: found true; %s never preempts; set false", c.Policy)
	}
	if need := (int64(c.MaxModelLen) + int64(c.BlockSize) - 1) / max(1, int64(c.BlockSize)); c.ReservesModelLen() && need > c.UsableBlocks()-c.watermark() {
		fault("max_model_len: found %d; %s reserves blocks for so many tokens, %d, for each request, and the pool has %d; lower it", c.MaxModelLen, c.Policy, need, c.UsableBlocks())
	}
	if c.ChunkSchedule.on() && c.Policy != Sarathi {
		fault("chunk schedule: %s has none; take it out", c.Policy)
	}
	c.ChunkSchedule.check(fault)
}

// checkTensorRTLLM checks what the policies of TensorRT-LLM do not have, or need.
func (c *Config) checkTensorRTLLM(fault func(string, ...any)) {
	if c.AsyncScheduling {
		fault("async_scheduling: found true; the overlap scheduler of TensorRT-LLM is not modelled; set false")
	}
	if c.SchedulingPolicy == Priority {
		fault("scheduling_policy: found priority, which is not modelled for %s; set fcfs", c.Policy)
	}
	if c.LongPrefillTokenThreshold != 0 {
		fault("long_prefill_token_threshold: found %d, which %s does not have; set 0", c.LongPrefillTokenThreshold, c.Policy)
	}
	if c.Watermark != 0 {
		fault("watermark: found %v, which %s does not have; set 0", c.Watermark, c.Policy)
	}
	if c.MaxNumBatchedTokens < c.MaxNumSeqs {
		fault("max_num_seqs: found %d, more than max_num_batched_tokens, %d: more could decode than a step has tokens for, which is not modelled for %s; lower it",
			c.MaxNumSeqs, c.MaxNumBatchedTokens, c.Policy)
	}
	if c.EnableChunkedPrefill && c.MaxNumBatchedTokens < c.BlockSize {
		fault("max_num_batched_tokens: found %d; %s computes prompts in chunks of block_size tokens, %d; raise it", c.MaxNumBatchedTokens, c.Policy, c.BlockSize)
	}
	if p := c.ContextChunking; p != FirstComeFirstServed && p != EqualProgress {
		fault("context_chunking_policy: found %q; it must be %s or %s", p, FirstComeFirstServed, EqualProgress)
	}
}
