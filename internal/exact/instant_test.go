package exact

import (
	"math/big"
	"testing"

	"pgregory.net/rapid"

	"servesim/sim"
)

// A decimal number of any unit is the picosecond nearest to it, which big.Rat
// finds by another way.
func TestTimesAreExact(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		text := rapid.StringMatching(`[0-9]{1,20}(\.[0-9]{1,20}|\.[0-9]{9,12}50{0,8})?([eE][+-]?[0-9])?`).Draw(t, "text")
		unit, _ := UnitOf(rapid.SampledFrom([]string{"s", "ms", "us", "ns"}).Draw(t, "unit"))
		exact, ok := new(big.Rat).SetString(text)
		if !ok {
			t.Fatalf("%q is no number", text)
		}
		got, ok := unit.Parse([]byte(text))
		if fits := exact.Cmp(big.NewRat(9e18, 1)) < 0; ok != fits {
			t.Fatalf("%q: %v %v", text, got, ok)
		}
		if !ok {
			return
		}
		exact.Mul(exact, big.NewRat(1e12, unit.per))
		ps := new(big.Int).Mul(big.NewInt(got.Sec), big.NewInt(1e12))
		ps.Add(ps, big.NewInt(got.Ps))
		off := new(big.Rat).Sub(exact, new(big.Rat).SetInt(ps))
		if got.Ps < 0 || got.Ps >= 1e12 || off.Abs(off).Cmp(big.NewRat(1, 2)) > 0 {
			t.Errorf("%q %s is read as %v, off by %v ps", text, unit.name, got, off)
		}
	})
}

func TestTimesByHand(t *testing.T) {
	for _, c := range []struct {
		text, unit string
		want       Instant
	}{
		{"0", "s", Instant{}},
		{"-0.0", "s", Instant{}},
		{"3501.721937", "s", Instant{3501, 721937_000000}},
		{"27482", "ms", Instant{27, 482_000_000_000}},
		{"1700000000123456789", "ns", Instant{1700000000, 123456789_000}},
		{"0.0000000000005", "s", Instant{0, 0}}, // half of a picosecond goes to the even one
		{"0.0000000000015", "s", Instant{0, 2}},
		{"0.9999999999995", "s", Instant{1, 0}},
		{"0.30000000000000004", "s", Instant{0, 300_000_000_000}}, // as Python prints 0.1+0.2
		{"8999999999999999999", "s", Instant{8999999999999999999, 0}},
		{"1e-05", "s", Instant{0, 10_000_000}},
	} {
		unit, _ := UnitOf(c.unit)
		if got, ok := unit.Parse([]byte(c.text)); !ok || got != c.want {
			t.Errorf("%s %s: %v %v, want %v", c.text, c.unit, got, ok, c.want)
		}
	}
	for _, text := range []string{"", "-", ".", "1.", ".5", "+1", "-1", "1e", "1e400", "0x1", "1_0", "1/2", "NaN", "inf", "1 ", "9000000000000000000"} {
		if got, ok := Seconds().Parse([]byte(text)); ok {
			t.Errorf("%q is read as %v", text, got)
		}
	}
}

func TestInstantsSubtractWithoutOverflow(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		draw := func(name string) Instant {
			return Instant{rapid.Int64Range(0, 20_000_000).Draw(t, name), rapid.Int64Range(0, 1e12-1).Draw(t, name)}
		}
		a, b := draw("a"), draw("b")
		ps := func(i Instant) *big.Int {
			v := new(big.Int).Mul(big.NewInt(i.Sec), big.NewInt(1e12))
			return v.Add(v, big.NewInt(i.Ps))
		}
		want := ps(a)
		want.Sub(want, ps(b))
		if a.Before(b) != (want.Sign() < 0) {
			t.Errorf("%v before %v: %v", a, b, a.Before(b))
		}
		if want.Sign() < 0 {
			t.Skip()
		}
		d, ok := a.Since(b)
		if ok != want.IsInt64() || ok && sim.Duration(want.Int64()) != d {
			t.Errorf("%v since %v: %v %v, want %v", a, b, d, ok, want)
		}
	})
}
