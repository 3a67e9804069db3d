package fit

import (
	"math"
	"testing"

	"pgregory.net/rapid"

	"servesim/sim/gpu"
)

// Law: rows that found their weights in the cache move no coefficient, however much
// faster they were.
func TestCachedWeightsTellNothingOfMemory(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		truth := gpu.GEMM{FixedS: 5e-6, Per1024KS: 3e-7, FlopPerS: 8e14, InputBytesPerS: 2e12, OutputBytesPerS: 5e12,
			WeightBytesPerS: rapid.Float64Range(1e12, 3e12).Draw(t, "memory")}
		faster := truth
		faster.WeightBytesPerS *= rapid.Float64Range(1, 5).Draw(t, "cache")
		const l2 = 50e6
		var rows []gemmRow
		for _, m := range []int64{1, 16, 128, 1024, 8192} {
			for _, n := range []int64{1024, 4096, 16384, 65536} {
				for _, k := range []int64{1024, 4096, 16384} {
					rows = append(rows, gemmRow{kernel: kernel{engine: "trtllm", format: "fp8"}, shape: gpu.GEMMShape{M: m, N: n, K: k, WeightBytes: 1}})
				}
			}
		}
		near := 0
		for i, r := range cached(rows, l2) {
			rows[i].seconds = truth.Seconds(r.shape)
			if r.cached {
				rows[i].seconds = faster.Seconds(r.shape)
				near++
			}
		}
		if near == 0 || near == len(rows) {
			t.Fatalf("%d of %d rows are cached", near, len(rows))
		}
		got, err := fitGEMM(rows, sheet(), gpu.FP8)
		if err != nil {
			t.Fatal(err)
		}
		if r := got.WeightBytesPerS / truth.WeightBytesPerS; math.Abs(r-1) > 0.02 {
			t.Errorf("memory of %g bytes/s, cache of %g: fitted %g", truth.WeightBytesPerS, faster.WeightBytesPerS, got.WeightBytesPerS)
		}
	})
}

// 8192 x 8192 weights on a B200, whose cache holds 126 MB: in fp4 38 MB. vLLM's fp4
// rows read one copy again and again, so it is cached; its fp8 rows go through 6 of
// 67 MB; TensorRT-LLM's go through as many as the cache is exceeded by, at most 5.
func TestWhichWeightsAreCached(t *testing.T) {
	const l2 = 126e6
	for _, c := range []struct {
		engine, format string
		n, k           int64
		copies         float64
		cached         bool
	}{
		{"vllm", "fp4", 8192, 8192, 1, true},
		{"vllm", "fp4", 65536, 8192, 1, false}, // 302 MB
		{"vllm", "fp8", 8192, 8192, 6, false},
		{"vllm", "fp8", 8192, 4096, 6, true}, // 201 MB
		{"trtllm", "fp8", 8192, 8192, 2, true},
		{"trtllm", "fp8", 1024, 8192, 5, true},
		{"trtllm", "fp8", 65536, 8192, 1, false},
		{"other", "fp8", 1024, 1024, math.Inf(1), false},
	} {
		bytes := gpu.Format(c.format).BytesPerWeight()
		r := gemmRow{kernel: kernel{engine: c.engine, format: c.format}, shape: gpu.GEMMShape{M: 1, N: c.n, K: c.k, WeightBytes: bytes}}
		if got := copies(r.kernel, float64(c.n*c.k)*bytes, l2); got != c.copies {
			t.Errorf("%s %s: %v copies, want %v", c.engine, c.format, got, c.copies)
		}
		if got := cached([]gemmRow{r}, l2)[0].cached; got != c.cached {
			t.Errorf("%s %s %d x %d: cached %v, want %v", c.engine, c.format, c.n, c.k, got, c.cached)
		}
	}
}
