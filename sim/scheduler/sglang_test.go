package scheduler_test

import (
	"slices"
	"testing"

	"servesim/sim/scheduler"
)

// sglang returns a small configuration of version, changed by change.
func sglang(t *testing.T, version string, change func(*scheduler.Config)) scheduler.Config {
	t.Helper()
	p, err := scheduler.FindPreset(version)
	if err != nil {
		t.Fatal(err)
	}
	c := p.Config
	c.MaxNumBatchedTokens, c.MaxNumSeqs, c.MaxModelLen, c.NumGPUBlocks = 64, 8, 1000, 64
	change(&c)
	return c
}

func TestSGLangCheck(t *testing.T) {
	for _, c := range []struct {
		change func(*scheduler.Config)
		want   string
	}{
		{func(*scheduler.Config) {}, ""},
		{func(c *scheduler.Config) { c.SchedulingPolicy = scheduler.LPM }, ""},
		{func(c *scheduler.Config) { c.BlockSize = 16 }, "block_size: found 16; sglang counts KV memory in tokens; set 1"},
		{func(c *scheduler.Config) { c.LongPrefillTokenThreshold = 8 }, "long_prefill_token_threshold: found 8, which sglang does not have; set 0"},
		{func(c *scheduler.Config) { c.MaxPrefillTokens = 0 }, "max_prefill_tokens: found 0; it must be at least 1"},
		{func(c *scheduler.Config) { c.ScheduleConservativeness = 0 }, "schedule_conservativeness: found 0; it must be more than 0 and at most 10"},
		{func(c *scheduler.Config) { c.EnableMixedChunk, c.EnableChunkedPrefill = true, false }, "enable_mixed_chunk: found true; it needs enable_chunked_prefill"},
		{func(c *scheduler.Config) { c.EnableMixedChunk, c.MaxNumBatchedTokens = true, 7 },
			"max_num_batched_tokens: found 7; with enable_mixed_chunk the decodes count, and it must be at least max_num_seqs, 8"},
		{func(c *scheduler.Config) { c.SchedulingPolicy, c.EnablePrefixCaching = scheduler.LPM, false },
			"scheduling_policy: found lpm; without enable_prefix_caching it is fcfs; set that"},
		{func(c *scheduler.Config) { c.SchedulingPolicy = scheduler.Priority }, `scheduling_policy: found "priority"; it must be fcfs or lpm`},
		{func(c *scheduler.Config) { c.IgnoreEOS = true }, "ignore_eos: found true, which has no effect with enable_prefix_caching; set false"},
	} {
		config, got := sglang(t, "sglang@0.5.6", c.change), ""
		if err := config.Check(); err != nil {
			got = err.Error()
		}
		if got != c.want {
			t.Errorf("Check returns\n%s\nwant\n%s", got, c.want)
		}
	}
}

// TestSGLangDefaults: the share of an 80 GB GPU and of an H200, as worked out from
// what their drivers report, and what follows from the size of the KV cache.
func TestSGLangDefaults(t *testing.T) {
	p, err := scheduler.FindPreset("sglang@0.5.6")
	if err != nil {
		t.Fatal(err)
	}
	mib := func(n float64) scheduler.Device { return scheduler.Device{MemoryBytes: n * (1 << 20)} }
	for _, c := range []struct {
		d      scheduler.Device
		gpus   int32
		tokens int32
		share  float64
	}{
		{mib(81559), 1, 8192, 0.835}, {mib(143771), 1, 8192, 0.907}, {mib(81559), 8, 8192, 0.818},
		{mib(24564), 1, 2048, 0.847}, {mib(183359), 1, 16384, 0.857},
	} {
		c.d.GPUs = c.gpus
		tokens, _ := p.Limits(c.d, 4096, true, 0)
		if share := p.MemoryShare(c.d, tokens); tokens != c.tokens || share != c.share {
			t.Errorf("%.0f MiB, %d GPUs: steps of %d tokens, share %v; want %d, %v", c.d.MemoryBytes/(1<<20), c.gpus, tokens, share, c.tokens, c.share)
		}
	}
	for tokens, want := range map[int64]int32{1000: 500, 400_000: 2048, 1_000_000: 3906, 2_000_000: 4096} {
		if got := scheduler.RunningRequests(tokens, 131072); got != want {
			t.Errorf("%d tokens: %d requests; want %d", tokens, got, want)
		}
	}
}

// TestSGLangRefuses: a prompt must be five tokens shorter than a request may be,
// and the answer is cut to what is left.
func TestSGLangRefuses(t *testing.T) {
	c := sglang(t, "sglang@0.5.6", func(c *scheduler.Config) { c.NumGPUBlocks, c.MaxModelLen = 200, 100 })
	for prompt, want := range map[int32]int32{10: 88, 93: 5, 94: 0, 100: 0} {
		if got := c.OutputLimit(prompt); got != want {
			t.Errorf("a prompt of %d tokens: %d of output; want %d", prompt, got, want)
		}
	}
	c.NumGPUBlocks = 50 // less than the context
	if got := c.OutputLimit(10); got != 38 {
		t.Errorf("a pool of 50: %d tokens of output; want 38", got)
	}
	p, err := scheduler.New(c)
	if err != nil {
		t.Fatal(err)
	}
	for prompt, fits := range map[int32]bool{43: true, 44: false} {
		if got := p.Fits(scheduler.Seq{Prompt: prompt, Output: 1}); (got == "") != fits {
			t.Errorf("a prompt of %d tokens in a pool of 50: %q", prompt, got)
		}
	}
}

// TestSGLangTakesBack: with overlap, the token of a request that is retracted
// before the scheduler has seen it is lost. 10 + 12 tokens of prompts and 2 a step
// fill the pool of 64 after 21 decodes; of equal outputs the longer prompt goes.
func TestSGLangTakesBack(t *testing.T) {
	for _, overlap := range []bool{true, false} {
		c := sglang(t, "sglang@0.5.6", func(c *scheduler.Config) { c.ScheduleConservativeness, c.AsyncScheduling = 0.1, overlap })
		p, err := scheduler.New(c)
		if err != nil {
			t.Fatal(err)
		}
		p.Add(0, scheduler.Seq{Rank: 0, Prompt: 10, Output: 30})
		p.Add(1, scheduler.Seq{Rank: 1, Prompt: 12, Output: 30})
		steps, step := 0, p.Plan()
		for ; len(step.Preempted) == 0; step = p.Plan() {
			p.Advance(1)
			steps++
		}
		want := scheduler.Loss{Seq: 1, Tokens: 33, Emitted: 22}
		if overlap {
			want.Emitted, want.Discarded = 21, true
		}
		if steps != 23 || step.Preempted[0] != want {
			t.Errorf("overlap %v: %+v after %d steps; want %+v after two of prompts and 21 of decodes", overlap, step.Preempted, steps, want)
		}
	}
}

// TestSGLangLatch: what does not fit is not tried again until a request ends, with
// the reason of then.
func TestSGLangLatch(t *testing.T) {
	c := sglang(t, "sglang@0.5.6", func(c *scheduler.Config) { c.NumGPUBlocks, c.AsyncScheduling = 40, false })
	p, err := scheduler.New(c)
	if err != nil {
		t.Fatal(err)
	}
	p.Add(0, scheduler.Seq{Prompt: 10, Output: 20})
	var held []scheduler.Held
	for i := range 4 {
		if i == 1 {
			p.Add(1, scheduler.Seq{Rank: 1, Prompt: 10, Output: 25})
		}
		held = append(held, p.Plan().Held)
		p.Advance(1)
	}
	want := []scheduler.Held{scheduler.NotHeld, scheduler.HeldBlocks, scheduler.HeldBlocks, scheduler.HeldBlocks}
	if s, ok := scheduler.StateOfSGLang(p); !slices.Equal(held, want) || !ok || !s.BatchIsFull {
		t.Errorf("the queue waits for %v, %+v; want %v", held, s, want)
	}
}
