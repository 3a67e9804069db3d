package vllmlog

import (
	"fmt"
	"regexp"
)

// gib is what vLLM divides bytes by before it prints them.
const gib = 1 << 30

// startPatterns returns the lines about memory. Their sources are the worker, model
// runner and kv_cache_utils of vLLM 0.6 to 0.20.
func (d *reader) startPatterns() []pattern {
	s := &d.log.Start
	const size = `([0-9.,]+) ?Gi?B`
	var all []pattern
	// figures adds a pattern of numbers times unit, in the order of into.
	figures := func(mark, form, want string, unit float64, into ...*Figure) {
		all = append(all, pattern{mark, regexp.MustCompile(form), want, func(m []string, line int) {
			for i, f := range into {
				if m[i+1] == "" { // a part that old versions do not print
					continue
				}
				v, err := number(m[i+1])
				if err != nil || !(v >= 0 && v < 1e12) {
					d.fault(line, "", quote(m[i+1]), fmt.Sprintf("a number, as in %q", want), "")
					continue
				}
				f.add(v*unit, line)
			}
		}})
	}
	figures("GPU KV cache size:", `GPU KV cache size: ([0-9.,]+) tokens`, "GPU KV cache size: 420,880 tokens", 1, &s.KVTokens)
	figures("Available KV cache memory:", `Available KV cache memory: `+size, "Available KV cache memory: 51.38 GiB", gib, &s.AvailableKVBytes)
	figures("Maximum concurrency for", `Maximum concurrency for ([0-9.,]+) tokens per request: ([0-9.,]+)x`,
		"Maximum concurrency for 131,072 tokens per request: 3.21x", 1, &s.ConcurrencyTokens, &s.Concurrency)
	figures("# GPU blocks:", `# GPU blocks: ([0-9.,]+)`, "# GPU blocks: 27756", 1, &s.Blocks)
	figures("# cuda blocks:", `# cuda blocks: ([0-9.,]+)`, "# cuda blocks: 7191, # CPU blocks: 512", 1, &s.Blocks)
	figures("num_gpu_blocks=\"", `num_gpu_blocks="([0-9.,]+)"`, `num_gpu_blocks="27756"`, 1, &s.Blocks)
	figures("with num_gpu_blocks_override=", `with num_gpu_blocks_override=([0-9.,]+)`, "Overriding num_gpu_blocks=27756 with num_gpu_blocks_override=512", 1, &s.Override)
	figures("odel weights took", `odel weights took `+size, "Loading model weights took 14.9888 GB", gib, &s.WeightsBytes)
	figures("Model loading took", `Model loading took `+size, "Model loading took 14.9889 GiB and 5.18 seconds", gib, &s.WeightsBytes)
	figures("Graph capturing finished", `Graph capturing finished in [0-9.]+ secs?(?:, took `+size+`|\.?\s*$)`, "Graph capturing finished in 20 secs, took 0.53 GiB", gib, &s.GraphBytes)
	figures("Estimated CUDA graph memory:", `Estimated CUDA graph memory: `+size, "Estimated CUDA graph memory: 0.45 GiB total", gib, &s.EstimatedGraphBytes)
	figures("total_gpu_memory (", `total_gpu_memory \(`+size+`\)`, "total_gpu_memory (79.10GiB) x gpu_memory_utilization (0.90) = 71.19GiB", gib, &s.TotalBytes)
	figures("x gpu_memory_utilization (", `x gpu_memory_utilization \(([0-9.]+)\)`,
		"total_gpu_memory (79.10GiB) x gpu_memory_utilization (0.90) = 71.19GiB", 1, &d.log.Settings.GPUMemoryUtilization)
	figures("model weights take", `model weights take `+size+`; non_torch_memory takes `+size+`; PyTorch activation peak memory takes `+size+
		`; the rest of the memory reserved for KV Cache is `+size,
		"model weights take 14.99GiB; non_torch_memory takes 0.15GiB; PyTorch activation peak memory takes 1.23GiB; the rest of the memory reserved for KV Cache is 54.93GiB",
		gib, &s.WeightsBytes, &s.NonTorchBytes, &s.ActivationBytes, &s.AvailableKVBytes)
	return all
}
