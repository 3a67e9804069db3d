package workload

import (
	"math"
	"math/rand/v2"
)

// MaxTokens is the longest prompt or output that can be drawn, and the default
// of a length's max: 2^30 tokens.
const MaxTokens = 1 << 30

// Length is a distribution of a number of tokens, given that it lies in
// [min, max]: a draw outside is made again, never clamped. The zero value is
// not usable; Lengths come from LengthSpec.Length. A Length holds no randomness
// and may be shared.
type Length struct {
	tokens tokens
	lo, hi int64
}

// Draw returns a number of tokens, taking all randomness from src. prompt is
// the number of prompt tokens of the request, on which an output's length may
// depend; it is 0 when a prompt itself is drawn. Draw allocates nothing.
func (l Length) Draw(src *rand.PCG, prompt int32) int32 {
	for {
		if n := l.tokens.draw(src, prompt); n >= l.lo && n <= l.hi {
			return int32(n)
		}
	}
}

// tokens is a distribution of whole numbers of any size.
type tokens interface {
	draw(src *rand.PCG, prompt int32) int64
	// inside returns P(lo <= N <= hi) and E[N; lo <= N <= hi] for the least
	// favourable prompt.
	inside(lo, hi int64) (p, m float64)
}

// mean returns the mean number of tokens; where a continuous law is rounded,
// the mean is that of the continuous law.
func (l Length) mean() float64 {
	p, m := l.tokens.inside(l.lo, l.hi)
	return m / p
}

// constantTokens is the one number it holds.
type constantTokens int64

func (c constantTokens) draw(*rand.PCG, int32) int64 { return int64(c) }

func (c constantTokens) inside(lo, hi int64) (p, m float64) {
	if int64(c) < lo || int64(c) > hi {
		return 0, 0
	}
	return 1, float64(c)
}

// roundedTokens is floor(X + shift) for X of law: shift 0 rounds down, 0.5 to
// the nearest.
type roundedTokens struct {
	law   law
	shift float64
}

func (r roundedTokens) draw(src *rand.PCG, _ int32) int64 {
	// The bound keeps the conversion defined; a length beyond MaxTokens is
	// drawn again in any case.
	return int64(math.Floor(min(r.law.draw(src)+r.shift, 2*MaxTokens)))
}

func (r roundedTokens) inside(lo, hi int64) (p, m float64) {
	p1, m1 := r.law.below(math.Nextafter(float64(hi)+1-r.shift, 0))
	p0, m0 := r.law.below(math.Nextafter(float64(lo)-r.shift, math.Inf(-1)))
	return p1 - p0, m1 - m0
}

// knotTokens draws by the inverse of a distribution function that is known at
// knots and linear in between, rounded up. So at every whole number the
// distribution function of the draws is the interpolated one, and each knot is
// the nearest-rank quantile of the draws.
type knotTokens struct{ knots }

func (k knotTokens) draw(src *rand.PCG, _ int32) int64 {
	return int64(math.Ceil(k.quantile(unit(src))))
}

func (k knotTokens) inside(lo, hi int64) (p, m float64) {
	for i := range len(k.at) - 1 {
		a, b, w := int64(k.value[i]), int64(k.value[i+1]), k.at[i+1]-k.at[i]
		first, size := a+1, b-a
		if a == b {
			first, size = b, 1
		}
		from, to := max(first, lo), min(b, hi)
		if from > to {
			continue
		}
		part := w * float64(to-from+1) / float64(size)
		p, m = p+part, m+float64(part*float64(from+to)/2)
	}
	return p, m
}

// mixTokens draws from part i with probability upTo[i]-upTo[i-1].
type mixTokens struct {
	upTo  []float64
	parts []Length
}

func (x mixTokens) draw(src *rand.PCG, prompt int32) int64 {
	return int64(x.parts[pick(x.upTo, unit(src))].Draw(src, prompt))
}

func (x mixTokens) inside(lo, hi int64) (p, m float64) {
	var last float64
	for i, part := range x.parts {
		w := x.upTo[i] - last
		all, _ := part.tokens.inside(part.lo, part.hi)
		pi, mi := part.tokens.inside(max(lo, part.lo), min(hi, part.hi))
		p, m, last = p+float64(w*pi/all), m+float64(w*mi/all), x.upTo[i]
	}
	return p, m
}

// promptTokens draws from the first bin whose bound is at least the prompt's
// length, or from the last bin if none is.
type promptTokens struct {
	upTo []int32
	bins []knotTokens
}

func (t promptTokens) draw(src *rand.PCG, prompt int32) int64 {
	lo, hi := 0, len(t.bins)-1
	for lo < hi {
		if mid := int(uint(lo+hi) >> 1); t.upTo[mid] >= prompt {
			hi = mid
		} else {
			lo = mid + 1
		}
	}
	return t.bins[lo].draw(src, prompt)
}

func (t promptTokens) inside(lo, hi int64) (p, m float64) {
	p = math.Inf(1)
	for _, bin := range t.bins {
		if pi, mi := bin.inside(lo, hi); pi < p {
			p, m = pi, mi
		}
	}
	return p, m
}
