package tail

import (
	"math"

	"servesim/analysis"
	"servesim/internal/portable"
	"servesim/sim"
)

// slack is what rounding may take from a share of 1.
const slack = 1e-12

// Quantile returns percentile at of the gaps. Of a population of counts that has
// no spread it is that of the list of its gaps, by linear interpolation between the
// two nearest; of any other the smallest gap up to which at least that share lies.
func (p *Population) Quantile(at analysis.Percentile) sim.Duration {
	if p.Total > 0 && p.fixed() {
		lo, parts := analysis.Linear.Rank(at, p.Total)
		a, b := p.nth(lo), p.nth(min(lo+1, p.Total-1))
		return a + sim.Duration(math.Floor(float64(float64(b-a)*float64(parts)/1e9)+0.5))
	}
	share := at.Fraction()
	return least(func(d sim.Duration) bool { return p.UpTo(d) >= share-slack })
}

// nth returns gap i, counted from 0, of the sorted list.
func (p *Population) nth(i int64) sim.Duration {
	for k := range p.Parts {
		if i -= p.Parts[k].Count; i < 0 {
			return p.Parts[k].Median
		}
	}
	return p.Parts[len(p.Parts)-1].Median
}

// WorstOf returns percentile at of the longest of n gaps: the smallest gap that
// all n keep to with that probability, which is UpTo to the power n.
func (p *Population) WorstOf(n int64, at analysis.Percentile) sim.Duration {
	share := at.Fraction()
	return least(func(d sim.Duration) bool { return power(p.UpTo(d), n) >= share-slack })
}

// MeanWorstOf returns the mean of the longest of n gaps in ps. ok is false unless
// the population is of single gaps, without spread.
func (p *Population) MeanWorstOf(n int64) (mean float64, ok bool) {
	if !p.fixed() {
		return 0, false
	}
	before, share := 0.0, 0.0
	for i := range p.Parts {
		share += p.Parts[i].Share
		up := power(min(1, share), n)
		mean += float64((up - before) * float64(p.Parts[i].Median))
		before = up
	}
	return mean, true
}

// Spiked returns the probability that at least one of n gaps is of the slowest part.
func (p *Population) Spiked(n int64) float64 {
	return 1 - power(1-p.Parts[len(p.Parts)-1].Share, n)
}

// power returns x to the power n ≥ 0, by squaring.
func power(x float64, n int64) float64 {
	y := 1.0
	for ; n > 0; n >>= 1 {
		if n&1 == 1 {
			y = float64(y * x)
		}
		x = float64(x * x)
	}
	return y
}

// A twoValued is the means of n gaps of which each is one of two: how many are
// the longer is binomial.
type twoValued struct {
	n           int64
	short, long sim.Duration
	upTo        []float64 // the probability of at most k long ones
}

// means returns the means of n gaps of p; ok is false unless p has two gaps, or one.
func (p *Population) means(n int64) (m *twoValued, ok bool) {
	if len(p.Parts) > 2 || !p.fixed() {
		return nil, false
	}
	last := p.Parts[len(p.Parts)-1]
	m = &twoValued{n: n, short: p.Parts[0].Median, long: last.Median}
	if len(p.Parts) == 1 {
		m.upTo = []float64{1}
		return m, true
	}
	m.upTo = binomial(n, last.Share)
	return m, true
}

// binomial returns the probability of at most k successes of n, for each k from 0
// to n. Terms are taken relative to the largest and then divided by their sum, so
// that none vanishes that matters.
func binomial(n int64, share float64) []float64 {
	terms := make([]float64, n+1)
	mode := min(n, int64(float64(float64(n+1)*share)))
	odds := share / (1 - share)
	terms[mode] = 1
	for k := mode + 1; k <= n; k++ {
		terms[k] = float64(terms[k-1] * float64(n-k+1) / float64(k) * odds)
	}
	for k := mode - 1; k >= 0; k-- {
		terms[k] = float64(terms[k+1] * float64(k+1) / float64(n-k) / odds)
	}
	var sum float64
	for _, t := range terms {
		sum += t
	}
	var before float64
	for k, t := range terms {
		before += t / sum
		terms[k] = min(math.Nextafter(1, 0), before) // only all n is certain
	}
	terms[n] = 1
	return terms
}

// total returns the sum of the gaps with k long ones.
func (m *twoValued) total(k int64) int64 {
	return (m.n-k)*int64(m.short) + k*int64(m.long)
}

// quantile returns percentile at of the mean gap: the smallest up to which at
// least that share lies, rounded to the nearest ps.
func (m *twoValued) quantile(at analysis.Percentile) sim.Duration {
	for k, share := range m.upTo {
		if share >= at.Fraction()-slack {
			return sim.Duration((m.total(int64(k)) + m.n/2) / m.n)
		}
	}
	return m.long
}

// within returns the share of means of at most limit.
func (m *twoValued) within(limit sim.Duration) float64 {
	share := 0.0
	for k, upTo := range m.upTo {
		if m.total(int64(k)) > int64(limit)*m.n {
			break
		}
		share = upTo
	}
	return share
}

// deviation returns the standard deviation of a gap in ps.
func (p *Population) deviation() float64 {
	var squares float64
	for i := range p.Parts {
		q := &p.Parts[i]
		m := float64(q.Median)
		squares += float64(float64(q.Share*m) * float64(m*portable.Exp(float64(2*q.Sigma*q.Sigma))))
	}
	mean := p.Mean()
	return math.Sqrt(max(0, squares-float64(mean*mean)))
}
