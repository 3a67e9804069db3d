package stepwise

import (
	"testing"

	"pgregory.net/rapid"

	"servesim/sim/engine"
	"servesim/sim/scheduler"
)

// TestEnginesAgreeOnSwaps is TestEnginesAgree for vLLM V0 under pressure that makes
// it swap, without and with chunked prefill, and holds that it does.
func TestEnginesAgreeOnSwaps(t *testing.T) {
	preset, err := scheduler.FindPreset("vllm@0.8-v0")
	if err != nil {
		t.Fatal(err)
	}
	for name, chunked := range map[string]bool{"whole": false, "chunked": true} {
		t.Run(name, func(t *testing.T) {
			waited := 0
			rapid.Check(t, func(t *rapid.T) {
				newConfig := anyConfig(t)
				c := preset.Config
				c.EnableChunkedPrefill = chunked
				c.PreemptionMode, c.NumCPUBlocks = scheduler.Swap, rapid.SampledFrom([]int64{1, 8, 1000, 1000, 1000}).Draw(t, "cpu blocks")
				c.MaxNumBatchedTokens = rapid.Int32Range(1, 64).Draw(t, "budget")
				c.MaxNumSeqs, c.MaxModelLen = rapid.Int32Range(1, 12).Draw(t, "seqs"), 120
				c.BlockSize, c.NumGPUBlocks = rapid.Int32Range(1, 5).Draw(t, "block"), rapid.Int64Range(8, 40).Draw(t, "blocks")
				c.Watermark = rapid.SampledFrom([]float64{0, 0.01, 0.2}).Draw(t, "marks")
				if chunked {
					c.MaxNumPartialPrefills = rapid.Int32Range(1, min(3, c.MaxNumBatchedTokens)).Draw(t, "prompts")
					c.MaxLongPartialPrefills = rapid.Int32Range(1, c.MaxNumPartialPrefills).Draw(t, "long ones")
				}
				drawn := func() engine.Config {
					full := newConfig()
					full.Scheduler = c
					return full
				}
				got, diff := compare(drawn)
				if diff != "" {
					t.Fatal(diff)
				}
				laws(t, drawn(), got)
				// An answer with a hole in it was swapped out for so long, or not served.
				for i := range got.Requests {
					if len(got.Requests[i].Made) > 1+len(got.Requests[i].Lost) {
						waited++
					}
				}
			})
			if waited == 0 {
				t.Error("nothing was ever swapped out")
			}
		})
	}
}
