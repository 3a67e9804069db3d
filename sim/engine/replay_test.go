package engine_test

import (
	"testing"

	"servesim/sim"
	"servesim/sim/engine"
	"servesim/sim/gpu"
	"servesim/sim/scheduler"
	"servesim/sim/workload"
)

// h100Config returns Llama-3.1-8B in bf16 on one H100 under the engine version
// called preset, with that version's defaults and the number of KV blocks that
// the memory ledger finds.
func h100Config(tb testing.TB, preset string) engine.Config {
	tb.Helper()
	check := func(err error) {
		tb.Helper()
		if err != nil {
			tb.Fatal(err)
		}
	}
	profile, err := gpu.LoadProfile("h100")
	check(err)
	model, err := gpu.LoadModel("llama-3.1-8b")
	check(err)
	version, err := scheduler.FindPreset(preset)
	check(err)
	setup := gpu.Setup{Profile: profile, Model: model, TP: 1, Weights: gpu.BF16, KV: gpu.BF16,
		Engine: "vllm", Async: version.Config.AsyncScheduling}
	cost, err := gpu.NewCost(setup)
	check(err)
	c := version.Config
	c.MaxModelLen = 131072
	device := scheduler.Device{Name: profile.Name, MemoryBytes: 80 * (1 << 30)}
	c.MaxNumBatchedTokens, c.MaxNumSeqs = version.Limits(device, c.MaxModelLen, c.EnableChunkedPrefill, 0)
	ledger, err := gpu.NewLedger(setup, gpu.MemoryOptions{
		GPUMemoryUtilization: version.MemoryShare(device, c.MaxNumBatchedTokens), BlockSize: int64(c.BlockSize),
		MaxNumBatchedTokens: int64(c.MaxNumBatchedTokens), MaxNumSeqs: int64(c.MaxNumSeqs)})
	check(err)
	c.NumGPUBlocks = ledger.Blocks()
	return engine.Config{Scheduler: c, Cost: cost, Seed: 1}
}

// chat returns n requests that arrive at random at ratePerS, with prompts of
// 1,000 and outputs of 250 tokens in the mean, both lognormal with a standard
// deviation of the logarithm of 1 and 0.7.
func chat(tb testing.TB, n int64, ratePerS float64) workload.Source {
	tb.Helper()
	length := func(mean, sigma float64) *workload.LengthSpec {
		return &workload.LengthSpec{Dist: "lognormal", Mean: &mean, Sigma: &sigma}
	}
	most := int64(30_000)
	prompt := length(1000, 1)
	prompt.Max = &most
	source, err := workload.Spec{
		Requests: &n,
		Arrival:  &workload.ArrivalSpec{Process: "poisson", RatePerS: &ratePerS},
		Prompt:   prompt, Output: length(250, 0.7),
	}.Source(sim.Seed(1))
	if err != nil {
		tb.Fatal(err)
	}
	return source
}
