package gpu

import (
	"errors"
	"fmt"
	"math"
	"slices"
	"strings"

	"servesim/internal/strict"
)

// MemoryOptions is what the number of KV blocks depends on beside a Setup. The
// names are vLLM's. Overrides and the fields that say so may be zero.
type MemoryOptions struct {
	GPUMemoryUtilization float64 // share of the memory that the engine may use, above 0 and at most 1
	// FreeGPUMemoryFraction, if it is not 0, takes the place of GPUMemoryUtilization:
	// the share for KV of what the other items leave (TensorRT-LLM).
	FreeGPUMemoryFraction float64
	BlockSize             int64 // tokens of a KV block
	MaxNumBatchedTokens   int64 // tokens of the largest step
	MaxNumSeqs            int64 // sequences of the largest step
	// MaxModelLen is the length in tokens of which one sequence must fit; 0 does
	// not check.
	MaxModelLen int64
	// StaticShare tells that the share holds neither activations nor CUDA graphs,
	// as SGLang's mem_fraction_static.
	StaticShare bool
	// Overrides replaces lines of the ledger, by name, with bytes on each GPU.
	Overrides map[string]int64
	// NumGPUBlocksOverride is the number of blocks that an engine printed at its
	// start; 0 computes it.
	NumGPUBlocksOverride int64
}

// LedgerItem is one use of the memory of each GPU.
type LedgerItem struct {
	Name       string
	Bytes      int64
	Overridden bool
}

// Ledger says what the memory of each GPU of a replica is used for. What the
// engine may use and no item takes is KV cache.
type Ledger struct {
	UsableBytes   int64 // total memory, as the driver reports it
	ShareBytes    int64 // of it the engine may use
	Items         []LedgerItem
	KVBytes       int64 // left for KV blocks
	BytesPerToken int64 // of KV, on each GPU
	BlockSize     int64 // tokens of a block
	// Groups is the number of groups of GPUs that hold the KV of sequences of
	// their own, 1 without data-parallel attention.
	Groups int64
	// Hybrid is the blocks that vLLM's hybrid KV cache manager makes of KVBytes, nil
	// without sliding-window layers. Blocks counts every layer in full all the same.
	Hybrid   *HybridPool
	override int64
}

// NewLedger returns the ledger of one GPU of the replica s under o. Only the
// profile, model, layout and formats of s matter. The error joins every fault
// of the options; if the model does not fit, it says what is missing and the
// smallest layout that fits.
func NewLedger(s Setup, o MemoryOptions) (*Ledger, error) {
	if s.Profile == nil || s.Model == nil {
		return nil, errors.New("a memory ledger needs a GPU profile and a model")
	}
	_, _, err := s.layout()
	if err := errors.Join(err, s.checkFormats(), o.check()); err != nil {
		return nil, err
	}
	l, err := s.ledger(o)
	if err != nil {
		return nil, err
	}
	if why := l.shortfall(o); why != "" {
		return nil, fmt.Errorf("%s in %s with %s KV does not fit on %s: %s; %s",
			s.Model.Name, s.Weights, s.KV, s.gpus(), why, s.advice(o, l))
	}
	return l, nil
}

// checkFormats returns what no ledger can be made of.
func (s Setup) checkFormats() error {
	var faults []error
	if _, err := ParseFormat(string(s.Weights)); err != nil {
		faults = append(faults, blame("Weights", err))
	}
	if s.Weights == MXFP4 && s.Model.Experts == 0 {
		faults = append(faults, blame("Weights", fmt.Errorf("weights are mxfp4, a format of experts, and %s has none; want bf16, fp8, int8 or fp4", s.Model.Name)))
	}
	if s.KV != BF16 && s.KV != FP8 {
		faults = append(faults, blame("KV", fmt.Errorf("the KV cache is %q; want bf16 or fp8", s.KV)))
	}
	return errors.Join(faults...)
}

// Blocks returns the number of KV blocks of the replica, vLLM's null block
// included: those of a GPU, which all of its group mirror, for each group. A block
// holds every layer of its tokens, sliding-window layers in full.
func (l *Ledger) Blocks() int64 {
	if l.override > 0 {
		return l.override
	}
	return l.Groups * max(0, l.KVBytes/(l.BlockSize*l.BytesPerToken))
}

// String prints the ledger, one line an item, bytes of each GPU.
func (l *Ledger) String() string {
	var b strings.Builder
	line := func(name string, bytes int64, note string) {
		fmt.Fprintf(&b, "%-13s %15d bytes %9.2f GB%s\n", name, bytes, float64(bytes)/1e9, note)
	}
	line("total", l.UsableBytes, "")
	line("share", l.ShareBytes, "")
	for _, i := range l.Items {
		note := ""
		if i.Overridden {
			note = "  overridden"
		}
		line("- "+i.Name, i.Bytes, note)
	}
	line("kv cache", l.KVBytes, "")
	note := ""
	if l.override > 0 {
		note = ", overridden"
	}
	fmt.Fprintf(&b, "%d blocks of %d tokens of %d bytes%s\n", l.Blocks(), l.BlockSize, l.BytesPerToken, note)
	return b.String()
}

// check returns everything that is wrong with the options.
func (o MemoryOptions) check() error {
	var faults []error
	fault := func(format string, args ...any) { faults = append(faults, fmt.Errorf(format, args...)) }
	if f := o.FreeGPUMemoryFraction; f != 0 {
		if !(f > 0 && f <= 1) {
			fault("free_gpu_memory_fraction is %v; want a share above 0 and at most 1", f)
		}
	} else if u := o.GPUMemoryUtilization; !(u > 0 && u <= 1) {
		fault("gpu_memory_utilization is %v; want a share above 0 and at most 1", u)
	}
	for _, n := range []struct {
		name            string
		value, min, max int64
	}{
		{"block_size", o.BlockSize, 1, 1 << 16},
		{"max_num_batched_tokens", o.MaxNumBatchedTokens, 1, math.MaxInt32},
		{"max_num_seqs", o.MaxNumSeqs, 1, math.MaxInt32},
		{"max_model_len", o.MaxModelLen, 0, math.MaxInt32},
		{"num_gpu_blocks_override", o.NumGPUBlocksOverride, 0, math.MaxInt32},
	} {
		if n.value < n.min || n.value > n.max {
			fault("%s is %d; want %d to %d", n.name, n.value, n.min, n.max)
		}
	}
	known := ledgerItems()
	for _, name := range sortedKeys(o.Overrides) {
		if !slices.Contains(known, name) {
			fault("the memory ledger has no item %q; %s", name, strict.Unlike(name, known))
		}
		if bytes := o.Overrides[name]; bytes < 0 || bytes > 1e15 {
			fault("memory of %s is overridden with %d bytes; want 0 to 1e15", name, bytes)
		}
	}
	return errors.Join(faults...)
}

// shortfall says why the blocks of l are too few, or nothing if they are not.
func (l *Ledger) shortfall(o MemoryOptions) string {
	tokens := max(l.BlockSize, o.MaxModelLen)
	need := (tokens + l.BlockSize - 1) / l.BlockSize
	if l.Blocks()/l.Groups >= need || l.override >= need { // a sequence is of one group
		return ""
	}
	if l.override > 0 {
		return fmt.Sprintf("num_gpu_blocks_override is %d, but max_model_len of %d tokens takes %d blocks", l.override, tokens, need)
	}
	var parts []string
	for _, i := range l.Items {
		parts = append(parts, fmt.Sprintf("%s %.2f", i.Name, float64(i.Bytes)/1e9))
	}
	return fmt.Sprintf("each GPU gives the engine %.2f GB, of which %s leave %.2f GB for KV, and %d tokens take %.2f GB",
		float64(l.ShareBytes)/1e9, strings.Join(parts, ", "), float64(l.KVBytes)/1e9,
		tokens, float64(need*l.BlockSize)*float64(l.BytesPerToken)/1e9)
}

func (s Setup) gpus() string {
	n := s.TP * max(1, s.PP)
	if n == 1 {
		return "one " + s.Profile.Name
	}
	return fmt.Sprintf("%d %s", n, s.Profile.Name)
}
