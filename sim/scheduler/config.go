package scheduler

import (
	"errors"
	"fmt"
	"math"
	"strings"
)

// UnchunkedRule says what vLLM V1 does, with chunked prefill off, with a prompt
// that is longer than what is left of the token budget.
type UnchunkedRule string

// The rules.
const (
	// UnchunkedStop ends admission for the step (vLLM from v0.12).
	UnchunkedStop UnchunkedRule = "stop"
	// UnchunkedSkip sets the request aside and tries the next; those set aside
	// go back to the front of the queue in reversed order (v0.9 to v0.11).
	UnchunkedSkip UnchunkedRule = "skip"
	// UnchunkedIgnore chunks the prompt all the same (up to v0.8.5).
	UnchunkedIgnore UnchunkedRule = "ignore"
)

// VictimRule says what vLLM V1's priority policy does when the victim of a
// preemption stands before the request that needs the blocks.
type VictimRule string

// The rules.
const (
	// VictimGhost leaves a victim that already got tokens in the step (up to v0.15).
	VictimGhost VictimRule = "ghost"
	// VictimRestore takes it out of the step and gives its tokens back (v0.16 to v0.20).
	VictimRestore VictimRule = "restore"
	// VictimShift does so too, and never skips the request behind (main).
	VictimShift VictimRule = "shift"
)

// The scheduling policies, as vLLM's --scheduling-policy names them.
const (
	FCFS     = "fcfs"
	Priority = "priority"
	// LPM is SGLang's: first what the radix cache has most of.
	LPM = "lpm"
)

// ChunkingPolicy says how TensorRT-LLM divides a step among prompts that do not all
// fit whole, as its context_chunking_policy names it. The unit is a KV block.
type ChunkingPolicy string

// The policies.
const (
	// FirstComeFirstServed gives each in turn what is left, in whole units or to
	// its end.
	FirstComeFirstServed ChunkingPolicy = "FIRST_COME_FIRST_SERVED"
	// EqualProgress gives each in turn one unit, again and again.
	EqualProgress ChunkingPolicy = "EQUAL_PROGRESS"
)

// sgSpareInput is the number of tokens by which SGLang wants a prompt to be shorter
// than a request may be.
const sgSpareInput = 5

// The modes of preemption of vLLM V0: a victim loses its KV blocks and computes
// its tokens again, or they wait for it in the CPU's memory.
const (
	Recompute = "recompute"
	Swap      = "swap"
)

// maxBlockSize is the largest block that is supported, in tokens.
const maxBlockSize = 1 << 16

// Config is a policy, its version switches and its limits. Names are the
// engines' own. A field with the tag switch is decided by the version alone; the
// tag says what it is.
type Config struct {
	// Policy is a name of Policies.
	Policy string
	// MaxNumBatchedTokens is the token budget of a step.
	MaxNumBatchedTokens int32
	// MaxNumSeqs is the number of sequences that may run at once.
	MaxNumSeqs int32
	// MaxModelLen is the longest prompt and output together, in tokens.
	MaxModelLen int32
	// BlockSize is the number of tokens of a KV block.
	BlockSize int32
	// NumGPUBlocks is the number of KV blocks as the engine prints it: for
	// vllm-v1 it includes the null block, which holds no tokens.
	NumGPUBlocks int64
	// EnableChunkedPrefill lets a prompt be computed over several steps.
	EnableChunkedPrefill bool
	// LongPrefillTokenThreshold caps the share of one prompt in a step; 0 is no cap.
	LongPrefillTokenThreshold int32
	// SchedulingPolicy is FCFS or Priority.
	SchedulingPolicy string
	// Watermark is the share of all blocks that an admission must leave free.
	Watermark float64
	// EnablePrefixCaching keeps blocks that nobody holds for sequences that begin
	// the same.
	EnablePrefixCaching bool
	// UncachedFirst (vllm-v1 with prefix caching) uses free blocks that nothing
	// can hit before those that something can.
	UncachedFirst bool `switch:"free blocks that nothing can hit are used first"`
	// ReserveFullISL (vllm-v1) admits a request only if blocks for all its
	// tokens are free, though it takes them chunk by chunk
	// (scheduler_reserve_full_isl).
	ReserveFullISL bool
	// RefuseFullPrompt (vllm-v1, trtllm) refuses a prompt of exactly max_model_len
	// tokens. Versions that take it generate one token.
	RefuseFullPrompt bool `switch:"a prompt of max_model_len tokens is refused"`
	// Unchunked (vllm-v1) is the rule for long prompts with chunked prefill off.
	Unchunked UnchunkedRule `switch:"what becomes, without chunked prefill, of a prompt that is longer than the rest of the budget"`
	// Victim (vllm-v1) is the rule for victims of the priority policy.
	Victim VictimRule `switch:"what becomes of the tokens of a victim that stands before the request that needs blocks"`
	// PreemptionMode (vllm-v0) is Swap, with NumCPUBlocks to swap to, or Recompute,
	// which an empty one is too.
	PreemptionMode string
	// NumCPUBlocks is the number of KV blocks that the CPU's memory holds.
	NumCPUBlocks int64
	// MaxNumPartialPrefills and MaxLongPartialPrefills (vllm-v0 with chunked
	// prefill) limit how many prompts share a step.
	MaxNumPartialPrefills, MaxLongPartialPrefills int32
	// AsyncScheduling (vllm-v1) plans a step before the result of the one before
	// is seen: what ends in a step keeps its slot and its blocks for one more.
	AsyncScheduling bool
	// WastesLastStep tells that, with asynchronous scheduling, the version
	// decodes one token more than a request has, which is not modelled.
	WastesLastStep bool `switch:"asynchronous scheduling decodes a token more than a request has, which is not modelled"`
	// Regenerate (sarathi, prefill-first, simple-chunking) makes a preempted request
	// generate all its output once more, what it had generated being prompt by
	// then, as the repository does. Otherwise it generates what is missing.
	Regenerate bool
	// ChunkSchedule (sarathi) takes the place of max_num_batched_tokens.
	ChunkSchedule ChunkSchedule
	// ContextChunking (trtllm, with chunked prefill) divides a step among prompts.
	ContextChunking ChunkingPolicy
	// MaxPrefillTokens (sglang) is the most prompt tokens of a step that holds
	// several prompts.
	MaxPrefillTokens int32
	// EnableMixedChunk (sglang) lets decodes run beside prompts.
	EnableMixedChunk bool
	// ScheduleConservativeness (sglang) scales the share of their outputs that
	// running requests are expected to make yet.
	ScheduleConservativeness float64
	// IgnoreEOS (sglang without a radix cache) admits by a forecast of every
	// request's memory, as the engine does of requests that ignore the end token.
	IgnoreEOS bool
	// CachesOutput (sglang) leaves the output of a request that has ended in the
	// radix cache beside its prompt (not in v0.5.6).
	CachesOutput bool
	// AllowLivelock keeps a request that can never fit in the queue, where it
	// blocks the ones behind it for ever, as the real engine does.
	AllowLivelock bool
}

// UsableBlocks returns the number of KV blocks that sequences can hold: vLLM V1
// keeps one as the null block.
func (c *Config) UsableBlocks() int64 {
	if c.Policy == VLLMV1 {
		return c.NumGPUBlocks - 1
	}
	return c.NumGPUBlocks
}

// OfSarathiServe tells that the policy is one of the sarathi-serve repository,
// where only the output count ends a request.
func (c *Config) OfSarathiServe() bool {
	switch c.Policy {
	case Sarathi, Orca, Static, PrefillFirst, SimpleChunking:
		return true
	}
	return false
}

// OfTensorRTLLM tells that the policy is one of TensorRT-LLM.
func (c *Config) OfTensorRTLLM() bool {
	switch c.Policy {
	case TRTLLMNoEvict, TRTLLMMaxUtil, TRTLLMStatic:
		return true
	}
	return false
}

// TakesBack tells that a plan can take back a token of the step before, of which
// the engine has not seen the result: it comes with the Loss of its sequence.
func (c *Config) TakesBack() bool { return c.Policy == SGLang && c.AsyncScheduling }

// ReservesModelLen tells that a request holds blocks for max_model_len tokens
// from its admission to its end.
func (c *Config) ReservesModelLen() bool { return c.Policy == Orca || c.Policy == Static }

// watermark returns the number of blocks that an admission must leave free.
func (c *Config) watermark() int64 { return int64(float64(c.NumGPUBlocks) * c.Watermark) }

// OutputLimit returns how many tokens a request with this prompt can generate
// before max_model_len ends it, 0 or less if the engine's front end refuses the
// prompt. vLLM V1 stops when the length reaches max_model_len, V0 when it
// exceeds it, sarathi-serve never.
func (c *Config) OutputLimit(prompt int32) int32 {
	switch room := c.MaxModelLen - prompt; {
	case c.OfSarathiServe():
		return math.MaxInt32
	case c.Policy == SGLang && room <= 1+sgSpareInput:
		return 0
	case c.Policy == SGLang:
		return max(1, int32(min(int64(room), c.NumGPUBlocks-int64(prompt)))-2)
	case c.Policy == VLLMV0:
		return room + 1
	case room == 0 && !c.RefuseFullPrompt:
		return 1
	default:
		return room
	}
}

// otherOrder returns the scheduling policy that there is beside FCFS.
func (c *Config) otherOrder() string {
	if c.Policy == SGLang {
		return LPM
	}
	return Priority
}

// Check returns all faults of c, joined, or nil.
func (c *Config) Check() error {
	var faults []error
	fault := func(format string, args ...any) { faults = append(faults, fmt.Errorf(format, args...)) }
	if _, known := findPolicy(c.Policy); !known {
		var names []string
		for _, p := range Policies() {
			names = append(names, p.Name)
		}
		fault("policy: unknown policy %q; the policies are %s", c.Policy, strings.Join(names, ", "))
	}
	positive := func(key string, v int64) {
		if v < 1 {
			fault("%s: found %d; it must be at least 1", key, v)
		}
	}
	positive("max_num_batched_tokens", int64(c.MaxNumBatchedTokens))
	positive("max_num_seqs", int64(c.MaxNumSeqs))
	positive("max_model_len", int64(c.MaxModelLen))
	positive("block_size", int64(c.BlockSize))
	if c.BlockSize > maxBlockSize {
		fault("block_size: found %d; it must be at most %d", c.BlockSize, maxBlockSize)
	}
	if c.UsableBlocks() < 1 {
		fault("num_gpu_blocks: found %d; vllm-v1 needs at least 2, of which one is the null block, others 1", c.NumGPUBlocks)
	}
	if c.NumGPUBlocks > math.MaxInt32 {
		fault("num_gpu_blocks: found %d; at most %d are supported", c.NumGPUBlocks, math.MaxInt32)
	}
	if c.LongPrefillTokenThreshold < 0 {
		fault("long_prefill_token_threshold: found %d; it must be 0 (no cap) or more", c.LongPrefillTokenThreshold)
	}
	if c.SchedulingPolicy != FCFS && c.SchedulingPolicy != c.otherOrder() {
		fault("scheduling_policy: found %q; it must be fcfs or %s", c.SchedulingPolicy, c.otherOrder())
	}
	if !(c.Watermark >= 0 && c.Watermark < 1) {
		fault("watermark: found %v; it must be at least 0 and less than 1", c.Watermark)
	}
	c.checkSwitches(fault)
	return errors.Join(faults...)
}
