package portable

import "math/rand/v2"

// A strip is one of the horizontal strips of equal area that cover a density, by
// the ziggurat method (Marsaglia and Tsang, Journal of Statistical Software 5(8),
// 2000). A draw of j from below 2^32, or from both sides of 0 within 2^31, is the
// point j·width; if |j| is below inside, it is certainly under the density.
type strip struct {
	inside uint32
	width  float32
	height float32 // of the density at the strip's right edge
}

// Where the ziggurats end and the tails begin, from the paper.
const (
	exponentialTail = 7.69711747013104972 // with 256 strips
	normalTail      = 3.442619855899      // with 128 strips
)

// unit returns the next draw of src that is uniform on [0, 1), a multiple of 2^-53.
func unit(src *rand.PCG) float64 { return float64(src.Uint64()<<11>>11) * 0x1p-53 }

// logUnit returns the logarithm of a uniform draw above 0.
func logUnit(src *rand.PCG) float64 {
	for {
		if u := unit(src); u > 0 {
			return Log(u)
		}
	}
}

// under tells whether a point, uniform in height within the strip whose edges
// have the given heights, is below density.
func under(src *rand.PCG, outer, inner float32, density float64) bool {
	return outer+float32(float32(unit(src))*(inner-outer)) < float32(density)
}

// Exponential returns a draw from the exponential distribution of mean 1, which
// is finite and at least 0. It takes the draws from src that ExpFloat64 of
// math/rand/v2 takes, and equals it but for the last bits of rare draws.
func Exponential(src *rand.PCG) float64 {
	for {
		u := src.Uint64()
		j, i := uint32(u), uint8(u>>32)
		s := &exponentialStrips[i]
		x := float64(j) * float64(s.width)
		switch {
		case j < s.inside:
			return x
		case i == 0:
			return exponentialTail - logUnit(src)
		case under(src, s.height, exponentialStrips[i-1].height, Exp(-x)):
			return x
		}
	}
}

// Normal returns a draw from the normal distribution of mean 0 and standard
// deviation 1. It takes the draws from src that NormFloat64 of math/rand/v2
// takes, and equals it but for the last bits of rare draws.
func Normal(src *rand.PCG) float64 {
	for {
		u := src.Uint64()
		j, i := int32(u), u>>32&127
		s := &normalStrips[i]
		x := float64(j) * float64(s.width)
		switch {
		case magnitude(j) < s.inside:
			return x
		case i == 0:
			return normalBeyond(src, j > 0)
		case under(src, s.height, normalStrips[i-1].height, Exp(-0.5*x*x)):
			return x
		}
	}
}

// magnitude returns |j|.
func magnitude(j int32) uint32 {
	if j < 0 {
		return -uint32(j)
	}
	return uint32(j)
}

// normalBeyond returns a draw from the upper or the lower tail of the normal
// distribution, by the method that the paper takes from Marsaglia (1964).
func normalBeyond(src *rand.PCG, upper bool) float64 {
	for {
		x := float64(-logUnit(src) * (1 / normalTail))
		y := -logUnit(src)
		if y+y < float64(x*x) {
			continue
		}
		if upper {
			return normalTail + x
		}
		return -normalTail - x
	}
}
