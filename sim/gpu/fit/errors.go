package fit

import (
	"fmt"
	"math"

	"servesim/sim/gpu"
)

// Errors is how far predictions are off, over rows of one operator. Median and P90
// are of |predicted/measured - 1|, Bias the median of predicted/measured - 1.
type Errors struct {
	Operator          string // gemm, prefill attention, decode attention, all-reduce or experts
	Rows              int
	Median, P90, Bias float64
}

// Errors returns how far k is off for the rows that w wants, operator by operator,
// over the same rows that fits are made of: products without those that warm
// leaves out, those that found their weights in the L2 cache counted as if they had
// not, decode attention outside the L2 cache, experts on one rank under
// power-law routing. Rows whose format k has no coefficients for do not count.
func (t *Tables) Errors(k gpu.Kernels, w Wanted) []Errors {
	ratios := map[string][]float64{}
	note := func(operator string, predicted, measured float64) {
		ratios[operator] = append(ratios[operator], predicted/measured)
	}
	groups := map[kernel][]gemmRow{}
	for _, r := range t.gemm {
		if w.has(r.kernel) {
			groups[r.kernel] = append(groups[r.kernel], r)
		}
	}
	for _, rows := range groups {
		for _, r := range warm(rows) {
			if c, ok := k.GEMM[r.format]; ok {
				note("gemm", c.Seconds(r.shape), r.seconds)
			}
		}
	}
	for _, r := range t.prefill {
		by := k.AttnPrefill.Of(r.shape.HeadDim)
		if r.window > 0 {
			by = k.AttnPrefill.Window
		}
		if c, ok := by[r.format]; ok && w.has(r.kernel) {
			tokens, pairs := r.prefillWork()
			note("prefill attention", c.Seconds(r.shape, tokens, pairs), r.seconds)
		}
	}
	for _, r := range t.decode {
		if c, ok := k.AttnDecode.Of(r.shape.HeadDim)[r.format]; ok && w.has(r.kernel) && !r.cached {
			note("decode attention", c.Seconds(r.shape, r.batch, r.batch*r.length), r.seconds)
		}
	}
	for _, r := range t.reduce {
		if c, ok := k.AllReduce[fmt.Sprintf("tp%d", r.gpus)]; ok && w.reduces(r) {
			note("all-reduce", c.Seconds(r.bytes), r.seconds)
		}
	}
	for _, r := range t.moe {
		if c, ok := k.MoE[string(expertFormat(r.format))]; ok && w.has(r.kernel) && t.fits(r) {
			note("experts", c.Seconds(r.shape, r.tokens), r.seconds)
		}
	}
	var out []Errors
	for _, operator := range sortedKeys(ratios) {
		e := Errors{Operator: operator, Rows: len(ratios[operator])}
		errs := make([]float64, e.Rows)
		for i, r := range ratios[operator] {
			errs[i] = math.Abs(r - 1)
		}
		e.Median, e.P90 = quantiles(errs)
		e.Bias, _ = quantiles(ratios[operator])
		e.Bias--
		out = append(out, e)
	}
	return out
}
