package gpu

import (
	"fmt"
	"math"
	"strings"
)

// advice says what would make the model fit that does not under o, with the
// ledger l: each change that is enough by itself, or that none is.
func (s Setup) advice(o MemoryOptions, l *Ledger) string {
	if o.NumGPUBlocksOverride > 0 {
		return "give more blocks, or leave num_gpu_blocks_override out"
	}
	var ways []string
	if n := l.Blocks() / l.Groups * l.BlockSize; n > 0 && o.MaxModelLen > n {
		ways = append(ways, fmt.Sprintf("set max_model_len to %d or less", n))
	}
	option := "gpu_memory_utilization"
	if o.FreeGPUMemoryFraction > 0 {
		option = "free_gpu_memory_fraction"
	}
	if u := l.leastShare(o); u <= 1 {
		ways = append(ways, fmt.Sprintf("set %s to %.2f or more", option, u))
	}
	if len(o.Overrides) > 0 {
		ways = append(ways, "correct the memory figures that are given")
	} else if tp, kv, ok := s.smallestFit(o); ok {
		ways = append(ways, fmt.Sprintf("use the smallest layout that fits, tensor_parallel_size %d, with %.2f GB for KV on each GPU", tp, float64(kv)/1e9))
	}
	if len(ways) > 0 {
		return strings.Join(ways, ", or ")
	}
	last := tensorParallel()[len(tensorParallel())-1]
	s.TP = int(last)
	widest, err := s.ledger(o)
	if err != nil {
		return "no other layout that divides the model is enough either; use a smaller number format"
	}
	why := fmt.Sprintf("even tensor_parallel_size %d leaves %.2f GB for KV on each GPU; use a smaller number format", last, float64(widest.KVBytes)/1e9)
	for s.PP = 2 * max(1, s.PP); s.PP <= maxPP; s.PP *= 2 {
		if stages, err := s.ledger(o); err == nil && stages.shortfall(o) == "" {
			return why + fmt.Sprintf(", or tensor_parallel_size %d and pipeline_parallel_size %d, %d GPUs, with %.2f GB for KV on each",
				last, s.PP, s.TP*s.PP, float64(stages.KVBytes)/1e9)
		}
	}
	return why
}

// leastShare returns the least GPUMemoryUtilization or FreeGPUMemoryFraction, in whole hundredths, at which
// the blocks that o asks for fit into l.
func (l *Ledger) leastShare(o MemoryOptions) float64 {
	blocks := (max(l.BlockSize, o.MaxModelLen) + l.BlockSize - 1) / l.BlockSize
	of, used := float64(l.UsableBytes), float64(float64(blocks*l.BlockSize)*float64(l.BytesPerToken))
	if items := float64(l.ShareBytes - l.KVBytes); o.FreeGPUMemoryFraction == 0 {
		used += items
	} else if of -= items; of <= 0 {
		return math.Inf(1)
	}
	share := math.Ceil(100*used/of) / 100
	if math.Floor(float64(of*share)) < used {
		share += 0.01 // the share itself is rounded down to bytes
	}
	return share
}

// smallestFit returns the smallest layout of s that fits under o, and the bytes for
// KV on each GPU; ok is false if none does.
func (s Setup) smallestFit(o MemoryOptions) (tp, kv int64, ok bool) {
	for _, tp := range tensorParallel() {
		s.TP = int(tp)
		l, err := s.ledger(o)
		if err == nil && l.shortfall(o) == "" {
			return tp, l.KVBytes, true
		}
	}
	return 0, 0, false
}
