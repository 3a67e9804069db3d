package gpu

import (
	"fmt"
	"math"

	"servesim/sim"
)

// Engine is what an engine adds to the operators, fitted end to end on its runs.
// The constants are identified only in combination, so no single one is physics.
type Engine struct {
	Version string `toml:"version"`
	// Kernels names the table of Profile.Kernels that holds its operators.
	Kernels string `toml:"kernels"`
	// DenseKernels names the table that holds its matrix products and attention
	// instead, where whole runs ask for another; all-reduces and experts stay those
	// of Kernels. It is empty if they are of Kernels too.
	DenseKernels string `toml:"dense_kernels" want:"optional"`
	// ExpertKernels names the table that holds its experts instead, for a server that
	// is told to take another engine's.
	ExpertKernels string `toml:"expert_kernels" want:"optional"`
	// LayerS is added to each layer. It is negative where fusion hides start-up
	// time that isolated kernels pay.
	LayerS float64 `toml:"layer_s" want:"signed-span"`
	// AllReduceSkewS is added to each all-reduce: the GPUs arrive one after another.
	AllReduceSkewS float64 `toml:"allreduce_skew_s" want:"span"`
	// ReduceAlgorithms names the table of Profile.ReduceAlgorithms that holds the
	// all-reduces of this version, of longer messages or of all, instead of Kernels.
	ReduceAlgorithms string `toml:"reduce_algorithms" want:"optional"`
	// FusedQuantisation tells that the kernels before matrix products quantise
	// their inputs, so that the products don't: GEMM.InputBytesPerS doesn't count.
	FusedQuantisation bool `toml:"fused_quantisation" want:"optional"`
	// FlopEfficiency scales the FLOP rates of GEMM and prefill attention.
	FlopEfficiency float64 `toml:"flop_efficiency" want:"ratio"`
	// WeightEfficiency scales the rate at which matrix products stream weights; 0
	// stands for 1. Graphs and dependent launch let a product's first loads begin
	// before the kernel ahead of it ends, which isolated kernels cannot.
	WeightEfficiency float64 `toml:"weight_efficiency" want:"ratio,optional"`
	// KVBF16Efficiency and KVFP8Efficiency scale the bandwidth of decode
	// attention, by KV format.
	KVBF16Efficiency float64 `toml:"kv_bf16_efficiency" want:"ratio"`
	KVFP8Efficiency  float64 `toml:"kv_fp8_efficiency" want:"ratio"`
	// StepS, SeqS and PromptTokenS are host time: a step, a sequence of it, a
	// prompt token of it.
	StepS        float64 `toml:"step_s" want:"span"`
	SeqS         float64 `toml:"seq_s" want:"span"`
	PromptTokenS float64 `toml:"prompt_token_s" want:"span"`
	// MixedStepS is what the fit adds to each step with prompt tokens. It is not
	// applied unless Host.MixedStep says so: see the profile files.
	MixedStepS float64 `toml:"mixed_step_s" want:"span"`
	// EagerLayerS is the host time of launching the kernels of one layer in a step
	// that replays no CUDA graph: the GPU part of such a step takes at least this
	// for each layer. The runs that it was fitted on leave it between
	// EagerLayerLowS and EagerLayerHighS. EagerPrefill tells that steps with prompt
	// tokens are such steps unless Setup says otherwise.
	EagerLayerS     float64 `toml:"eager_layer_s" want:"span,optional"`
	EagerLayerLowS  float64 `toml:"eager_layer_low_s" want:"span,optional"`
	EagerLayerHighS float64 `toml:"eager_layer_high_s" want:"span,optional"`
	EagerPrefill    bool    `toml:"eager_prefill" want:"optional"`
	// Overlapped tells that the runs which the constants were fitted on scheduled
	// asynchronously: host time is then what that leaves in the open, and hiding it
	// behind the GPU again would count the overlap twice.
	Overlapped bool `toml:"overlapped" want:"optional"`
	// RequestS is the time from a client's call to the scheduler. It is no part
	// of a step, and nothing applies it: see the profile files.
	RequestS float64 `toml:"request_s" want:"delay"`
}

// kvEfficiency returns what scales the bandwidth of decode attention.
func (e Engine) kvEfficiency(kv Format) float64 {
	if kv == FP8 {
		return e.KVFP8Efficiency
	}
	return e.KVBF16Efficiency
}

// MixedStep returns MixedStepS, rounded to a picosecond.
func (e Engine) MixedStep() sim.Duration { return picoseconds(e.MixedStepS) }

// Host overrides the host time of a step,
//
//	Base + PerSeq·sequences + PerPromptToken·prompt tokens,
//
// and MixedStep more if there are prompt tokens. What is nil comes from the
// engine's constants in the profile, except that MixedStep is then 0.
type Host struct {
	Base, PerSeq, PerPromptToken, MixedStep *sim.Duration
}

// hostTime is Host with everything filled in.
type hostTime struct {
	base, perSeq, perPromptToken, mixedStep sim.Duration
}

// maxHost is the most that one of the four may be.
const maxHost = sim.Second

func newHostTime(e Engine, h Host) (hostTime, []error) {
	t := hostTime{base: picoseconds(e.StepS), perSeq: picoseconds(e.SeqS), perPromptToken: picoseconds(e.PromptTokenS)}
	var faults []error
	set := func(field, name string, into *sim.Duration, from *sim.Duration) {
		if from == nil {
			return
		}
		if *from < 0 || *from > maxHost {
			faults = append(faults, blame("Host."+field, fmt.Errorf("host overhead %s is %v; want 0s to %v", name, *from, maxHost)))
		}
		*into = *from
	}
	set("Base", "base", &t.base, h.Base)
	set("PerSeq", "per sequence", &t.perSeq, h.PerSeq)
	set("PerPromptToken", "per prompt token", &t.perPromptToken, h.PerPromptToken)
	set("MixedStep", "mixed step", &t.mixedStep, h.MixedStep)
	return t, faults
}

func (t *hostTime) of(w Work) sim.Duration {
	d := t.base + t.perSeq*sim.Duration(w.DecodeSeqs+w.PrefillSeqs)
	if w.PrefillTokens > 0 {
		d += t.perPromptToken*sim.Duration(w.PrefillTokens) + t.mixedStep
	}
	return d
}

// maxStep is the longest step time, 53 days: times that would be longer are
// given as that. No work within the range of 32-bit lengths comes near it on a
// GPU that a profile can describe in earnest.
const maxStep = sim.MaxDuration / 2

// picoseconds rounds seconds to the nearest picosecond, at most maxStep.
func picoseconds(seconds float64) sim.Duration {
	p := math.RoundToEven(seconds * 1e12)
	if p >= float64(maxStep) {
		return maxStep
	}
	return sim.Duration(p)
}
