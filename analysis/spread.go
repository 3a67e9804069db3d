package analysis

import "math"

const (
	// stretchCells is the least number of stretches of a run that sums are kept of.
	stretchCells = 256
	// coarseBatches is the number of batches whose spread makes an interval: many
	// enough for Student's distribution to be near the normal one, few enough to
	// be long.
	coarseBatches = 32
	// fewestValues is the number of values below which nothing is said of how
	// neighbours depend on each other, nor therefore of any interval.
	fewestValues = 4 * coarseBatches
	// fewestEffective is the number of independent values that every interval takes.
	fewestEffective = 100
)

// FewestReplications is the number of runs below which how they differ says too
// little for an interval.
const FewestReplications = 5

// A quotient is a sum over a run divided by another, such as the share of values
// below a threshold, by stretches of the run in their order: their numerators
// and their denominators. Replications of a run are stretches of one sample.
type quotient struct{ over, under []float64 }

// spread is how precisely a ratio is known.
type spread struct {
	// variance of the ratio; degrees of freedom of its estimate; skewness of the
	// residuals of a batch.
	variance, freedom, skewness float64
}

// dependent estimates the spread of r from successive stretches of one run.
//
// The variance is that of the method of batch means for a ratio: of 32 batches,
// each contributes the square of what its numerator has beyond its share of the
// whole. Batches that are too short for it resemble their neighbours, and the
// variance is underestimated by a factor of nearly 1+2·r, r being the correlation
// of neighbours. That is small, and so not to be seen among 32 batches; but it
// halves where batches double (both follow from Var(mean of m) = σ²/m·(1-τ/m),
// see Alexopoulos and Goldsman, ACM TOMACS 14, 2004), so that 128 and 64 batches
// say it too, and with less noise: they are weighed by the inverse of their
// variances, which are 1/k for k batches.
func (r quotient) dependent() spread {
	var top, weights float64
	for k := coarseBatches; k <= 4*coarseBatches; k *= 2 {
		_, correlation, _ := moments(r.residuals(k))
		factor := float64(k) / coarseBatches
		weight := float64(float64(k) * factor * factor)
		top += float64(weight * correlation / factor)
		weights += weight
	}
	variance, _, skewness := moments(r.residuals(coarseBatches))
	inflation := 1 + float64(2*max(0, top/weights))
	return spread{variance: float64(variance * inflation), freedom: coarseBatches - 1, skewness: skewness}
}

// independent estimates the spread of r from stretches that are runs of their own.
func (r quotient) independent() spread {
	k := len(r.over)
	variance, _, skewness := moments(r.residuals(k))
	return spread{variance: variance, freedom: float64(k - 1), skewness: skewness}
}

// residuals joins the stretches to k batches and returns what the numerator of
// each has beyond its share of the whole, divided by the sum of all denominators.
func (r quotient) residuals(k int) []float64 {
	var over, under float64
	for i := range r.over {
		over += r.over[i]
		under += r.under[i]
	}
	out := make([]float64, k)
	for i := range r.over {
		own := r.over[i] - float64(over/under*r.under[i])
		out[i*k/len(r.over)] += own / under
	}
	return out
}

// moments returns the variance of the sum of residuals, which add up to 0, the
// correlation of neighbours among them, and their skewness.
func moments(residuals []float64) (variance, correlation, skewness float64) {
	k := float64(len(residuals))
	var squares, products, cubes, last float64
	for _, x := range residuals {
		squares += float64(x * x)
		products += float64(x * last)
		cubes += float64(x * x * x)
		last = x
	}
	if squares == 0 {
		return 0, 0, 0
	}
	deviation := math.Sqrt(squares / (k - 1))
	skewness = float64(k*cubes) / float64(float64((k-1)*(k-2))*deviation*deviation*deviation)
	return float64(squares*k) / (k - 1), products / squares, skewness
}
