package workload

import (
	"math"
	"math/rand/v2"

	"gonum.org/v1/gonum/stat/distuv"

	"servesim/internal/portable"
)

// A law is a continuous distribution of one real number: tokens for a Length,
// picoseconds for a Delay. It holds no randomness of its own. Its own arithmetic
// is that of package portable, so that a seed draws the same on every machine, as
// far as distuv does: there only rare values, far in a tail or of a gamma of
// shape below 1, pass through functions whose last bit depends on the processor.
type law interface {
	// draw takes one value from src. It allocates nothing.
	draw(src *rand.PCG) float64
	// below returns P(X <= x) and E[X; X <= x], the part of the mean that
	// values up to x contribute.
	below(x float64) (p, m float64)
}

// unit returns the next draw of src that is uniform on [0, 1), a multiple of
// 2^-53.
func unit(src *rand.PCG) float64 { return float64(src.Uint64()>>11) * 0x1p-53 }

// standardNormal draws from the normal distribution of mean 0 and standard
// deviation 1, so that no product of distuv's is fused with a sum.
func standardNormal(src *rand.PCG) float64 {
	return distuv.Normal{Mu: 0, Sigma: 1, Src: src}.Rand()
}

// normalLaw is the normal distribution.
type normalLaw struct{ mean, stddev float64 }

func (l normalLaw) draw(src *rand.PCG) float64 {
	return float64(standardNormal(src)*l.stddev) + l.mean
}

func (l normalLaw) below(x float64) (p, m float64) {
	if l.stddev == 0 {
		return atom(l.mean, x)
	}
	z := (x - l.mean) / l.stddev
	p = phi(z)
	return p, float64(l.mean*p) - float64(l.stddev*density(z))
}

// lognormalLaw is the distribution of exp(Z) for Z normal with mean mu and
// standard deviation sigma.
type lognormalLaw struct{ mu, sigma float64 }

func (l lognormalLaw) draw(src *rand.PCG) float64 {
	return portable.Exp(float64(standardNormal(src)*l.sigma) + l.mu)
}

func (l lognormalLaw) below(x float64) (p, m float64) {
	if x <= 0 {
		return 0, 0
	}
	z := (portable.Log(x) - l.mu) / l.sigma
	return phi(z), portable.Exp(l.mu+float64(l.sigma*l.sigma/2)) * phi(z-l.sigma)
}

// exponentialLaw is the exponential distribution.
type exponentialLaw struct{ mean float64 }

func (l exponentialLaw) draw(src *rand.PCG) float64 {
	return float64(distuv.Exponential{Rate: 1, Src: src}.Rand() * l.mean)
}

func (l exponentialLaw) below(x float64) (p, m float64) {
	if x <= 0 {
		return 0, 0
	}
	tail := portable.Exp(-x / l.mean)
	return 1 - tail, l.mean - float64((x+l.mean)*tail)
}

// constantLaw is the one value it holds.
type constantLaw float64

func (l constantLaw) draw(*rand.PCG) float64 { return float64(l) }

func (l constantLaw) below(x float64) (p, m float64) { return atom(float64(l), x) }

// knotLaw has value[i] as its quantile at[i], and is linear in between.
type knotLaw struct{ knots }

func (l knotLaw) draw(src *rand.PCG) float64 { return l.quantile(unit(src)) }

func (l knotLaw) below(x float64) (p, m float64) {
	for i := range len(l.at) - 1 {
		a, b, w := l.value[i], l.value[i+1], l.at[i+1]-l.at[i]
		switch {
		case b <= x:
			p, m = p+w, m+float64(w*(a+b)/2)
		case a < x:
			part := float64(w * (x - a) / (b - a))
			p, m = p+part, m+float64(part*(a+x)/2)
		}
	}
	return p, m
}

// mixLaw draws part i with probability upTo[i]-upTo[i-1].
type mixLaw struct {
	upTo  []float64 // cumulative weights, the last one 1
	parts []law
}

func (l mixLaw) draw(src *rand.PCG) float64 { return l.parts[pick(l.upTo, unit(src))].draw(src) }

func (l mixLaw) below(x float64) (p, m float64) {
	var last float64
	for i, part := range l.parts {
		w := l.upTo[i] - last
		pi, mi := part.below(x)
		p, m, last = p+float64(w*pi), m+float64(w*mi), l.upTo[i]
	}
	return p, m
}

// boundedLaw is l given that the value lies in [lo, hi]: values outside are
// drawn again.
type boundedLaw struct {
	law    law
	lo, hi float64
}

func (l boundedLaw) draw(src *rand.PCG) float64 {
	for {
		if x := l.law.draw(src); x >= l.lo && x <= l.hi {
			return x
		}
	}
}

// inside returns the probability that the unbounded law lies in the bounds,
// and E[X] over that part.
func (l boundedLaw) inside() (p, m float64) {
	p1, m1 := l.law.below(l.hi)
	p0, m0 := l.law.below(math.Nextafter(l.lo, math.Inf(-1)))
	return p1 - p0, m1 - m0
}

func (l boundedLaw) below(x float64) (p, m float64) {
	if x < l.lo {
		return 0, 0
	}
	all, _ := l.inside()
	p, m = boundedLaw{l.law, l.lo, min(x, l.hi)}.inside()
	return p / all, m / all
}

// atom is below for a distribution that is always v.
func atom(v, x float64) (p, m float64) {
	if v <= x {
		return 1, v
	}
	return 0, 0
}

// phi is the distribution function of the standard normal.
func phi(z float64) float64 { return 0.5 * portable.Erfc(-z/math.Sqrt2) }

// density is the density of the standard normal.
func density(z float64) float64 {
	return portable.Exp(-float64(z*z)/2) / math.Sqrt(2*math.Pi)
}

// pick returns the first index whose cumulative weight exceeds u. The last
// weight is 1 and u is less.
func pick(upTo []float64, u float64) int {
	for i, w := range upTo {
		if u < w {
			return i
		}
	}
	return len(upTo) - 1
}

// cumulate returns the running sums of weights divided by their total; the
// last is exactly 1.
func cumulate(weights []float64) []float64 {
	var total float64
	for _, w := range weights {
		total += w
	}
	upTo, sum := make([]float64, len(weights)), 0.0
	for i, w := range weights {
		sum += w
		upTo[i] = sum / total
	}
	upTo[len(upTo)-1] = 1
	return upTo
}

// knots are points of a quantile function: value[i] at probability at[i]. The
// probabilities rise from 0 to 1, and the values do not fall.
type knots struct{ at, value []float64 }

// percentKnots makes knots of probabilities in percent.
func percentKnots[N int64 | float64](percent []float64, value []N) knots {
	k := knots{at: make([]float64, len(percent)), value: make([]float64, len(value))}
	for i := range percent {
		k.at[i], k.value[i] = percent[i]/100, float64(value[i])
	}
	return k
}

// quantile returns the quantile of u in [0, 1), by linear interpolation
// between the two knots around it.
func (k knots) quantile(u float64) float64 {
	lo, hi := 0, len(k.at)-1
	for hi-lo > 1 {
		if mid := int(uint(lo+hi) >> 1); k.at[mid] <= u {
			lo = mid
		} else {
			hi = mid
		}
	}
	a, b := k.value[lo], k.value[hi]
	part := (u - k.at[lo]) / (k.at[hi] - k.at[lo])
	return min(a+float64((b-a)*part), b)
}
