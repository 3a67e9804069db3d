package scheduler_test

import (
	"testing"

	"servesim/sim/scheduler"
)

// BenchmarkPlan is a step with one new prompt of 1,000 tokens beside 256
// decoding sequences, of which one ends: an Add, a Plan and an Advance. Under
// V0 without chunked prefill that takes two steps, the prompt's and the decodes'.
// mixed=false is a step of the 256 alone.
func BenchmarkPlan(b *testing.B) {
	for _, preset := range []string{"vllm@0.20", "vllm@0.8-v0"} {
		b.Run("policy="+preset+"/mixed=true", func(b *testing.B) {
			p := crowd(b, preset, 256)
			b.ReportAllocs()
			for b.Loop() {
				p.turn()
			}
			if running, _, _ := p.Counts(); running < 250 || running > 260 {
				b.Fatalf("%d sequences run", running)
			}
		})
		b.Run("policy="+preset+"/mixed=false", func(b *testing.B) {
			p := crowd(b, preset, 1<<30)
			b.ReportAllocs()
			for b.Loop() {
				p.Plan()
				p.Advance(1)
			}
			if running, _, _ := p.Counts(); running != 256 {
				b.Fatalf("%d sequences run", running)
			}
		})
	}
}

// crowded is a policy with sequences that it runs, and handles for more.
type crowded struct {
	scheduler.Policy
	unused []scheduler.Handle
	rank   int64
	output int32
}

// turn adds a sequence and runs steps until its prompt is done and the decodes
// got a token.
func (c *crowded) turn() {
	h := c.unused[len(c.unused)-1]
	c.unused = c.unused[:len(c.unused)-1]
	c.Add(h, scheduler.Seq{Rank: c.rank, Prompt: 1000, Output: c.output})
	c.rank++
	for decoded := false; !decoded; {
		decoded = c.Plan().Decodes > 0 || c.rank == 1
		c.unused = append(c.unused, c.Advance(1)...)
	}
}

// crowd returns a policy that runs 256 sequences that generate output tokens each.
func crowd(b *testing.B, preset string, output int32) *crowded {
	found, err := scheduler.FindPreset(preset)
	if err != nil {
		b.Fatal(err)
	}
	c := found.Config
	c.AsyncScheduling = false // so that handles can be used again at once
	c.MaxNumBatchedTokens, c.MaxNumSeqs, c.MaxModelLen, c.NumGPUBlocks = 8192, 1024, 1<<30+10_000, 1<<31-1
	policy, err := scheduler.New(c)
	if err != nil {
		b.Fatal(err)
	}
	p := &crowded{Policy: policy, output: output}
	for h := scheduler.Handle(0); h < 1024; h++ {
		p.unused = append(p.unused, h)
	}
	for range 256 {
		p.turn()
	}
	return p
}
