package fit

import (
	"fmt"
	"math"

	"servesim/sim/gpu"
)

// fitGEMM fits the products of weights of format f. Rows that found their weights in
// the L2 cache have a rate of streaming them of their own, at least that of the memory,
// which no profile keeps: a model's weights don't fit a cache.
func fitGEMM(rows []gemmRow, d gpu.Datasheet, f gpu.Format) (gpu.GEMM, error) {
	at := func(x []float64) gpu.GEMM {
		return gpu.GEMM{FixedS: x[0], Per1024KS: x[1], FlopPerS: x[2], WeightBytesPerS: x[3], InputBytesPerS: x[4], OutputBytesPerS: x[5]}
	}
	p := problem{
		coefficients: []coefficient{{4e-6, 0}, {0.3e-6, 0}, {0.7 * d.Peak(f), d.Peak(f)}, {0.9 * d.HBMBytesPerS, d.HBMBytesPerS}, {4e12, 0}, {8e12, 0}, {0.5, 1}},
		predict: func(x []float64) func(int) float64 {
			c := at(x)
			near := c
			near.WeightBytesPerS /= x[6]
			return func(i int) float64 {
				if rows[i].cached {
					return near.Seconds(rows[i].shape)
				}
				return c.Seconds(rows[i].shape)
			}
		},
	}
	for _, r := range rows {
		p.samples = append(p.samples, sample{fmt.Sprintf("n%d k%d", r.shape.N, r.shape.K), r.seconds})
	}
	x, prov, err := p.solve()
	if err != nil {
		return gpu.GEMM{}, err
	}
	c := at(x)
	if c.InputBytesPerS > nothing {
		c.InputBytesPerS = 0
	}
	if c.OutputBytesPerS > nothing {
		c.OutputBytesPerS = 0
	}
	c.Fit = prov
	c.Fit.Range = fmt.Sprintf("m %s, n %s, k %s",
		span(rows, func(r gemmRow) int64 { return r.shape.M }), span(rows, func(r gemmRow) int64 { return r.shape.N }), span(rows, func(r gemmRow) int64 { return r.shape.K }))
	return c, nil
}

// keeps is the number of times that weights must exceed a cache for next to none of
// them to stay in it when they are read over and over: caches of GPUs don't evict what
// was used longest ago, so part of what is somewhat larger stays. Of 1, 1.3 and 2 it
// predicts products of unseen shapes best.
const keeps = 2

// cached marks the rows whose weights fit an L2 cache of l2 bytes.
func cached(rows []gemmRow, l2 float64) []gemmRow {
	for i, r := range rows {
		weights := float64(float64(r.shape.N)*float64(r.shape.K)) * r.shape.WeightBytes
		rows[i].cached = float64(weights*copies(r.kernel, weights, l2)) <= keeps*l2
	}
	return rows
}

// copies returns over how many copies of weights of so many bytes the repeats of a
// row went in turn. Source: ai-dynamo/aiconfigurator at 095f58a51c4c, collector/vllm/
// collect_gemm.py and collector/trtllm/collect_gemm.py, which flush no cache in
// between. Of other engines nothing is known, and no row counts as cached.
func copies(k kernel, weights, l2 float64) float64 {
	switch {
	case k.engine == "vllm" && k.format == string(gpu.FP4):
		return 1
	case k.engine == "vllm":
		return 6
	case k.engine == "trtllm":
		return max(1, min(5, math.Ceil(l2/weights)))
	}
	return math.Inf(1)
}
