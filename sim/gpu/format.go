package gpu

import (
	"fmt"
	"strings"
)

// Format is a number format of weights or of the KV cache.
type Format string

// The formats. INT8 is that of weights and activations together (w8a8). FP4 is NVIDIA's nvfp4, MXFP4 that of gpt-oss, in which only the
// experts are 4 bits wide and all other weights are bf16.
const (
	BF16  Format = "bf16"
	FP8   Format = "fp8"
	INT8  Format = "int8"
	FP4   Format = "fp4"
	MXFP4 Format = "mxfp4"
)

// ParseFormat reads the name of a format, in any case. nvfp4 is another name of
// fp4.
func ParseFormat(s string) (Format, error) {
	switch f := Format(strings.ToLower(s)); f {
	case BF16, FP8, INT8, FP4, MXFP4:
		return f, nil
	case "nvfp4":
		return FP4, nil
	}
	return "", fmt.Errorf("%q is not a number format; the formats are bf16, fp8, int8, fp4 (also called nvfp4) and mxfp4", s)
}

// BytesPerWeight returns the bytes that one weight takes, the scales of its
// block included: nvfp4 has an 8-bit scale for 16 weights, mxfp4 one for 32. That
// of mxfp4 is 0.53125, and 0.53 is what the coefficients of the profiles were
// fitted with, which would be others with another number of bytes.
func (f Format) BytesPerWeight() float64 {
	switch f {
	case FP8, INT8:
		return 1
	case FP4:
		return 0.5 + 1.0/16
	case MXFP4:
		return 0.53
	}
	return 2
}

// outsideExperts is the format of the weights that are not in an expert.
func (f Format) outsideExperts() Format {
	if f == MXFP4 {
		return BF16
	}
	return f
}

// kvBytes returns the bytes of one element of the KV cache, 1 or 2.
func (f Format) kvBytes() int64 {
	if f == FP8 {
		return 1
	}
	return 2
}
