package scheduler_test

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"servesim/sim/scheduler"
)

// schedule runs requests such as "A@0 8/6; B@1 24/2 prio1" (name, the step
// before which it is queued, prompt/output) and prints each step: tokens in the
// engine's order, PRE(…) for preemptions, → for tokens made, ✓ for ends and
// IGN: for requests dropped. Equal steps in a row are written once.
func schedule(t *testing.T, c scheduler.Config, requests string) string {
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
	for i, text := range strings.Split(requests, "; ") {
		var name rune
		r := request{seq: scheduler.Seq{Rank: int64(i)}}
		if n, _ := fmt.Sscanf(text, "%c@%d %d/%d prio%d", &name, &r.at, &r.seq.Prompt, &r.seq.Output, &r.seq.Priority); n < 4 || name != 'A'+rune(i) {
			t.Fatalf("%q is not a request", text)
		}
		r.seq.Output = min(r.seq.Output, c.OutputLimit(r.seq.Prompt))
		all = append(all, r)
	}
	var out []string
	first, left := 0, len(all)
	for i := 0; left > 0 && i < 100; i++ {
		for h, r := range all {
			if r.at == i {
				p.Add(scheduler.Handle(h), r.seq)
			}
		}
		text, gone := describe(p)
		left -= gone
		if n := len(out); n > 0 && strings.HasSuffix(out[n-1], " "+text) {
			out[n-1] = fmt.Sprintf("s%d–%d %s", first, i, text)
			continue
		}
		first = i
		out = append(out, fmt.Sprintf("s%d %s", i, text))
	}
	return strings.Join(out, " · ")
}

// describe plans and runs one step, and returns how many left with it.
func describe(p scheduler.Inspector) (text string, gone int) {
	name := func(h scheduler.Handle) string { return string('A' + rune(h)) }
	names := func(hs []scheduler.Handle) string {
		var out []string
		for _, h := range hs {
			out = append(out, name(h))
		}
		slices.Sort(out)
		return strings.Join(out, ",")
	}
	step := p.Plan()
	var words []string
	var emits, lost, dropped []scheduler.Handle
	p.Visit(func(h scheduler.Handle, tokens int32) {
		words = append(words, fmt.Sprint(name(h), tokens))
		i := slices.IndexFunc(step.Shares, func(s scheduler.Share) bool { return s.Seq == h })
		if i < 0 || step.Shares[i].Last {
			emits = append(emits, h)
		}
	})
	for _, l := range step.Preempted {
		lost = append(lost, l.Seq)
	}
	if len(lost) > 0 {
		words = append(words, "PRE("+names(lost)+")")
	}
	if len(emits) > 0 {
		words = append(words, "→"+names(emits))
	}
	for _, d := range step.Dropped {
		dropped = append(dropped, d.Seq)
	}
	ended := names(p.Advance(1))
	if len(dropped) > 0 {
		ended = strings.TrimPrefix(ended+",IGN:"+names(dropped), ",")
	}
	if ended != "" {
		words = append(words, "✓"+ended)
		gone = 1 + strings.Count(ended, ",")
	}
	return strings.Join(words, " "), gone
}

// TestSchedules holds a few of the schedules that were recorded from vLLM's own
// schedulers; the comment of each case is how to check it by hand.
func TestSchedules(t *testing.T) {
	type limits struct {
		budget, seqs int32
		blocks       int64
	}
	unchunked := func(c *scheduler.Config) { c.EnableChunkedPrefill = false }
	for _, c := range []struct {
		name, versions string
		limits
		change         func(*scheduler.Config)
		requests, want string
	}{
		{"decodes first, a prompt fills the rest", "vllm@0.11 vllm@0.20 vllm@main", limits{10, 8, 1000}, nil,
			// C gets 10 minus one token each for A and B, until its 30 are done.
			"A@0 4/6; B@0 4/6; C@1 30/2; D@2 10/2",
			"s0 A4 B4 →A,B · s1–3 A1 B1 C8 →A,B · s4 A1 B1 C6 D2 →A,B,C · s5 A1 B1 C1 D7 →A,B,C ✓A,B,C · s6 D1 →D · s7 D1 →D ✓D"},
		{"two victims", "vllm@0.11 vllm@0.20 vllm@main", limits{64, 4, 8}, nil,
			// 7 blocks of 4: at s2 all three need a third block and one is free, so
			// the last is preempted; B follows when A needs its fourth.
			"A@0 7/10; B@0 7/10; C@0 7/10",
			"s0 A7 B7 C7 →A,B,C · s1 A1 B1 C1 →A,B,C · s2 A1 B1 PRE(C) →A,B · s3–5 A1 B1 →A,B · s6 A1 PRE(B) →A · s7–8 A1 →A · s9 A1 →A ✓A · " +
				"s10 B13 C9 →B,C · s11–12 B1 C1 →B,C · s13 B1 C1 →B,C ✓B · s14–16 C1 →C · s17 C1 →C ✓C"},
		{"admission by the whole prompt", "vllm@0.20 vllm@main", limits{8, 4, 9}, nil,
			// B's 24 tokens need 6 of 8 blocks, and A holds 4 or more until it ends.
			"A@0 16/6; B@0 24/2",
			"s0 A8 · s1 A8 →A · s2–5 A1 →A · s6 A1 →A ✓A · s7–8 B8 · s9 B8 →B · s10 B1 →B ✓B"},
		{"admission by the first chunk", "vllm@0.11", limits{8, 4, 9}, nil,
			// B's first 7 tokens fit, then A takes the blocks away, again and again.
			"A@0 16/6; B@0 24/2",
			"s0 A8 · s1 A8 →A · s2 A1 B7 →A · s3 A1 PRE(B) →A · s4 A1 B7 →A · s5 A1 PRE(B) →A · s6 A1 B7 →A ✓A · s7–8 B8 · s9 B1 →B · s10 B1 →B ✓B"},
		{"chunked prefill off, the long prompt blocks", "vllm@0.20 vllm@main", limits{16, 4, 1000}, unchunked,
			// After A's 10 tokens B's 14 do not fit into 16, and C waits behind B.
			"A@0 10/3; B@0 14/2; C@0 5/2",
			"s0 A10 →A · s1 A1 B14 →A,B · s2 A1 B1 C5 →A,B,C ✓A,B · s3 C1 →C ✓C"},
		{"chunked prefill off, the short prompt overtakes", "vllm@0.11", limits{16, 4, 1000}, unchunked,
			"A@0 10/3; B@0 14/2; C@0 5/2",
			"s0 A10 C5 →A,C · s1 A1 C1 B14 →A,B,C ✓C · s2 A1 B1 →A,B ✓A,B"},
		{"priority picks the victim", "vllm@0.11 vllm@0.20 vllm@main", limits{64, 4, 9},
			func(c *scheduler.Config) { c.SchedulingPolicy = scheduler.Priority },
			// 8 blocks of 4: at s1 all three need a third block and two are free.
			"A@0 8/8 prio2; B@0 8/8 prio0; C@0 8/8 prio1",
			"s0 B8 C8 A8 →A,B,C · s1 B1 C1 PRE(A) →B,C · s2–6 B1 C1 →B,C · s7 B1 C1 →B,C ✓B,C · s8 A9 →A · s9–13 A1 →A · s14 A1 →A ✓A"},
		{"a victim that was served gives its place back", "vllm@0.20 vllm@main", limits{64, 4, 8},
			func(c *scheduler.Config) { c.SchedulingPolicy = scheduler.Priority },
			// 7 blocks of 4. At s2 A has its token when B needs a block: A, the
			// least urgent, goes, and C behind B is served all the same.
			"A@0 8/5 prio2; B@1 8/4 prio0; C@1 7/4 prio1",
			"s0 A8 →A · s1 A1 B8 C7 →A,B,C · s2 B1 C1 PRE(A) →B,C · s3 B1 C1 →B,C · s4 B1 C1 →B,C ✓B,C · s5 A10 →A · s6 A1 →A · s7 A1 →A ✓A"},
		{"a victim that was served stays as a ghost", "vllm@0.11", limits{64, 4, 8},
			func(c *scheduler.Config) { c.SchedulingPolicy = scheduler.Priority },
			// A's token is computed in vain, C is passed over for one step, and A
			// comes back with one token counted as computed.
			"A@0 8/5 prio2; B@1 8/4 prio0; C@1 7/4 prio1",
			"s0 A8 →A · s1 A1 B8 C7 →A,B,C · s2 A1 B1 PRE(A) →B · s3 B1 C1 →B,C · s4 B1 C1 →B,C ✓B · s5 C1 A9 →A,C ✓C · s6 A1 →A · s7 A1 →A ✓A"},
		{"a victim's budget is given back", "vllm@0.20 vllm@main", limits{10, 4, 7},
			func(c *scheduler.Config) {
				c.SchedulingPolicy, c.LongPrefillTokenThreshold, c.ReserveFullISL = scheduler.Priority, 5, false
			},
			// 6 blocks of 4. At s2 A has 5 tokens when B needs a block; without A
			// the budget leaves C all 5 that the threshold allows, not 4.
			"A@0 16/2 prio2; B@1 4/3 prio0; C@1 16/2 prio1",
			"s0 A5 · s1 A5 B4 C1 →B · s2 B1 C5 PRE(A) →B · s3 B1 C5 A4 →B ✓B · s4 C5 PRE(A) →C · s5 C1 →C ✓C · s6–8 A5 · s9 A1 →A · s10 A1 →A ✓A"},
		{"async: who ended keeps its slot for a step", "vllm@0.20 vllm@main", limits{64, 2, 1000},
			func(c *scheduler.Config) { c.AsyncScheduling = true },
			"A@0 6/3; B@0 6/2; C@0 6/2; D@1 6/1",
			"s0 A6 B6 →A,B · s1 A1 B1 →A,B ✓B · s2 A1 →A ✓A · s3 C6 →C · s4 C1 D6 →C,D ✓C,D"},
		{"async: and its blocks", "vllm@0.20 vllm@main", limits{64, 4, 5},
			func(c *scheduler.Config) { c.AsyncScheduling = true },
			"A@0 8/2; B@0 9/1",
			"s0 A8 →A · s1 A1 →A ✓A · s2  · s3 B9 →B ✓B"},
		{"watermark", "vllm@main", limits{64, 4, 9}, func(c *scheduler.Config) { c.Watermark = 0.34 },
			// 34 % of 9 blocks are 3 that C's two would have to leave free.
			"A@0 8/4; B@0 8/4; C@0 8/4",
			"s0 A8 B8 →A,B · s1–2 A1 B1 →A,B · s3 A1 B1 →A,B ✓A,B · s4 C8 →C · s5–6 C1 →C · s7 C1 →C ✓C"},
		{"V0: watermark", "vllm@0.8-v0", limits{2048, 4, 200}, func(c *scheduler.Config) { c.MaxModelLen = 1024 },
			// 1 % of 200 blocks are 2, which A's 198 just leave free, and B's one would not.
			"A@0 792/2; B@0 4/2",
			"s0 A792 →A · s1 A1 →A ✓A · s2 B4 →B · s3 B1 →B ✓B"},
		{"V0: prompts stall every decode", "vllm@0.8-v0", limits{32, 8, 100}, nil,
			// A waits for three whole prompts between its first and second token.
			"A@0 4/5; B@1 20/2; C@2 20/2; D@3 20/2",
			"s0 A4 →A · s1 B20 →B · s2 C20 →C · s3 D20 →D · s4 A1 B1 C1 D1 →A,B,C,D ✓B,C,D · s5–6 A1 →A · s7 A1 →A ✓A"},
		{"V0: preemption by recompute", "vllm@0.8-v0", limits{64, 4, 8}, nil,
			// 8 blocks of 4, two each: at s1 A and B take the last two for their 9th token.
			"A@0 8/8; B@0 8/8; C@0 8/4",
			"s0 A8 B8 C8 →A,B,C · s1 A1 B1 PRE(C) →A,B · s2–5 A1 B1 →A,B · s6 A1 PRE(B) →A · s7 B14 →B · s8 A1 PRE(B) →A ✓A · " +
				"s9 B15 C9 →B,C ✓B · s10 C1 →C · s11 C1 →C ✓C"},
		{"V0: a prompt over the limit is ignored", "vllm@0.8-v0", limits{32, 4, 100}, nil,
			"A@0 40/2; B@0 4/2",
			"s0 B4 →B ✓IGN:A · s1 B1 →B ✓B"},
		{"V0: chunked", "vllm@0.8-v0", limits{16, 4, 100}, func(c *scheduler.Config) { c.EnableChunkedPrefill = true },
			"A@0 25/3; B@0 12/2; C@1 9/3",
			"s0 A16 · s1 B7 A9 →A · s2 C9 B5 A1 →A,B,C · s3 A1 B1 C1 →A,B,C ✓A,B · s4 C1 →C ✓C"},
	} {
		for _, version := range strings.Fields(c.versions) {
			t.Run(c.name+"/"+version, func(t *testing.T) {
				preset, err := scheduler.FindPreset(version)
				if err != nil {
					t.Fatal(err)
				}
				config := preset.Config
				config.MaxNumBatchedTokens, config.MaxNumSeqs, config.NumGPUBlocks = c.budget, c.seqs, c.blocks
				config.BlockSize, config.MaxModelLen, config.AsyncScheduling = 4, 64, false
				if c.change != nil {
					c.change(&config)
				}
				if got := schedule(t, config, c.requests); got != c.want {
					t.Errorf("%s\ngot  %s\nwant %s", c.requests, got, c.want)
				}
			})
		}
	}
}
