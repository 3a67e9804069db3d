package portable

import (
	"math"
	"math/big"
	"testing"

	"pgregory.net/rapid"
)

// precision is the number of bits that references are computed with.
const precision = 200

// exact returns x as a number of many bits.
func exact(x float64) *big.Float { return new(big.Float).SetPrec(precision).SetFloat64(x) }

// bigExp returns e^x: the series of x/2^n, which is below 2^-20, squared n times.
func bigExp(x *big.Float) *big.Float {
	n := max(0, x.MantExp(nil)+20)
	r := new(big.Float).SetPrec(precision).SetMantExp(x, -n)
	sum, term := exact(1), exact(1)
	for i := 1; i < 12; i++ {
		term.Mul(term, r)
		term.Quo(term, exact(float64(i)))
		sum.Add(sum, term)
	}
	for range n {
		sum.Mul(sum, sum)
	}
	return sum
}

// bigLog returns ln x by Newton's method for e^y = x, from a good float64; from a
// bad one it does not get there. (math.Log is bad for subnormal x on amd64.)
func bigLog(x *big.Float, guess float64) *big.Float {
	y := exact(guess)
	for range 3 { // 2·50 bits, 4·50
		e := bigExp(new(big.Float).SetPrec(precision).Neg(y))
		e.Mul(e, x)
		y.Add(y, e.Sub(e, exact(1)))
	}
	return y
}

// ulps returns how far got is from want, in units of got's last place.
func ulps(got float64, want *big.Float) float64 {
	diff := new(big.Float).SetPrec(precision).Sub(exact(got), want)
	ulp := math.Nextafter(math.Abs(got), math.Inf(1)) - math.Abs(got)
	f, _ := diff.Quo(diff, exact(ulp)).Float64()
	return math.Abs(f)
}

// TestReferenceByHand checks the references where digits are known: e and ln 10.
func TestReferenceByHand(t *testing.T) {
	if got := bigExp(exact(1)).Text('f', 50); got != "2.71828182845904523536028747135266249775724709369996" {
		t.Errorf("e is %s", got)
	}
	if got := bigLog(exact(10), 2.302585).Text('f', 30); got != "2.302585092994045684017991454684" {
		t.Errorf("ln 10 is %s", got)
	}
}

func TestExpIsWithinAnUlp(t *testing.T) {
	worst := 0.0
	rapid.Check(t, func(t *rapid.T) {
		x := rapid.OneOf(rapid.Float64Range(-708, 709.78), rapid.Float64Range(-1, 1), rapid.Float64Range(-1e-9, 1e-9)).Draw(t, "x")
		for i := range 50 { // rapid likes round numbers: take some that aren't, too
			x := x - float64(x*(float64(i)*0x1.3579bdp-40))
			off := ulps(Exp(x), bigExp(exact(x)))
			worst = max(worst, off)
			if off >= 1 {
				t.Errorf("Exp(%v) is %v ulp off", x, off)
			}
		}
	})
	t.Logf("at most %.2f ulp off", worst)
}

func TestLogIsWithinAnUlp(t *testing.T) {
	worst := 0.0
	rapid.Check(t, func(t *rapid.T) {
		x := rapid.OneOf(rapid.Float64Range(0x1p-1074, math.MaxFloat64), rapid.Float64Range(0.4, 2.5),
			rapid.Float64Range(1-1e-9, 1+1e-9), rapid.Float64Range(0x1p-53, 1)).Draw(t, "x")
		for i := range 50 {
			x := x - float64(x*(float64(i)*0x1.3579bdp-40))
			if x == 1 {
				continue // exactly 0; see TestSpecialValues
			}
			off := ulps(Log(x), bigLog(exact(x), Log(x)))
			worst = max(worst, off)
			if off >= 1 {
				t.Errorf("Log(%v) is %v ulp off", x, off)
			}
		}
	})
	t.Logf("at most %.2f ulp off", worst)
}

// TestErfc compares with the standard library, which errs by less than an ulp.
func TestErfc(t *testing.T) {
	for x := -7.0; x < 26; x += 1.0 / 128 {
		got, want := Erfc(x), math.Erfc(x)
		if math.Abs(got-want) > 1e-12*want {
			t.Errorf("Erfc(%v) = %v, want %v", x, got, want)
		}
	}
}

func TestSpecialValues(t *testing.T) {
	inf, nan := math.Inf(1), math.NaN()
	for _, c := range []struct {
		name      string
		f         func(float64) float64
		arg, want float64
	}{
		{"Exp", Exp, 0, 1}, {"Exp", Exp, math.Copysign(0, -1), 1}, {"Exp", Exp, inf, inf}, {"Exp", Exp, -inf, 0}, {"Exp", Exp, nan, nan},
		{"Exp", Exp, 710, inf}, {"Exp", Exp, -746, 0}, {"Exp", Exp, -745, 0x1p-1074}, {"Exp", Exp, -1e300, 0},
		{"Log", Log, 1, 0}, {"Log", Log, 0, -inf}, {"Log", Log, -1, nan}, {"Log", Log, inf, inf}, {"Log", Log, nan, nan},
		{"Log", Log, 0x1p-1074, -744.4400719213812}, {"Log", Log, math.MaxFloat64, 709.782712893384},
		{"Erfc", Erfc, 0, 1}, {"Erfc", Erfc, inf, 0}, {"Erfc", Erfc, -inf, 2}, {"Erfc", Erfc, nan, nan}, {"Erfc", Erfc, 40, 0},
	} {
		if got := c.f(c.arg); got != c.want && !(math.IsNaN(got) && math.IsNaN(c.want)) {
			t.Errorf("%s(%v) = %v, want %v", c.name, c.arg, got, c.want)
		}
	}
}

// TestPinnedBits holds results still, on every machine: what any of them gives,
// all must.
func TestPinnedBits(t *testing.T) {
	for _, c := range []struct {
		name string
		got  float64
		want uint64
	}{
		{"Exp(1)", Exp(1), 0x4005bf0a8b145769},
		{"Exp(-0.1)", Exp(-0.1), 0x3fecf46d99d52b3a},
		{"Exp(-30.7)", Exp(-30.7), 0x3d2a28d4059f9244},
		{"Exp(7.3)", Exp(7.3), 0x4097213320377b28},
		{"Exp(700)", Exp(700), 0x7f0d945df4f8ec8e},
		{"Log(10)", Log(10), 0x40026bb1bbb55516},
		{"Log(0.1)", Log(0.1), 0xc0026bb1bbb55515},
		{"Log(0.99)", Log(0.99), 0xbf8495453e6fd4bc},
		{"Log(1e-300)", Log(1e-300), 0xc085963447f87fb5},
		{"Log(131072.5)", Log(131072.5), 0x40279127aee9cd8e},
		{"Erfc(0.3)", Erfc(0.3), 0x3fe57be3bbf10af8},
		{"Erfc(-1.9)", Erfc(-1.9), 0x3fffe27837958e42},
		{"Erfc(5)", Erfc(5), 0x3d7b0c1a759f7739},
	} {
		if got := math.Float64bits(c.got); got != c.want {
			t.Errorf("%s is %#x (%v), pinned is %#x (%v)", c.name, got, c.got, c.want, math.Float64frombits(c.want))
		}
	}
}
