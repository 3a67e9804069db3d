package scenario

import (
	"fmt"
	"slices"
	"strings"

	"servesim/internal/strict"
)

// The values of engine.cudagraph_mode, which are vLLM's.
const (
	graphsNone           = "NONE"
	graphsFullDecodeOnly = "FULL_DECODE_ONLY"
)

// graphModes lists the values of engine.cudagraph_mode.
func graphModes() []string {
	return []string{graphsNone, "PIECEWISE", "FULL", graphsFullDecodeOnly, "FULL_AND_PIECEWISE"}
}

// checkGraphs returns what is wrong with the options about CUDA graphs.
func (e *EngineSection) checkGraphs() []strict.Fault {
	mode := strings.ToUpper(e.CUDAGraphMode)
	switch {
	case mode == "":
		return nil
	case !slices.Contains(graphModes(), mode):
		return []strict.Fault{{Key: "engine.cudagraph_mode", Text: UnknownName("mode", e.CUDAGraphMode, graphModes())}}
	case value(e.EnforceEager) && mode != graphsNone:
		return []strict.Fault{{Key: "engine.cudagraph_mode", Text: fmt.Sprintf("found %q, but with enforce_eager no step replays a graph; take one of the two out", e.CUDAGraphMode)}}
	}
	return nil
}

// graphs returns which steps replay no CUDA graph: none of them, and those with
// prompt tokens, nil where the profile's engine decides.
func (e *EngineSection) graphs() (none bool, eagerPrefill *bool) {
	eager := false
	switch strings.ToUpper(e.CUDAGraphMode) {
	case "":
		return value(e.EnforceEager), nil
	case graphsNone:
		return true, nil
	case graphsFullDecodeOnly:
		eager = true
	}
	return value(e.EnforceEager), &eager
}

// check returns what of the layout cannot be simulated.
func (h *HardwareSection) check() []strict.Fault {
	n := value(h.PipelineParallelSize)
	switch {
	case h.PipelineParallelSize == nil || n == 1:
		return nil
	case n < 1:
		return []strict.Fault{{Key: "hardware.pipeline_parallel_size", Text: fmt.Sprintf("found %d; must be 1", n)}}
	}
	return []strict.Fault{{Key: "hardware.pipeline_parallel_size", Text: fmt.Sprintf(
		"found %d, and a run with pipeline stages is not modelled: its engine keeps %[1]d batches under way, and how they fill the stages was measured nowhere; use tensor_parallel_size, or see servesim model --pp %[1]d for the memory and the step time of a stage", n)}}
}
