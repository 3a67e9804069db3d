package gpu

import (
	"cmp"
	"maps"
)

// Peak returns the FLOP/s that the datasheet prints for computing with weights or
// keys of format f, or 0 if the GPU cannot. A GPU with 4-bit units computes mxfp4
// weights with 8-bit activations at best, and one without them in bf16. For int8
// the datasheets of the GPUs that ship print what they print for fp8.
func (d Datasheet) Peak(f Format) float64 {
	switch {
	case f == FP8, f == INT8, f == MXFP4 && d.FP4FlopPerS > 0:
		return d.FP8FlopPerS
	case f == FP4:
		return d.FP4FlopPerS
	}
	return d.BF16FlopPerS
}

// peakKey returns the key of Peak.
func (d Datasheet) peakKey(f Format) string {
	switch {
	case f == FP8, f == INT8, f == MXFP4 && d.FP4FlopPerS > 0:
		return "fp8_flop_per_s"
	case f == FP4:
		return "fp4_flop_per_s"
	}
	return "bf16_flop_per_s"
}

// LinkBytesPerS returns the bytes per second that one GPU can send, and receive at
// the same time, over NVLink. Whatever the algorithm, in an all-reduce of x bytes
// over two or more GPUs each receives at least x: with reduction in the switch x,
// otherwise 2x(n-1)/n over n GPUs.
func (d Datasheet) LinkBytesPerS() float64 { return d.NVLinkBytesPerS / 2 }

// A limit is a rate of a profile and the most that the datasheet allows.
type limit struct {
	rate, most float64
	of         string // the datasheet's key
}

// checkLimits tells fault which rates of p are above the datasheet.
func (p *Profile) checkLimits(fault func(key, format string, args ...any)) {
	for _, name := range sortedKeys(p.Kernels) {
		limits := p.Kernels[name].limits(p.Datasheet)
		maps.Copy(limits, p.Kernels[name].scaledLimits(p.Datasheet, Engine{FlopEfficiency: 1, KVBF16Efficiency: 1, KVFP8Efficiency: 1}))
		for _, key := range sortedKeys(limits) {
			if l := limits[key]; l.rate > l.most {
				fault("kernels."+name+"."+key, "found %.6g; must be at most %.6g, by datasheet.%s", l.rate, l.most, l.of)
			}
		}
	}
	for _, name := range sortedKeys(p.Engine) {
		e := p.Engine[name]
		p.checkAlgorithms(name, fault)
		limits := p.kernels(e).scaledLimits(p.Datasheet, e)
		for _, key := range sortedKeys(limits) {
			if l := limits[key]; l.rate > l.most {
				fault("engine."+name, "its efficiency makes %.6g of kernels.%s.%s; must be at most %.6g, by datasheet.%s", l.rate, cmp.Or(e.DenseKernels, e.Kernels), key, l.most, l.of)
			}
		}
	}
	if r, most := p.Fitted.Elementwise.BytesPerS, p.Datasheet.HBMBytesPerS; r > most {
		fault("fitted.elementwise.bytes_per_s", "found %.6g; must be at most %.6g, by datasheet.hbm_bytes_per_s", r, most)
	}
}

// limits returns the limits, by key, of the rates that no engine scales.
func (k Kernels) limits(d Datasheet) map[string]limit {
	out := map[string]limit{}
	memory := func(rate float64) limit { return limit{rate, d.HBMBytesPerS, "hbm_bytes_per_s"} }
	for f, c := range k.MoE {
		out["moe."+f+".weight_bytes_per_s"] = memory(c.WeightBytesPerS)
		out["moe."+f+".flop_per_s"] = limit{c.FlopPerS, d.Peak(Format(f)), d.peakKey(Format(f))}
	}
	for tp, c := range k.AllReduce {
		out["allreduce."+tp+".bytes_per_s"] = limit{c.BytesPerS, d.LinkBytesPerS(), "nvlink_bytes_per_s, half of it in each direction"}
	}
	for _, table := range k.AttnPrefill.tables() {
		for f, c := range table.byFormat {
			at := "attn_prefill." + table.name + "." + f
			out[at+".bytes_per_s"], out[at+".kv_bytes_per_s"] = memory(c.BytesPerS), memory(c.KVBytesPerS)
		}
	}
	return out
}

// scaledLimits returns the limits, by key, of the rates that e scales.
func (k Kernels) scaledLimits(d Datasheet, e Engine) map[string]limit {
	out := map[string]limit{}
	for f, c := range k.GEMM {
		out["gemm."+f+".weight_bytes_per_s"] = limit{c.WeightBytesPerS * cmp.Or(e.WeightEfficiency, 1), d.HBMBytesPerS, "hbm_bytes_per_s"}
		out["gemm."+f+".flop_per_s"] = limit{c.FlopPerS * e.FlopEfficiency, d.Peak(Format(f)), d.peakKey(Format(f))}
	}
	for _, table := range k.AttnPrefill.tables() {
		for f, c := range table.byFormat {
			out["attn_prefill."+table.name+"."+f+".flop_per_s"] = limit{c.FlopPerS * e.FlopEfficiency, d.Peak(Format(f)), d.peakKey(Format(f))}
		}
	}
	decode := func(name string, byFormat map[string]AttnDecode) {
		for f, c := range byFormat {
			out["attn_decode."+name+"."+f+".bytes_per_s"] = limit{c.BytesPerS * e.kvEfficiency(Format(f)), d.HBMBytesPerS, "hbm_bytes_per_s"}
		}
	}
	decode("d128", k.AttnDecode.D128)
	decode("d64", k.AttnDecode.D64)
	return out
}
