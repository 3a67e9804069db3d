package portable

import (
	"math"
	"math/rand/v2"
)

// Gamma returns a draw from the gamma distribution of the given shape, above 0,
// and scale 1, whose mean is its shape. It is 0 if the draw is too small for a
// float64, as most are for shapes below 0.001.
//
// It is the method of Marsaglia and Tsang (ACM Transactions on Mathematical
// Software 26(3), 2000); for shapes below 1 a draw of shape+1 is multiplied by
// u^(1/shape) for a uniform u.
func Gamma(src *rand.PCG, shape float64) float64 {
	boost := 1.0
	if shape < 1 {
		boost = Exp(logUnit(src) / shape)
		shape++
	}
	d := shape - 1.0/3
	c := 1 / (3 * math.Sqrt(d))
	for {
		x := Normal(src)
		v := 1 + float64(x*c)
		if v <= 0 {
			continue
		}
		v = float64(v * v * v)
		u, square := unit(src), float64(x*x)
		if u < 1-float64(0.0331*square*square) || Log(u) < float64(0.5*square)+float64(d*(1-v+Log(v))) {
			return float64(boost*d) * v
		}
	}
}
