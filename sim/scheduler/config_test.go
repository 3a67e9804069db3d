package scheduler_test

import (
	"math"
	"reflect"
	"strings"
	"testing"

	"servesim/sim/scheduler"
)

// good returns a configuration without faults.
func good(t *testing.T, preset string) scheduler.Config {
	t.Helper()
	p, err := scheduler.FindPreset(preset)
	if err != nil {
		t.Fatal(err)
	}
	c := p.Config
	c.MaxNumBatchedTokens, c.MaxNumSeqs, c.MaxModelLen, c.NumGPUBlocks = 2048, 256, 4096, 100
	if c.ReservesModelLen() {
		c.NumGPUBlocks = 256
	}
	return c
}

func TestCheck(t *testing.T) {
	v1 := func(change func(*scheduler.Config)) scheduler.Config {
		c := good(t, "vllm@0.20")
		change(&c)
		return c
	}
	v0 := func(change func(*scheduler.Config)) scheduler.Config {
		c := good(t, "vllm@0.8-v0")
		change(&c)
		return c
	}
	sarathi := func(policy string, change func(*scheduler.Config)) scheduler.Config {
		c := good(t, "sarathi-serve@2026-01")
		c.Policy, c.NumGPUBlocks = policy, 256
		c.EnableChunkedPrefill = chunks(policy)
		if policy == scheduler.Orca {
			c.Watermark = 0
		}
		change(&c)
		return c
	}
	trt := func(change func(*scheduler.Config)) scheduler.Config {
		c := good(t, "trtllm@main")
		change(&c)
		return c
	}
	type config = scheduler.Config
	for _, c := range []struct {
		config scheduler.Config
		want   string
	}{
		{v1(func(*config) {}), ""},
		{v0(func(*config) {}), ""},
		{v1(func(c *config) { c.NumGPUBlocks = 2 }), ""},
		{v0(func(c *config) { c.NumGPUBlocks = 1 }), ""},
		{v1(func(c *config) { c.Unchunked, c.Victim = scheduler.UnchunkedSkip, scheduler.VictimShift }), ""},
		{v1(func(c *config) { c.Unchunked = scheduler.UnchunkedIgnore }), ""},
		{v1(func(c *config) { c.MaxNumPartialPrefills, c.MaxLongPartialPrefills = 0, 0 }), ""}, // V0's
		{v0(func(c *config) { c.Unchunked, c.Victim = "", "" }), ""},                           // V1's
		{v1(func(c *config) { c.Policy = "vllm" }), `policy: unknown policy "vllm"; the policies are vllm-v1, vllm-v0, sarathi, orca, static, prefill-first, simple-chunking, trtllm-noevict, trtllm-maxutil, trtllm-static, sglang`},
		{v1(func(c *config) { c.MaxNumBatchedTokens = 0 }), "max_num_batched_tokens: found 0; it must be at least 1"},
		{v1(func(c *config) { c.MaxNumSeqs = -1 }), "max_num_seqs: found -1; it must be at least 1"},
		{v1(func(c *config) { c.MaxModelLen = 0 }), "max_model_len: found 0; it must be at least 1"},
		{v1(func(c *config) { c.BlockSize = 0 }), "block_size: found 0; it must be at least 1"},
		{v1(func(c *config) { c.NumGPUBlocks = 1 }),
			"num_gpu_blocks: found 1; vllm-v1 needs at least 2, of which one is the null block, others 1"},
		{v0(func(c *config) { c.NumGPUBlocks = 0 }),
			"num_gpu_blocks: found 0; vllm-v1 needs at least 2, of which one is the null block, others 1"},
		{v1(func(c *config) { c.NumGPUBlocks = math.MaxInt32 + 1 }), "num_gpu_blocks: found 2147483648; at most 2147483647 are supported"},
		{v1(func(c *config) { c.LongPrefillTokenThreshold = -1 }), "long_prefill_token_threshold: found -1; it must be 0 (no cap) or more"},
		{v1(func(c *config) { c.SchedulingPolicy = "sjf" }), `scheduling_policy: found "sjf"; it must be fcfs or priority`},
		{v1(func(c *config) { c.Watermark = -0.1 }), "watermark: found -0.1; it must be at least 0 and less than 1"},
		{v1(func(c *config) { c.Watermark = 1 }), "watermark: found 1; it must be at least 0 and less than 1"},
		{v1(func(c *config) { c.Watermark = math.NaN() }), "watermark: found NaN; it must be at least 0 and less than 1"},
		{v1(func(c *config) { c.Unchunked = "wait" }), `unchunked rule: found "wait"; it must be stop, skip or ignore`},
		{v1(func(c *config) { c.Victim = "" }), `victim rule: found ""; it must be ghost, restore or shift`},
		{v0(func(c *config) { c.PreemptionMode, c.NumCPUBlocks = "swap", 1 }), ""},
		{v0(func(c *config) { c.PreemptionMode = "swap" }), "num_cpu_blocks: found 0; swapping needs at least 1"},
		{v0(func(c *config) { c.PreemptionMode = "drop" }), `preemption_mode: found "drop"; it must be recompute or swap`},
		{v0(func(c *config) { c.PreemptionMode, c.NumCPUBlocks, c.SchedulingPolicy = "swap", 1, "priority" }),
			"preemption_mode: found swap beside scheduling_policy priority, of which no schedule is recorded; set recompute, or fcfs"},
		{v1(func(c *config) { c.PreemptionMode, c.NumCPUBlocks = "swap", 1 }), "preemption_mode: found swap, which only vllm-v0 has; set recompute"},
		{v0(func(c *config) { c.MaxNumPartialPrefills = 0; c.MaxLongPartialPrefills = 1 }),
			"max_num_partial_prefills: found 0; it must be at least 1, and at most max_num_batched_tokens (2048) so that each prompt gets a token\n" +
				"max_long_partial_prefills: found 1; it must be at least 1 and at most max_num_partial_prefills (0)"},
		{v0(func(c *config) { c.MaxNumPartialPrefills = 2049 }),
			"max_num_partial_prefills: found 2049; it must be at least 1, and at most max_num_batched_tokens (2048) so that each prompt gets a token"},
		{v0(func(c *config) { c.MaxLongPartialPrefills = 2 }),
			"max_long_partial_prefills: found 2; it must be at least 1 and at most max_num_partial_prefills (1)"},
		{sarathi(scheduler.Sarathi, func(c *config) {
			c.AsyncScheduling, c.SchedulingPolicy, c.LongPrefillTokenThreshold, c.EnableChunkedPrefill = true, scheduler.Priority, 8, false
		}), "async_scheduling: found true, which sarathi does not have; set false\n" +
			"scheduling_policy: found priority; sarathi serves by arrival; set fcfs\n" +
			"long_prefill_token_threshold: found 8, which sarathi does not have; set 0\n" +
			"enable_chunked_prefill: found false; sarathi has it true"},
		{sarathi(scheduler.Orca, func(c *config) { c.Regenerate, c.NumGPUBlocks = true, 255 }),
			"regenerate: found true; orca never preempts; set false\n" +
				"max_model_len: found 4096; orca reserves blocks for so many tokens, 256, for each request, and the pool has 255; lower it"},
		{sarathi(scheduler.SimpleChunking, func(c *config) {
			c.ChunkSchedule = scheduler.ChunkSchedule{LowChunkSize: 32, HighChunkSize: 64, MaxTokens: 8, Stages: 2}
		}), "chunk schedule: simple-chunking has none; take it out"},
		{sarathi(scheduler.Sarathi, func(c *config) { c.ChunkSchedule = scheduler.ChunkSchedule{LowChunkSize: 96, HighChunkSize: 65} }),
			"high_chunk_size: found 65; it must be a multiple of 32 tokens\nhigh_chunk_size: found 65; it must be at least low_chunk_size, 96\n" +
				"chunk_schedule_stages: found 0; it must be at least 1\nchunk_schedule_max_tokens: found 0; it must be at least 1, and chunk_schedule_stages (0)"},
		{trt(func(c *config) { c.EnableChunkedPrefill, c.ContextChunking = true, scheduler.EqualProgress }), ""},
		{trt(func(c *config) {
			c.AsyncScheduling, c.SchedulingPolicy, c.LongPrefillTokenThreshold, c.Watermark, c.ContextChunking = true, scheduler.Priority, 8, 0.01, "FORCE_CHUNK"
		}), "async_scheduling: found true; the overlap scheduler of TensorRT-LLM is not modelled; set false\n" +
			"scheduling_policy: found priority, which is not modelled for trtllm-noevict; set fcfs\n" +
			"long_prefill_token_threshold: found 8, which trtllm-noevict does not have; set 0\n" +
			"watermark: found 0.01, which trtllm-noevict does not have; set 0\n" +
			`context_chunking_policy: found "FORCE_CHUNK"; it must be FIRST_COME_FIRST_SERVED or EQUAL_PROGRESS`},
		{trt(func(c *config) { c.EnableChunkedPrefill, c.MaxNumBatchedTokens = true, 31 }),
			"max_num_seqs: found 256, more than max_num_batched_tokens, 31: more could decode than a step has tokens for, which is not modelled for trtllm-noevict; lower it\n" +
				"max_num_batched_tokens: found 31; trtllm-noevict computes prompts in chunks of block_size tokens, 32; raise it"},
		{v1(func(c *config) { c.ContextChunking = scheduler.EqualProgress }), `context_chunking_policy: found "EQUAL_PROGRESS"; vllm-v1 has none; take it out`},
		{v0(func(c *config) { c.MaxNumSeqs, c.BlockSize, c.SchedulingPolicy = 0, -16, "" }), // all at once
			"max_num_seqs: found 0; it must be at least 1\nblock_size: found -16; it must be at least 1\n" +
				`scheduling_policy: found ""; it must be fcfs or priority`},
	} {
		err := c.config.Check()
		if got := text(err); got != c.want {
			t.Errorf("Check returns\n%s\nwant\n%s", got, c.want)
		}
		p, err := scheduler.New(c.config)
		if got := text(err); got != c.want || (p == nil) != (c.want != "") {
			t.Errorf("New returns %v and\n%s\nwant\n%s", p, got, c.want)
		}
	}
}

// text returns what err says, or "".
func text(err error) string {
	if err == nil {
		return ""
	}
	return err.Error()
}

// TestOutputLimit: V1 stops when the length reaches max_model_len, V0 when it
// exceeds it.
func TestOutputLimit(t *testing.T) {
	for preset, want := range map[string]int32{"vllm@0.20": 96, "vllm@0.8-v0": 97, "trtllm@main": 96} {
		c := good(t, preset)
		if got := c.OutputLimit(4000); got != want {
			t.Errorf("%s lets a prompt of 4,000 of 4,096 tokens generate %d; want %d", preset, got, want)
		}
	}
}

func TestFits(t *testing.T) {
	never := map[string]string{
		"blocks": "needs more KV blocks than the pool has",
		"budget": "prompt exceeds max_num_batched_tokens with chunked prefill off",
	}
	for _, c := range []struct {
		what           string
		change         func(*scheduler.Config)
		prompt, output int32
		want           string
	}{
		// 99 blocks of 16 hold 1,584 tokens; the last token made is not stored.
		{"fills the pool", nil, 1500, 85, ""},
		{"a token over the pool", nil, 1500, 86, never["blocks"]},
		{"fills the budget", func(c *scheduler.Config) { c.EnableChunkedPrefill, c.MaxNumBatchedTokens = false, 1000 }, 1000, 9, ""},
		{"over the budget", func(c *scheduler.Config) { c.EnableChunkedPrefill, c.MaxNumBatchedTokens = false, 1000 }, 1001, 9, never["budget"]},
		{"over the budget, cut", func(c *scheduler.Config) {
			c.EnableChunkedPrefill, c.MaxNumBatchedTokens, c.LongPrefillTokenThreshold = false, 1000, 500
		}, 1001, 9, ""},
		{"over the budget, chunked all the same", func(c *scheduler.Config) {
			c.EnableChunkedPrefill, c.MaxNumBatchedTokens, c.Unchunked = false, 1000, scheduler.UnchunkedIgnore
		}, 1001, 9, ""},
		{"over the pool, as the engine has it", func(c *scheduler.Config) { c.AllowLivelock = true }, 1500, 86, ""},
	} {
		config := good(t, "vllm@0.20")
		if c.change != nil {
			c.change(&config)
		}
		p, err := scheduler.New(config)
		if err != nil {
			t.Fatal(err)
		}
		if got := p.Fits(scheduler.Seq{Prompt: c.prompt, Output: c.output}); got != c.want {
			t.Errorf("%s: %d and %d tokens: %q; want %q", c.what, c.prompt, c.output, got, c.want)
		}
	}
}

// TestFitsTensorRTLLM: a request is refused if its blocks are more than the pool's 100
// of 32 tokens, for all its tokens where they are set aside, without the last one's
// where they are not.
func TestFitsTensorRTLLM(t *testing.T) {
	const blocks, budget = "needs more KV blocks than the pool has", "prompt exceeds max_num_batched_tokens with chunked prefill off"
	for _, c := range []struct {
		preset         string
		chunked        bool
		prompt, output int32
		want           string
	}{
		{"trtllm@main", false, 2000, 1200, ""},
		{"trtllm@main", false, 2000, 1201, blocks},
		{"trtllm-static@main", false, 2000, 1201, blocks},
		{"trtllm-maxutil@main", false, 2000, 1201, ""},
		{"trtllm-maxutil@main", false, 2000, 1202, blocks},
		{"trtllm@main", false, 2048, 1, ""},
		{"trtllm@main", false, 2049, 1, budget},
		{"trtllm@main", true, 2049, 1, ""},
	} {
		config := good(t, c.preset)
		config.EnableChunkedPrefill = c.chunked
		p, err := scheduler.New(config)
		if err != nil {
			t.Fatal(err)
		}
		if got := p.Fits(scheduler.Seq{Prompt: c.prompt, Output: c.output}); got != c.want {
			t.Errorf("%s, chunked %v: %d and %d tokens: %q; want %q", c.preset, c.chunked, c.prompt, c.output, got, c.want)
		}
	}
}

func TestFindPreset(t *testing.T) {
	for _, p := range scheduler.Presets() {
		got, err := scheduler.FindPreset(p.Name)
		if err != nil || !reflect.DeepEqual(got, p) {
			t.Errorf("FindPreset(%q) returns %+v, %v", p.Name, got, err)
		}
		if c := good(t, p.Name); c.Check() != nil {
			t.Errorf("%s with limits: %v", p.Name, c.Check())
		}
		if c := p.Config; c.MaxNumBatchedTokens+c.MaxNumSeqs+c.MaxModelLen != 0 || c.NumGPUBlocks != 0 {
			t.Errorf("%s sets limits: %+v", p.Name, c)
		}
	}
	_, err := scheduler.FindPreset("vllm@0.9")
	want := `unknown engine version "vllm@0.9"; the versions are vllm@0.11, vllm@0.20, vllm@main, vllm@0.8-v0, sarathi-serve@2026-01, sarathi-serve-orca@2026-01, ` +
		"sarathi-serve-static@2026-01, sarathi-serve-vllm@2026-01, sarathi-serve-simple@2026-01, trtllm@main, trtllm-maxutil@main, trtllm-static@main, sglang@0.5.6, sglang@2026-02"
	if text(err) != want {
		t.Errorf("FindPreset returns\n%v\nwant\n%s", err, want)
	}
}

// TestVersionSwitches holds what tells the versions apart.
func TestVersionSwitches(t *testing.T) {
	for _, c := range []struct {
		name        string
		reserve     bool // since v0.19
		unchunked   scheduler.UnchunkedRule
		victim      scheduler.VictimRule
		async       bool // by default since v0.14
		watermark   bool
		utilization float64 // 0.92 since v0.20
	}{
		{"vllm@0.11", false, scheduler.UnchunkedSkip, scheduler.VictimGhost, false, false, 0.9},
		{"vllm@0.20", true, scheduler.UnchunkedStop, scheduler.VictimRestore, true, false, 0.92},
		{"vllm@main", true, scheduler.UnchunkedStop, scheduler.VictimShift, true, true, 0.92},
		{"vllm@0.8-v0", false, "", "", false, true, 0.9},
	} {
		p, err := scheduler.FindPreset(c.name)
		if err != nil {
			t.Fatal(err)
		}
		if v1 := p.Config.Policy == "vllm-v1"; v1 && (p.Config.Unchunked != c.unchunked || p.Config.Victim != c.victim) ||
			p.Config.ReserveFullISL != c.reserve || p.Config.AsyncScheduling != c.async || p.Watermarked != c.watermark ||
			p.GPUMemoryUtilization != c.utilization || p.Config.EnableChunkedPrefill != v1 || p.Config.BlockSize != 16 {
			t.Errorf("%s is %+v; want %+v", c.name, p, c)
		}
	}
}

func TestLimits(t *testing.T) {
	const gib = 1 << 30
	h100 := scheduler.Device{Name: "H100-SXM-80GB", MemoryBytes: 80 * gib}
	a100 := scheduler.Device{Name: "NVIDIA A100-SXM4-80GB", MemoryBytes: 80 * gib}
	small := scheduler.Device{Name: "A100-40", MemoryBytes: 40 * gib}
	l40 := scheduler.Device{Name: "L40S", MemoryBytes: 48 * gib}
	edge := scheduler.Device{Name: "X", MemoryBytes: 70 * gib}
	below := scheduler.Device{Name: "X", MemoryBytes: 70*gib - 1}
	for _, c := range []struct {
		presets      string
		device       scheduler.Device
		modelLen     int32
		chunked      bool
		given        int32 // max_num_seqs that the user set
		tokens, seqs int32
	}{
		{"vllm@0.11 vllm@0.20 vllm@main", h100, 131072, true, 0, 8192, 1024},
		{"vllm@0.11 vllm@0.20 vllm@main", edge, 131072, true, 0, 8192, 1024},
		{"vllm@0.11 vllm@0.20 vllm@main", below, 131072, true, 0, 2048, 256},
		{"vllm@0.11 vllm@0.20 vllm@main", a100, 131072, true, 0, 2048, 256},
		{"vllm@0.11 vllm@0.20 vllm@main", small, 131072, true, 0, 2048, 256},
		{"vllm@0.11 vllm@0.20 vllm@main", l40, 131072, true, 0, 2048, 256},
		{"vllm@0.20", h100, 131072, false, 0, 131072, 1024}, // chunked off: a step must hold any prompt
		{"vllm@0.20", h100, 4096, false, 0, 8192, 1024},
		{"vllm@0.20", a100, 4096, false, 0, 4096, 256},
		{"vllm@0.20", a100, 1024, false, 0, 2048, 256},
		{"vllm@0.20", h100, 4, true, 0, 4096, 1024}, // no more than max_num_seqs × max_model_len
		{"vllm@0.20", a100, 4, true, 0, 1024, 256},
		{"vllm@0.20", h100, 1, true, 0, 1024, 1024},
		{"vllm@0.20", h100, 2048, true, 2, 4096, 2},
		{"vllm@0.20", h100, 131072, true, 64, 8192, 64},
		{"vllm@0.20", h100, 131072, true, 9000, 8192, 8192},
		{"vllm@0.8-v0", h100, 131072, true, 0, 2048, 256},
		{"sarathi-serve@2026-01 sarathi-serve-simple@2026-01", h100, 131072, true, 0, 512, 128},
		{"sarathi-serve-orca@2026-01 sarathi-serve-static@2026-01 sarathi-serve-vllm@2026-01", h100, 4096, false, 64, 4096, 64},
		{"vllm@0.8-v0", h100, 131072, true, 8, 2048, 8},
		{"vllm@0.8-v0", h100, 131072, false, 0, 131072, 256},
		{"vllm@0.8-v0", l40, 1024, false, 0, 2048, 256},
	} {
		for _, name := range strings.Fields(c.presets) {
			p, err := scheduler.FindPreset(name)
			if err != nil {
				t.Fatal(err)
			}
			if tokens, seqs := p.Limits(c.device, c.modelLen, c.chunked, c.given); tokens != c.tokens || seqs != c.seqs {
				t.Errorf("%s on %s, %d tokens long, chunked %v: %d tokens and %d sequences; want %d and %d",
					name, c.device.Name, c.modelLen, c.chunked, tokens, seqs, c.tokens, c.seqs)
			}
		}
	}
}

func TestChunkedPrefillDefault(t *testing.T) {
	for name, want := range map[string][2]bool{ // for models of 32,768 tokens and of 32,769
		"vllm@0.11": {true, true}, "vllm@0.20": {true, true}, "vllm@main": {true, true}, "vllm@0.8-v0": {false, true},
	} {
		p, err := scheduler.FindPreset(name)
		if err != nil {
			t.Fatal(err)
		}
		if got := [2]bool{p.ChunkedPrefill(32768), p.ChunkedPrefill(32769)}; got != want {
			t.Errorf("%s: %v, want %v", name, got, want)
		}
	}
}

func TestPromptOfMaxModelLen(t *testing.T) {
	for name, want := range map[string][3]int32{ // room for prompts of 99, 100 and 101 of 100 tokens
		"vllm@0.11": {1, 1, -1}, "vllm@0.20": {1, 1, -1}, "vllm@main": {1, 0, -1}, "vllm@0.8-v0": {2, 1, 0},
	} {
		p, err := scheduler.FindPreset(name)
		if err != nil {
			t.Fatal(err)
		}
		c := p.Config
		c.MaxModelLen = 100
		if got := [3]int32{c.OutputLimit(99), c.OutputLimit(100), c.OutputLimit(101)}; got != want {
			t.Errorf("%s: %v, want %v", name, got, want)
		}
	}
}
