package portable

import "math"

// ln 2 in two parts; the first has so few bits that its product with the
// exponent of a float64 is exact.
const (
	ln2Hi = 0x1.62e42feep-01          // 6.93147180369123816490e-01
	ln2Lo = 0x1.a39ef35793c76p-33     // 1.90821492927058770002e-10
	log2E = 1.44269504088896338700e00 // 1/ln 2
)

// Exp returns e to the power x, within one unit in the last place: 0 where that
// is too small for a float64, +Inf where it is too large.
//
// With x = k·ln 2 + r and |r| ≤ ln 2/2, it is 2^k·e^r, and
// e^r = 1 + r + r·c/(2-c) for c = r - r²·P(r²). Reduction and coefficients of P
// are those published in fdlibm's e_exp.c (Sun Microsystems, 1993 and 2004).
func Exp(x float64) float64 {
	const (
		p1 = 1.66666666666666657415e-01
		p2 = -2.77777777770155933842e-03
		p3 = 6.61375632143793436117e-05
		p4 = -1.65339022054652515390e-06
		p5 = 4.13813679705723846039e-08
	)
	switch {
	case math.IsNaN(x) || x > 709.782712893384: // the logarithm of the largest float64
		return x * math.Inf(1)
	case x < -745.2: // below half of the smallest float64
		return 0
	}
	k := math.RoundToEven(float64(x * log2E))
	hi, lo := x-float64(k*ln2Hi), float64(k*ln2Lo)
	r := hi - lo
	t := float64(r * r)
	p := p4 + float64(t*p5)
	p = p3 + float64(t*p)
	p = p2 + float64(t*p)
	p = p1 + float64(t*p)
	c := r - float64(t*p)
	return math.Ldexp(1-((lo-float64(r*c)/(2-c))-hi), int(k))
}

// Log returns the natural logarithm of x, within one unit in the last place:
// -Inf for 0, and not a number for what is below 0.
//
// With x = 2^k·(1+f) and √½ ≤ 1+f < √2, it is k·ln 2 + log(1+f), and for
// s = f/(2+f), log(1+f) = f - f²/2 + s·(f²/2 + R(s²)). Reduction and
// coefficients of R are those published in fdlibm's e_log.c (Sun Microsystems,
// 1993).
func Log(x float64) float64 {
	const (
		l1 = 6.666666666666735130e-01
		l2 = 3.999999999940941908e-01
		l3 = 2.857142874366239149e-01
		l4 = 2.222219843214978396e-01
		l5 = 1.818357216161805012e-01
		l6 = 1.531383769920937332e-01
		l7 = 1.479819860511658591e-01
	)
	switch {
	case math.IsNaN(x) || x < 0:
		return math.NaN()
	case x == 0:
		return math.Inf(-1)
	case math.IsInf(x, 1):
		return x
	}
	half, exponent := math.Frexp(x)
	if half < math.Sqrt2/2 {
		half, exponent = 2*half, exponent-1
	}
	f, k := half-1, float64(exponent)
	s := f / (2 + f)
	z := float64(s * s)
	w := float64(z * z)
	odd := l5 + float64(w*l7)
	odd = l3 + float64(w*odd)
	odd = l1 + float64(w*odd)
	even := l4 + float64(w*l6)
	even = l2 + float64(w*even)
	r := float64(z*odd) + float64(w*even)
	square := float64(0.5 * f * f)
	rest := square - (float64(s*(square+r)) + float64(k*ln2Lo))
	return float64(k*ln2Hi) - (rest - f)
}

// Erfc returns the complementary error function of x, 1 - erf(x), with a
// relative error below 1e-12 where it is above 1e-300. It takes some hundred
// operations: it is for checking distributions, not for drawing from them.
//
// Below 2 it sums erf(x) = 2/√π·e^(-x²)·(x + 2x³/3 + 4x⁵/15 + ...) (Abramowitz
// and Stegun, 7.1.6), whose terms are of one sign; above, it evaluates the
// continued fraction of 7.1.14, √π·e^(x²)·erfc(x) = 1/(x + ½/(x + 1/(x + ...))).
func Erfc(x float64) float64 {
	a := math.Abs(x)
	scale := float64(Exp(-float64(a*a)) / math.Sqrt(math.Pi))
	var upper float64 // erfc(a)
	if a < 2 {
		sum, term := a, a
		for n := 1; n < 100; n++ {
			term = float64(term*2*a*a) / float64(2*n+1)
			sum += term
		}
		upper = 1 - float64(2*scale*sum)
	} else {
		tail := a
		for n := 100; n > 0; n-- {
			tail = a + float64(n)/2/tail
		}
		upper = scale / tail
	}
	if x < 0 {
		return 2 - upper
	}
	return upper
}
