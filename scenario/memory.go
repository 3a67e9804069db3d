package scenario

import (
	"fmt"
	"strings"

	"servesim/analysis"
	"servesim/internal/strict"
	"servesim/sim/gpu"
)

// MemorySection overrides lines of the memory ledger, in bytes on each GPU.
// Absent lines are computed.
type MemorySection struct {
	Weights     *int64 `toml:"weights_bytes"`
	Activations *int64 `toml:"activations_bytes"`
	Context     *int64 `toml:"context_bytes"`
	Collectives *int64 `toml:"collectives_bytes"`
	Graphs      *int64 `toml:"graphs_bytes"`
}

// overrides returns the lines that m gives, under the ledger's names.
func (m *MemorySection) overrides() map[string]int64 {
	given := map[string]int64{}
	for name, v := range map[string]*int64{
		"weights": m.Weights, "activations": m.Activations, "context": m.Context,
		"collectives": m.Collectives, "graphs": m.Graphs,
	} {
		if v != nil {
			given[name] = *v
		}
	}
	return given
}

// MemoryOptions returns what the memory ledger depends on of a settled e, beside what
// is given of its lines and of the blocks.
func (e *EngineSection) MemoryOptions() gpu.MemoryOptions {
	return gpu.MemoryOptions{
		GPUMemoryUtilization: value(e.GPUMemoryUtilization), FreeGPUMemoryFraction: value(e.FreeGPUMemoryFraction),
		BlockSize: int64(*e.BlockSize), MaxNumBatchedTokens: int64(*e.MaxNumBatchedTokens),
		MaxNumSeqs: int64(*e.MaxNumSeqs), MaxModelLen: int64(*e.MaxModelLen), StaticShare: e.StaticShare(),
	}
}

// ledger returns the memory ledger of a settled scenario.
func (s *Scenario) ledger(m Machine) (*gpu.Ledger, []strict.Fault) {
	o := s.Engine.MemoryOptions()
	o.Overrides, o.NumGPUBlocksOverride = s.Memory.overrides(), value(s.Engine.NumGPUBlocksOverride)
	if o.NumGPUBlocksOverride > 0 {
		// An engine that is told its blocks doesn't check that one sequence
		// fits; requests that don't are rejected one by one.
		o.MaxModelLen = 0
	}
	l, err := gpu.NewLedger(s.setup(m), o)
	if err != nil {
		return nil, FaultsOf("hardware", err)
	}
	return l, nil
}

// memory says in a line what each GPU's memory is used for.
func (p *Plan) memory() string {
	l := p.Ledger
	gb := func(bytes int64) string { return fmt.Sprintf("%.1f", float64(bytes)/1e9) }
	parts := make([]string, 0, len(l.Items))
	for _, i := range l.Items {
		part := i.Name + " " + gb(i.Bytes)
		if i.Overridden {
			part += " (given)"
		}
		parts = append(parts, part)
	}
	kv := fmt.Sprintf("%s = %s blocks of %d tokens", gb(l.KVBytes), analysis.Grouped(l.Blocks()), l.BlockSize)
	if p.Scenario.Engine.NumGPUBlocksOverride != nil {
		used := float64(l.Blocks()) * float64(l.BlockSize) * float64(l.BytesPerToken)
		kv = fmt.Sprintf("%.1f = %s blocks (given) of %d tokens, where %s are left", used/1e9, analysis.Grouped(l.Blocks()), l.BlockSize, gb(l.KVBytes))
	}
	return fmt.Sprintf("GB of each GPU: %s of %s for the engine; %s; KV %s",
		gb(l.ShareBytes), gb(l.UsableBytes), strings.Join(parts, ", "), kv)
}
