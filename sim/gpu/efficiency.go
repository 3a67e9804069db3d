package gpu

import (
	"math"
	"strings"
)

// MostEfficient returns the largest FlopEfficiency, WeightEfficiency,
// KVBF16Efficiency and KVFP8Efficiency that the engine called name may have before one of the rates of
// its kernels that they scale is above the datasheet; its other fields are zero.
// An efficiency that scales nothing is +Inf.
func (p *Profile) MostEfficient(name string) Engine {
	most := Engine{FlopEfficiency: math.Inf(1), KVBF16Efficiency: math.Inf(1), KVFP8Efficiency: math.Inf(1), WeightEfficiency: math.Inf(1)}
	limits := p.kernels(p.Engine[name]).scaledLimits(p.Datasheet, Engine{FlopEfficiency: 1, KVBF16Efficiency: 1, KVFP8Efficiency: 1})
	for key, l := range limits {
		efficiency := &most.FlopEfficiency
		switch {
		case strings.HasSuffix(key, ".weight_bytes_per_s"):
			efficiency = &most.WeightEfficiency
		case strings.HasSuffix(key, string(FP8)+".bytes_per_s"):
			efficiency = &most.KVFP8Efficiency
		case strings.HasSuffix(key, string(BF16)+".bytes_per_s"):
			efficiency = &most.KVBF16Efficiency
		}
		*efficiency = min(*efficiency, l.most/l.rate)
	}
	return most
}
