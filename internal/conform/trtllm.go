package conform

import (
	"cmp"
	"math"

	"servesim/sim/scheduler"
)

// TRTLLMParams are the limits and switches of a vector of TensorRT-LLM. Those that
// are absent are the defaults of the recordings.
type TRTLLMParams struct {
	Policy         string `json:"policy"`
	Blocks         int64  `json:"blocks"`
	TokensPerBlock int32  `json:"tpb"`
	MaxBatch       int32  `json:"max_batch"`
	MaxTok         int32  `json:"max_tok"`
	// Chunk is the chunking policy, fcfs or equal; without one prompts run whole.
	Chunk string `json:"chunk"`
	Reuse bool   `json:"reuse"`
}

// preset returns the version of p as sim/scheduler names it, or "".
func (p *TRTLLMParams) preset() string {
	switch p.Policy {
	case "", "noevict":
		return "trtllm@main"
	case "maxutil":
		return "trtllm-maxutil@main"
	case "static":
		return "trtllm-static@main"
	}
	return ""
}

// config returns c with the limits of p.
func (p *TRTLLMParams) config(c scheduler.Config) scheduler.Config {
	c.AllowLivelock = true
	c.NumGPUBlocks, c.BlockSize = cmp.Or(p.Blocks, 100), cmp.Or(p.TokensPerBlock, 4)
	c.MaxNumSeqs, c.MaxNumBatchedTokens = cmp.Or(p.MaxBatch, 4), cmp.Or(p.MaxTok, 64)
	c.MaxModelLen = math.MaxInt32 / 2
	c.EnableChunkedPrefill = p.Chunk != ""
	if p.Chunk == "equal" {
		c.ContextChunking = scheduler.EqualProgress
	}
	return c
}
