package gpu

import "math"

// GEMM is the coefficients of a matrix product of m rows of input with n x k
// weights:
//
//	t = fixed + per1024K·k/1024
//	  + √((2mnk/(flop/s·efficiency))² + (n·k·bytes/(weight bytes/s))²)
//	  + 2mk/(activation bytes/s)
//
// The root of the sum of squares joins computing and streaming of the weights
// more closely than their maximum does; the last term is the quantising and
// rereading of the input.
type GEMM struct {
	FixedS            float64 `toml:"fixed_s" want:"span"`
	Per1024KS         float64 `toml:"per_1024_k_s" want:"span"`
	FlopPerS          float64 `toml:"flop_per_s" want:"rate"`
	WeightBytesPerS   float64 `toml:"weight_bytes_per_s" want:"rate"`
	ActivationBytesPS float64 `toml:"activation_bytes_per_s" want:"rate,optional"` // 0: no such pass
}

// gemm is a matrix product of fixed n and k, as a function of m.
type gemm struct {
	fixed   float64 // s
	compute float64 // s per row
	memory2 float64 // s², the streaming of the weights
	input   float64 // s per row
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
	if c.ActivationBytesPS > 0 {
		g.input = 2 * float64(k) / c.ActivationBytesPS
	}
	return g
}

// seconds never shrinks as m grows, to the last bit: every operation rounds
// monotonically.
func (g gemm) seconds(m float64) float64 {
	c := g.compute * m
	return g.fixed + math.Sqrt(float64(c*c)+g.memory2) + float64(g.input*m)
}
