package scheduler_test

import (
	"fmt"
	"strings"
	"testing"

	"servesim/sim/scheduler"
)

// trtllm returns limits of TensorRT-LLM that its unit tests have.
func trtllm(t *testing.T, preset string, change func(*scheduler.Config)) scheduler.Config {
	t.Helper()
	p, err := scheduler.FindPreset(preset)
	if err != nil {
		t.Fatal(err)
	}
	c := p.Config
	c.MaxNumBatchedTokens, c.MaxNumSeqs, c.NumGPUBlocks, c.BlockSize, c.MaxModelLen = 1000, 4, 1000, 10, 1000
	change(&c)
	return c
}

// who runs requests, each "at prompt/output", and says who computes something in
// which steps, such as 0–40 AB · 41–79 A.
func who(t *testing.T, c scheduler.Config, requests string) string {
	t.Helper()
	p, err := scheduler.New(c)
	if err != nil {
		t.Fatal(err)
	}
	type request struct {
		at  int
		seq scheduler.Seq
	}
	var all []request
	for i, text := range strings.Split(requests, ", ") {
		r := request{seq: scheduler.Seq{Rank: int64(i)}}
		if _, err := fmt.Sscanf(text, "%d %d/%d", &r.at, &r.seq.Prompt, &r.seq.Output); err != nil {
			t.Fatal(err)
		}
		all = append(all, r)
	}
	var out []string
	last, from := "", 0
	end := func(step int) {
		switch {
		case last != "" && from == step-1:
			out = append(out, fmt.Sprintf("%d %s", from, last))
		case last != "":
			out = append(out, fmt.Sprintf("%d–%d %s", from, step-1, last))
		}
	}
	for step, left := 0, len(all); left > 0; step++ {
		for h, r := range all {
			if r.at == step {
				p.Add(scheduler.Handle(h), r.seq)
			}
		}
		p.Plan()
		runs := make([]bool, len(all))
		p.Visit(func(h scheduler.Handle, _ int32) { runs[h] = true })
		names := ""
		for h, ok := range runs {
			if ok {
				names += string('A' + rune(h))
			}
		}
		if names != last {
			end(step)
			last, from = names, step
		}
		left -= len(p.Advance(1))
		if left == 0 {
			end(step + 1)
		}
	}
	return strings.Join(out, " · ")
}

// TestVendorCapacity holds what NVIDIA's own unit tests of the capacity scheduler
// expect (cpp/tests/unit_tests/batch_manager/capacitySchedulerTest.cpp at 08c2acfa,
// microBatchSchedulerTest.cpp at 05ce661f).
func TestVendorCapacity(t *testing.T) {
	const noevict, maxutil, static = "trtllm@main", "trtllm-maxutil@main", "trtllm-static@main"
	small := func(c *scheduler.Config) { c.NumGPUBlocks = 10 }
	for _, c := range []struct {
		name, preset   string
		change         func(*scheduler.Config)
		requests, want string
	}{
		{"slots", noevict, func(c *scheduler.Config) { c.MaxNumSeqs = 2 }, "0 10/80, 0 10/80, 0 10/80, 0 10/80", "0–79 AB · 80–159 CD"},
		{"whole prompts beside decodes", noevict, func(c *scheduler.Config) { c.MaxNumBatchedTokens = 12 }, "0 10/10, 0 10/10, 0 10/10, 0 10/10",
			"0 A · 1 AB · 2–9 ABC · 10 BCD · 11 CD · 12–19 D"},
		// At 41 A's 51st token needs its sixth block and all ten are held.
		{"a pause", maxutil, small, "0 10/80, 0 10/80", "0–40 AB · 41–79 A · 80–118 B"},
		// Ten blocks are 90 tokens and a little: room for one of them.
		{"no pause", noevict, small, "0 10/80, 0 10/80", "0–79 A · 80–159 B"},
		{"later arrivals, paused", maxutil, small, "0 10/80, 0 10/80, 10 10/80, 10 10/80",
			"0–9 AB · 10–20 ABCD · 21–40 AB · 41–79 A · 80–89 BC · 90–118 B · 119–138 CD · 139–177 C · 178–226 D"},
		{"later arrivals", noevict, small, "0 10/80, 0 10/80, 10 10/80, 10 10/80", "0–79 A · 80–159 B · 160–239 C · 240–319 D"},
		{"batch by batch", static, func(c *scheduler.Config) { c.NumGPUBlocks, c.MaxNumSeqs = 20, 2 }, "0 10/80, 0 10/40, 0 10/80", "0–39 AB · 40–79 A · 80–159 C"},
	} {
		if got := who(t, trtllm(t, c.preset, c.change), c.requests); got != c.want {
			t.Errorf("%s: %s\ngot  %s\nwant %s", c.name, c.requests, got, c.want)
		}
	}
}

// TestVendorChunks holds what the unit tests of the micro-batch scheduler expect.
func TestVendorChunks(t *testing.T) {
	const fcfs, equal = scheduler.FirstComeFirstServed, scheduler.EqualProgress
	for _, c := range []struct {
		policy         scheduler.ChunkingPolicy
		unit, tokens   int32
		requests, want string
	}{
		{equal, 5, 7, "A@0 12/5; B@0 12/5", "s0 A5 · s1 A7 →A · s2–3 B5 A1 →A · s4 B2 A1 →A,B · s5 A1 B1 →A,B ✓A · s6–7 B1 →B · s8 B1 →B ✓B"},
		{fcfs, 20, 20, "A@0 25/1; B@0 25/1", "s0 A20 · s1 A5 →A ✓A · s2 B20 · s3 B5 →B ✓B"},
		{equal, 20, 20, "A@0 25/1; B@0 25/1", "s0 A20 · s1 A5 →A ✓A · s2 B20 · s3 B5 →B ✓B"},
		{fcfs, 5, 30, "A@0 25/1; B@0 25/1", "s0 A25 B5 →A ✓A · s1 B20 →B ✓B"},
		{equal, 5, 30, "A@0 25/1; B@0 25/1", "s0 A15 B15 · s1 A10 B10 →A,B ✓A,B"},
		{fcfs, 5, 30, "A@0 25/1; B@0 15/1", "s0 A25 B5 →A ✓A · s1 B10 →B ✓B"},
		{equal, 5, 30, "A@0 25/1; B@0 15/1", "s0 A15 B15 →B ✓B · s1 A10 →A ✓A"},
		{fcfs, 5, 15, "A@0 25/1; B@0 25/1", "s0 A15 · s1 A10 B5 →A ✓A · s2 B15 · s3 B5 →B ✓B"},
		{equal, 5, 15, "A@0 25/1; B@0 25/1", "s0–1 A10 B5 · s2 A5 B10 →A ✓A · s3 B5 →B ✓B"},
	} {
		config := trtllm(t, "trtllm@main", func(x *scheduler.Config) {
			x.EnableChunkedPrefill, x.ContextChunking, x.BlockSize, x.MaxNumBatchedTokens, x.MaxNumSeqs = true, c.policy, c.unit, c.tokens, 2
		})
		if got := schedule(t, config, c.requests); got != c.want {
			t.Errorf("%s, unit %d, %d tokens: %s\ngot  %s\nwant %s", c.policy, c.unit, c.tokens, c.requests, got, c.want)
		}
	}
}

// TestPausedTooLong: a request that has grown beyond the tokens of a step while it
// ran cannot come back with chunked prefill off.
func TestPausedTooLong(t *testing.T) {
	c := trtllm(t, "trtllm-maxutil@main", func(c *scheduler.Config) {
		c.NumGPUBlocks, c.BlockSize, c.MaxNumBatchedTokens = 8, 4, 8
	})
	// Four blocks each at 16 tokens: at s9 A takes B's, whose prompt is 15 tokens then.
	want := "s0 A8 →A · s1 B7 A1 →A,B · s2–8 A1 B1 →A,B · s9 A1 PRE(B) →A ✓IGN:B · s10–18 A1 →A · s19 A1 →A ✓A"
	if got := schedule(t, c, "A@0 8/20; B@0 7/20"); got != want {
		t.Errorf("got  %s\nwant %s", got, want)
	}
}
