package workload

import (
	"math"
	"math/big"

	"servesim/sim"
)

// instant is a point of a trace's own time: sec seconds and ps picoseconds, 0
// ≤ ps < 10¹², since the trace's origin, which is 1970 for wall clocks. It is
// wider than sim.Time, which cannot hold a date.
type instant struct{ sec, ps int64 }

const (
	stampSecond = int64(sim.Second)
	psDigits    = 12
)

// before tells whether a is earlier than b.
func (a instant) before(b instant) bool {
	return a.sec < b.sec || a.sec == b.sec && a.ps < b.ps
}

// since returns the span from b to a, which is not earlier; ok is false if
// that is longer than a sim.Duration.
func (a instant) since(b instant) (d sim.Duration, ok bool) {
	const most = math.MaxInt64 / stampSecond
	sec := a.sec - b.sec
	if sec < 0 || sec > most {
		return 0, false
	}
	whole, part := sec*stampSecond, a.ps-b.ps
	if part > 0 && whole > math.MaxInt64-part {
		return 0, false
	}
	return sim.Duration(whole + part), true
}

// pow10 returns 10 to the n, 0 ≤ n ≤ 18.
func pow10(n int) int64 {
	p := int64(1)
	for ; n > 0; n-- {
		p *= 10
	}
	return p
}

// timeUnit is a unit of the bare numbers of a trace: 10^-exp seconds.
type timeUnit struct {
	name string
	exp  int
	per  int64 // units in a second
}

// unitOf returns the unit called name: s, ms, us or ns.
func unitOf(name string) (u timeUnit, ok bool) {
	switch name {
	case "s":
		return seconds(), true
	case "ms":
		return milliseconds(), true
	case "us":
		return timeUnit{"us", 6, 1e6}, true
	case "ns":
		return timeUnit{"ns", 9, 1e9}, true
	}
	return timeUnit{}, false
}

// seconds returns the unit s.
func seconds() timeUnit { return timeUnit{"s", 0, 1} }

// milliseconds returns the unit ms.
func milliseconds() timeUnit { return timeUnit{"ms", 3, 1e3} }

// maxUnits is the number that a bare time must be below.
const maxUnits = 9e18

// parse reads b, a decimal number of u from 0 to maxUnits, rounded to the
// nearest picosecond, half to even. ok is false if b is not such a number.
func (u timeUnit) parse(b []byte) (at instant, ok bool) {
	var whole, frac int64
	i := 0
	for ; i < len(b) && b[i]-'0' <= 9; i++ {
		whole = whole*10 + int64(b[i]-'0')
	}
	wholeDigits, digits := i, 0
	if i > 0 && i < len(b) && b[i] == '.' {
		for i++; i < len(b) && b[i]-'0' <= 9; i++ {
			frac = frac*10 + int64(b[i]-'0')
			digits++
		}
		if digits == 0 {
			return instant{}, false
		}
	}
	if i != len(b) || i == 0 || wholeDigits > 19 || wholeDigits == 19 && b[0] == '9' || digits > psDigits-u.exp {
		return u.parseSlow(b)
	}
	unitPs := stampSecond / u.per
	at.sec = whole / u.per
	at.ps = whole%u.per*unitPs + frac*(unitPs/pow10(digits))
	return at, true
}

// parseSlow reads what parse does, with exponents and any number of digits.
func (u timeUnit) parseSlow(b []byte) (at instant, ok bool) {
	if !isDecimal(b) {
		return instant{}, false
	}
	v, ok := new(big.Rat).SetString(string(b))
	if !ok || v.Sign() < 0 || v.Cmp(new(big.Rat).SetInt64(maxUnits)) >= 0 {
		return instant{}, false
	}
	v.Mul(v, new(big.Rat).SetFrac64(stampSecond, u.per))
	ps := roundRat(v)
	sec, rest := new(big.Int).QuoRem(ps, big.NewInt(stampSecond), new(big.Int))
	return instant{sec.Int64(), rest.Int64()}, true
}

// roundRat returns v, 0 or more, rounded to the nearest integer, half to even.
func roundRat(v *big.Rat) *big.Int {
	q, r := new(big.Int).QuoRem(v.Num(), v.Denom(), new(big.Int))
	switch r.Lsh(r, 1).Cmp(v.Denom()) {
	case 1:
		q.Add(q, big.NewInt(1))
	case 0:
		q.Add(q, big.NewInt(int64(q.Bit(0))))
	}
	return q
}

// isDecimal tells whether b is a decimal number of reasonable size: digits,
// perhaps with a sign, a point and an exponent of at most two digits.
func isDecimal(b []byte) bool {
	if len(b) > 64 {
		return false
	}
	i := 0
	if i < len(b) && b[i] == '-' {
		i++
	}
	run := func() int {
		from := i
		for i < len(b) && b[i]-'0' <= 9 {
			i++
		}
		return i - from
	}
	if run() == 0 {
		return false
	}
	if i < len(b) && b[i] == '.' {
		i++
		if run() == 0 {
			return false
		}
	}
	if i < len(b) && (b[i] == 'e' || b[i] == 'E') {
		i++
		if i < len(b) && (b[i] == '+' || b[i] == '-') {
			i++
		}
		if n := run(); n == 0 || n > 2 {
			return false
		}
	}
	return i == len(b)
}

// parseCount reads b as a whole number, 0 or more, that fits an int32. It
// takes digits only.
func parseCount(b []byte) (n int32, ok bool) {
	if len(b) == 0 || len(b) > 10 {
		return 0, false
	}
	var v int64
	for _, c := range b {
		if c-'0' > 9 {
			return 0, false
		}
		v = v*10 + int64(c-'0')
	}
	return int32(v), v <= math.MaxInt32
}
