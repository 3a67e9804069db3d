package gpu

import "math"

// GEMM is the coefficients of a matrix product of m rows of input with n x k
// weights of so many bytes each:
//
//	t = fixed + per1024K·k/1024
//	  + √((2mnk/(flop/s·efficiency))² + (n·k·bytes/(weight bytes/s))²)
//	  + 2mk/(input bytes/s) + 2mn/(output bytes/s)
//
// fixed is the launch, per1024K the walk along k that no parallel work hides. The
// root of the sum of squares joins computing and streaming of the weights more
// closely than their maximum does. The last two are the quantising and reading of
// the input and the writing of the output, two bytes an element, which overlap
// with nothing. Tile and wave rounding, a power other than 2, a floor under the
// launch and a rate that grows with m were tried on the kernel tables and fit no
// better.
type GEMM struct {
	FixedS          float64    `toml:"fixed_s" want:"span"`
	Per1024KS       float64    `toml:"per_1024_k_s" want:"span"`
	FlopPerS        float64    `toml:"flop_per_s" want:"rate"`
	WeightBytesPerS float64    `toml:"weight_bytes_per_s" want:"rate"`
	InputBytesPerS  float64    `toml:"input_bytes_per_s" want:"rate,optional"`  // 0: takes no time
	OutputBytesPerS float64    `toml:"output_bytes_per_s" want:"rate,optional"` // 0: takes no time
	Fit             Provenance `toml:"fit" want:"optional"`
}

// GEMMShape is a product of M rows of input with N x K weights of WeightBytes
// bytes each.
type GEMMShape struct {
	M, N, K     int64
	WeightBytes float64
}

// Seconds returns the time of one product, in seconds.
func (c GEMM) Seconds(s GEMMShape) float64 {
	return c.of(s.N, s.K, s.WeightBytes, 1).seconds(float64(s.M))
}

// gemm is a matrix product of fixed n and k, as a function of m.
type gemm struct {
	fixed   float64 // s
	compute float64 // s per row
	memory2 float64 // s², the streaming of the weights
	rows    float64 // s per row, input and output
}

// of returns the product with n x k weights of bytes each, its FLOP rate scaled
// by efficiency.
func (c GEMM) of(n, k int64, bytes, efficiency float64) gemm {
	weights := float64(float64(n)*float64(k)) * bytes / c.WeightBytesPerS
	g := gemm{
		fixed:   c.FixedS + float64(c.Per1024KS*float64(k)/1024),
		compute: 2 * float64(n) * float64(k) / (c.FlopPerS * efficiency),
		memory2: weights * weights,
	}
	if c.InputBytesPerS > 0 {
		g.rows = 2 * float64(k) / c.InputBytesPerS
	}
	if c.OutputBytesPerS > 0 {
		g.rows += 2 * float64(n) / c.OutputBytesPerS
	}
	return g
}

// seconds never shrinks as m grows, to the last bit: every operation rounds
// monotonically.
func (g gemm) seconds(m float64) float64 {
	c := g.compute * m
	return g.fixed + math.Sqrt(float64(c*c)+g.memory2) + float64(g.rows*m)
}

// work is what the product computes and must read from memory: its weights. The
// input and the output may stay in the cache.
func (s GEMMShape) work() (flops, bytes float64) {
	nk := float64(float64(s.N) * float64(s.K))
	return float64(2 * float64(s.M) * nk), float64(nk * s.WeightBytes)
}
