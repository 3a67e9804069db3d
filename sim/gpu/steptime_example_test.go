package gpu_test

import (
	"fmt"

	"servesim/sim/gpu"
)

// Llama-3.1-8B in bf16 on one H100. One decode step streams 15 GB of weights at
// about 3 TB/s, 5 ms; the rest is kernel start-up and the host. A prompt of 512
// tokens needs 7.5 TFLOP, about 10 ms.
func ExampleNewCost() {
	profile, err := gpu.LoadProfile("h100")
	if err != nil {
		fmt.Println(err)
		return
	}
	model, err := gpu.LoadModel("meta-llama/Llama-3.1-8B")
	if err != nil {
		fmt.Println(err)
		return
	}
	cost, err := gpu.NewCost(gpu.Setup{
		Profile: profile, Model: model, TP: 1, Weights: gpu.BF16, KV: gpu.BF16, Engine: "vllm",
	})
	if err != nil {
		fmt.Println(err)
		return
	}
	prompt := gpu.Work{PrefillTokens: 512, PrefillSeqs: 1, PrefillPairs: 512 * 513 / 2, Samples: 1}
	fmt.Println("prefill of 512:", cost.Step(prompt))
	decode := gpu.Work{DecodeSeqs: 1, DecodeKV: 513, Samples: 1}
	fmt.Println("decode of 1:   ", cost.Step(decode))
	p := cost.Decode(1, 513)
	fmt.Println("first, then per step:", p.First, p.Inc)
	// Output:
	// prefill of 512: 15.090441743ms
	// decode of 1:    6.503522889ms
	// first, then per step: 6.503522889ms 45.195ns
}
