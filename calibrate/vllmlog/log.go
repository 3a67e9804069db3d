package vllmlog

// Log is what one server printed.
type Log struct {
	// Name is the file.
	Name string
	// Lines is the number of its lines.
	Lines    int
	Settings Settings
	Start    Start
	// Stats are the lines of statistics in their order.
	Stats []Stats
}

// A Figure is a number that the log gives on one or more lines, one for each worker
// or engine.
type Figure struct {
	// Least and Most are the smallest and the largest, Count how often it stands there
	// and Line where it stands first; Count is 0 if it does not.
	Least, Most float64
	Count       int
	Line        int
}

// Given tells whether the log has the figure.
func (f Figure) Given() bool { return f.Count > 0 }

// add notes that line has v.
func (f *Figure) add(v float64, line int) {
	if f.Count == 0 {
		f.Least, f.Most, f.Line = v, v, line
	}
	f.Least, f.Most = min(f.Least, v), max(f.Most, v)
	f.Count++
}

// A Word is a setting that the log gives, as it is written there; empty if it does
// not.
type Word struct {
	Text string
	Line int
}

// Settings are how the server was started, under vLLM's names. A figure or word that
// the log lacks is not given.
type Settings struct {
	Version, Model, KVCacheDtype, Quantization, EnforceEager, AsyncScheduling Word

	TensorParallelSize, PipelineParallelSize, MaxModelLen, MaxNumSeqs, MaxNumBatchedTokens,
	GPUMemoryUtilization, BlockSize Figure
}

// Start is what the server printed of its memory. Bytes are of one GPU; vLLM
// prints GiB, which versions before 0.8.5 call GB. Where workers differ, the
// engine goes by the one with the least for KV.
type Start struct {
	WeightsBytes, AvailableKVBytes, GraphBytes Figure
	// EstimatedGraphBytes is what late versions take off the KV cache for CUDA graphs
	// before they capture them; older ones take nothing.
	EstimatedGraphBytes Figure
	// TotalBytes, NonTorchBytes and ActivationBytes are told by V0, and by V1 when it
	// logs at level debug.
	TotalBytes, NonTorchBytes, ActivationBytes Figure
	// KVTokens is the size of the KV cache, Blocks the number of its blocks, Override
	// that of num_gpu_blocks_override.
	KVTokens, Blocks, Override Figure
	// Concurrency is how many requests of ConcurrencyTokens fit.
	Concurrency, ConcurrencyTokens Figure
}

// Empty tells whether s has no figure that a memory ledger can be set beside.
func (s *Start) Empty() bool {
	for _, f := range []Figure{s.WeightsBytes, s.AvailableKVBytes, s.GraphBytes, s.KVTokens, s.Blocks} {
		if f.Given() {
			return false
		}
	}
	return true
}

// Stats is one line of statistics.
type Stats struct {
	Line int
	// Engine is the number of the engine behind it, 0 if the line has none.
	Engine int
	// At is the time of the line in seconds since the begin of its month, or NaN if
	// the line does not tell.
	At float64
	// PromptPerS and GenerationPerS are tokens a second since the line before.
	PromptPerS, GenerationPerS float64
	// Running and Waiting are requests at the time of the line.
	Running, Waiting int
	// KVUsage is the share of KV blocks in use at that time, to a tenth of a percent,
	// PrefixHits that of prompt tokens that the prefix cache had, over the last 1000
	// requests; NaN if the line does not tell.
	KVUsage, PrefixHits float64
}
