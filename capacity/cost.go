package capacity

import (
	"maps"
	"math"
	"slices"
	"strings"

	"servesim/analysis"
	"servesim/sim/gpu"
)

// Cost is what serving costs while a run lasts. What there is no data for is NaN.
type Cost struct {
	// GPUs is the number of GPUs.
	GPUs int64
	// USDPerGPUHour is the price of one, Given if it is not the profile's.
	USDPerGPUHour float64
	Given         bool
	// USDPerHour is that of all of them.
	USDPerHour float64
	// USDPerMTok is for a million output tokens of completed requests, and
	// USDPerGoodMTok for a million of good ones, which without limits on requests is
	// NaN.
	USDPerMTok, USDPerGoodMTok float64
	// KW is the power of all GPUs: of each its idle power, and while its engine
	// runs a step the most that it may draw (TDP). It is an upper bound of that of
	// the GPUs, and without what is around them.
	KW                         float64
	KWhPerMTok, KWhPerGoodMTok float64
}

// costOf returns what a run on GPUs of profile p cost, prices and powers being
// those of o where it has some.
func costOf(p *gpu.Profile, r *analysis.Report, o *Options) Cost {
	nan := math.NaN()
	c := Cost{GPUs: r.Throughput.GPUs, USDPerGPUHour: nan, KW: nan}
	if p.Price != nil {
		c.USDPerGPUHour = p.Price.USDPerGPUHour
	}
	if own, ok := o.Prices[strings.ToLower(p.Name)]; ok {
		c.USDPerGPUHour, c.Given = own, true
	}
	n := float64(c.GPUs)
	c.USDPerHour = n * c.USDPerGPUHour
	most, given := o.Watts[strings.ToLower(p.Name)]
	if !given {
		most = p.Datasheet.TDPW
	}
	if p.Power != nil {
		watts := p.Power.IdleW + float64(min(1, r.Engine.Utilisation)*(most-p.Power.IdleW))
		c.KW = n * watts / 1000
	}
	perHour := float64(r.Throughput.OutputTokens * 3600 / 1e6) // millions of tokens
	c.USDPerMTok, c.KWhPerMTok = c.USDPerHour/perHour, c.KW/perHour
	good := nan
	if r.Goodput != nil {
		good = float64(r.Goodput.OutputPerSecond * 3600 / 1e6)
	}
	c.USDPerGoodMTok, c.KWhPerGoodMTok = c.USDPerHour/good, c.KW/good
	return c
}

// sortedKeys returns the keys of m in order.
func sortedKeys[V any](m map[string]V) []string { return slices.Sorted(maps.Keys(m)) }
