package analysis

import (
	"math"

	"servesim/internal/portable"
)

const (
	// normal95 is the 97.5 % point of the normal distribution, between which and
	// its negative 95 % lie.
	normal95 = 1.959963984540054
	// outside is the share beyond each end of an interval.
	outside = 0.025
)

// student95 returns the 97.5 % point of Student's distribution with d ≥ 1
// degrees of freedom: from closed forms for 1 and 2, else from the expansion in
// 1/d of Abramowitz and Stegun 26.7.5, within 0.1 % from 3 on.
func student95(d float64) float64 {
	switch {
	case d < 2:
		return 12.706204736432095
	case d < 3:
		return 4.302652729911275
	case d < 4:
		return 3.182446305284263
	}
	const (
		z  = normal95
		z2 = z * z
		z4 = z2 * z2
		z6 = z4 * z2
		g1 = z * (z2 + 1) / 4
		g2 = z * (5*z4 + 16*z2 + 3) / 96
		g3 = z * (3*z6 + 19*z4 + 17*z2 - 15) / 384
		g4 = z * (79*z6*z2 + 776*z6 + 1482*z4 - 1920*z2 - 945) / 92160
	)
	return z + (g1+(g2+(g3+g4/d)/d)/d)/d
}

// leastIndependent returns the number of independent values from which on
// percentile p has an interval: that of which, with 97.5 % probability, at least
// one lies beyond p, so that the largest bounds it; ln 0.025/ln p.
func leastIndependent(p float64) float64 {
	return math.Ceil(portable.Log(outside) / portable.Log(max(p, 1-p)))
}

// rankShares returns the shares of a sample, from 0 to 1, between whose values
// percentile p of the population lies with 95 % confidence, if n independent
// values say as much as the sample. The number of n values below p is binomial,
// and the shares are its quantiles by the Cornish-Fisher expansion to the term
// in the skewness.
func rankShares(p, n float64) (lo, hi float64) {
	deviation := math.Sqrt(float64(p*(1-p)) / n)
	skewness := (1 - float64(2*p)) / math.Sqrt(float64(n*p*(1-p)))
	shift := float64((normal95*normal95 - 1) * skewness / 6)
	return p + float64(deviation*(shift-normal95)), p + float64(deviation*(shift+normal95))
}

// scoreShares returns the 95 % interval of Wilson (Journal of the American
// Statistical Association 22, 1927) for a share of n independent values.
func scoreShares(share, n float64) (lo, hi float64) {
	const z2 = normal95 * normal95
	center := share + z2/(2*n)
	half := float64(normal95 * math.Sqrt(float64(share*(1-share))/n+z2/float64(4*n*n)))
	scale := 1 + z2/n
	return max(0, (center-half)/scale), min(1, (center+half)/scale)
}

// uniformShare returns the largest share of which n independent values may hold
// none with 2.5 % probability, 1 - 0.025^(1/n): the bound of Clopper and Pearson
// (Biometrika 26, 1934), about 3.7/n.
func uniformShare(n float64) float64 {
	return 1 - portable.Exp(portable.Log(outside)/n)
}

// meanBounds returns how far below and above a mean its interval reaches, for
// the spread of it estimated from k batches. Their skewness makes Student's
// statistic skew; it is taken out by the cubic of Hall, as Willink
// (Communications in Statistics 34, 2005) inverts it. The skewness of a few
// batches says nothing, and is left in.
func meanBounds(s spread, k float64) (below, above float64) {
	a := s.skewness / (6 * math.Sqrt(k))
	if k < coarseBatches/2 {
		a = 0
	}
	t, unit := student95(s.freedom), math.Sqrt(s.variance)
	return float64(unskewed(t, a) * unit), -float64(unskewed(-t, a) * unit)
}

// unskewed returns the solution g of g + 2·a·g² + (4/3)·a²·g³ + a = t.
func unskewed(t, a float64) float64 {
	if math.Abs(a) < 1e-6 {
		return t
	}
	x := 1 + float64(6*a*(t-a))
	return (cubeRoot(x) - 1) / (2 * a)
}

// cubeRoot returns the real cube root of x.
func cubeRoot(x float64) float64 {
	if x == 0 {
		return 0
	}
	return math.Copysign(portable.Exp(portable.Log(math.Abs(x))/3), x)
}
