package gpu

import (
	"cmp"
	"errors"
	"fmt"
	"strings"
)

// coefficients is what one setup takes from a profile.
type coefficients struct {
	gemm         GEMM
	moe          MoE
	prefill      AttnPrefill
	window       AttnPrefill // of sliding-window layers
	decode       AttnDecode
	allReduce    AllReduce
	groupReduce  AllReduce // over the GPUs that share the attention of a sequence
	head         GEMM      // of the output projection
	engine       Engine
	kvEfficiency float64
}

// coefficients looks up what s needs. The error joins everything that p lacks.
func (p *Profile) coefficients(s Setup) (coefficients, error) {
	var c coefficients
	var faults []error
	c.engine = pick(&faults, p, lookup{"Engine", "engine"}, p.Engine, s.Engine)
	if len(faults) > 0 {
		return c, errors.Join(faults...) // what else there is depends on the engine
	}
	k := p.kernels(c.engine)
	c.head = k.GEMM[string(BF16)]
	if s.Weights == MXFP4 && s.Model.Experts == 0 {
		faults = append(faults, blame("Weights", fmt.Errorf("weights are mxfp4, a format of experts, and %s has none; want bf16, fp8 or fp4", s.Model.Name)))
	} else {
		c.gemm = pick(&faults, p, lookup{"Weights", "weight format"}, k.GEMM, string(s.Weights.outsideExperts()))
	}
	if c.engine.FusedQuantisation {
		c.gemm.InputBytesPerS = 0
	}
	c.gemm.WeightBytesPerS *= cmp.Or(c.engine.WeightEfficiency, 1)
	if s.Model.Experts > 0 {
		c.moe = pick(&faults, p, lookup{"Weights", "weight format of experts"}, k.MoE, string(s.Weights))
	}
	if s.TP > 1 {
		c.allReduce = pick(&faults, p, lookup{"TP", "all-reduce"}, k.AllReduce, fmt.Sprintf("tp%d", s.TP))
	}
	if group := s.TP / max(1, s.DPAttention); s.DPAttention > 1 && group > 1 && s.TP%s.DPAttention == 0 {
		c.groupReduce = pick(&faults, p, lookup{"DPAttention", "all-reduce"}, k.AllReduce, fmt.Sprintf("tp%d", group))
	}
	kv := string(s.KV)
	c.decode = pick(&faults, p, lookup{"KV", "KV format"}, k.AttnDecode.Of(s.Model.HeadDim), kv)
	if _, ok := k.AttnDecode.Of(s.Model.HeadDim)[kv]; ok { // else said already
		c.prefill = pick(&faults, p, lookup{"KV", "KV format of prefill attention"}, k.AttnPrefill.Of(s.Model.HeadDim), kv)
		if s.Model.WindowLayers > 0 {
			c.window = pick(&faults, p, lookup{"KV", "KV format of windowed prefill attention"}, k.AttnPrefill.Window, kv)
		}
	}
	c.kvEfficiency = c.engine.kvEfficiency(s.KV)
	return c, errors.Join(faults...)
}

// A lookup is something sought in a profile.
type lookup struct {
	field string // of Setup that asks for it
	kind  string // what it is, for messages
}

// pick returns the entry called name, or adds to faults that p has no such kind.
func pick[V any](faults *[]error, p *Profile, want lookup, from map[string]V, name string) V {
	v, ok := from[name]
	if !ok {
		have := "none"
		if len(from) > 0 {
			have = strings.Join(sortedKeys(from), ", ")
		}
		*faults = append(*faults, blame(want.field, fmt.Errorf("profile %s has no %s %q; it has %s", p.Name, want.kind, name, have)))
	}
	return v
}
