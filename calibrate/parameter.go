package calibrate

import (
	"servesim/sim/gpu"
)

// A Parameter is one constant of an engine with its prior.
type Parameter struct {
	// Key is the constant's key in a profile.
	Key string
	// Prior and Width are the mean and the standard deviation of what is known
	// of it without runs, in the unit of the key. Why says where they come from.
	Prior, Width float64
	Why          string
	// Least and Most bound it.
	Least, Most float64
	efficiency  bool // scales rates of kernels
	at          func(*gpu.Engine) *float64
}

// Of returns the value of p in e.
func (p *Parameter) Of(e *gpu.Engine) float64 { return *p.at(e) }

// Set sets it.
func (p *Parameter) Set(e *gpu.Engine, v float64) { *p.at(e) = v }

// Parameters lists the constants that can be fitted.
func Parameters() []Parameter {
	const us, ms = 1e-6, 1e-3
	return []Parameter{
		{"layer_s", 0, 10 * us, "fused norms and dependent launch hide up to the fixed times of the four or five kernels of a layer",
			-20 * us, 20 * us, false, func(e *gpu.Engine) *float64 { return &e.LayerS }},
		{"allreduce_skew_s", 0, 3 * us, "the order of the fixed time of an all-reduce",
			0, 20 * us, false, func(e *gpu.Engine) *float64 { return &e.AllReduceSkewS }},
		{"flop_efficiency", 1, 0.15, "kernels of engines differ by 10 % from the pooled fit",
			0.6, 1.6, true, func(e *gpu.Engine) *float64 { return &e.FlopEfficiency }},
		{"weight_efficiency", 1, 0.05, "kernels of engines differ by 5 % from the pooled fit where they stream weights",
			0.8, 1.3, true, func(e *gpu.Engine) *float64 { return &e.WeightEfficiency }},
		{"kv_fp8_efficiency", 1, 0.25, "engines' attention differs up to 26 % from the pooled fit on Hopper",
			0.3, 2, true, func(e *gpu.Engine) *float64 { return &e.KVFP8Efficiency }},
		{"kv_bf16_efficiency", 1, 0.15, "engines' attention differs by up to 11 % from the pooled fit",
			0.3, 2, true, func(e *gpu.Engine) *float64 { return &e.KVBF16Efficiency }},
		{"step_s", 300 * us, 300 * us, "scheduling, input preparation and sampling of a step",
			0, 10 * ms, false, func(e *gpu.Engine) *float64 { return &e.StepS }},
		{"seq_s", 5 * us, 15 * us, "bookkeeping and streaming of a sequence in a step",
			0, 200 * us, false, func(e *gpu.Engine) *float64 { return &e.SeqS }},
		{"mixed_step_s", 0, 3 * ms, "preparing a step with prompt tokens",
			0, 60 * ms, false, func(e *gpu.Engine) *float64 { return &e.MixedStepS }},
		{"eager_layer_s", 200 * us, 200 * us, "12 to 15 launches of 5 to 30 us through the framework's dispatcher",
			0, 1500 * us, false, func(e *gpu.Engine) *float64 { return &e.EagerLayerS }},
		{"request_s", 10 * ms, 10 * ms, "HTTP, tokeniser and hand-over between processes",
			0, 200 * ms, false, func(e *gpu.Engine) *float64 { return &e.RequestS }},
	}
}
