package exact

import (
	"math"
	"math/big"
	"math/bits"
	"strconv"

	"servesim/sim"
)

// Instant is a point of a file's own time: Sec seconds and Ps picoseconds, 0
// ≤ Ps < 10¹², since the file's origin, which is 1970 for wall clocks. It is
// wider than sim.Time, which cannot hold a date.
type Instant struct{ Sec, Ps int64 }

// second is the number of picoseconds in a second, psDigits its number of zeros.
const (
	second   = int64(sim.Second)
	psDigits = 12
)

// Before tells whether a is earlier than b.
func (a Instant) Before(b Instant) bool {
	return a.Sec < b.Sec || a.Sec == b.Sec && a.Ps < b.Ps
}

// Since returns the span from b to a, which is not earlier; ok is false if
// that is longer than a sim.Duration.
func (a Instant) Since(b Instant) (d sim.Duration, ok bool) {
	const most = math.MaxInt64 / second
	sec := a.Sec - b.Sec
	if sec < 0 || sec > most {
		return 0, false
	}
	whole, part := sec*second, a.Ps-b.Ps
	if part > 0 && whole > math.MaxInt64-part {
		return 0, false
	}
	return sim.Duration(whole + part), true
}

// Minus returns the instant d, 0 or more, before a. It may be before the origin.
func (a Instant) Minus(d sim.Duration) Instant {
	a.Sec -= int64(d) / second
	if a.Ps -= int64(d) % second; a.Ps < 0 {
		a.Sec, a.Ps = a.Sec-1, a.Ps+second
	}
	return a
}

// pow10 returns 10 to the n, 0 ≤ n ≤ 18.
func pow10(n int) int64 {
	p := int64(1)
	for ; n > 0; n-- {
		p *= 10
	}
	return p
}

// Unit is a unit of bare numbers that are times: 10^-exp seconds.
type Unit struct {
	name string
	exp  int
	per  int64 // units in a second
}

// Name returns what the unit is called: s, ms, us or ns.
func (u Unit) Name() string { return u.name }

// UnitOf returns the unit called name: s, ms, us or ns.
func UnitOf(name string) (u Unit, ok bool) {
	switch name {
	case "s":
		return Seconds(), true
	case "ms":
		return Milliseconds(), true
	case "us":
		return Unit{"us", 6, 1e6}, true
	case "ns":
		return Unit{"ns", 9, 1e9}, true
	}
	return Unit{}, false
}

// Seconds returns the unit s.
func Seconds() Unit { return Unit{"s", 0, 1} }

// Milliseconds returns the unit ms.
func Milliseconds() Unit { return Unit{"ms", 3, 1e3} }

// maxUnits is the number that a bare time must be below.
const maxUnits = 9e18

// Parse reads b, a decimal number of u from 0 to maxUnits, rounded to the
// nearest picosecond, half to even. ok is false if b is not such a number.
func (u Unit) Parse(b []byte) (at Instant, ok bool) {
	var whole, frac int64
	i, keep := 0, psDigits-u.exp
	for ; i < len(b) && b[i]-'0' <= 9; i++ {
		whole = whole*10 + int64(b[i]-'0')
	}
	wholeDigits, digits := i, 0
	var rest []byte // the digits below a picosecond
	if i > 0 && i < len(b) && b[i] == '.' {
		from := i + 1
		for i++; i < len(b) && b[i]-'0' <= 9; i++ {
			if digits < keep {
				frac = frac*10 + int64(b[i]-'0')
				digits++
			}
		}
		if i == from {
			return Instant{}, false
		}
		rest = b[from+digits : i]
	}
	if i != len(b) || i == 0 || wholeDigits > 19 || wholeDigits == 19 && b[0] == '9' {
		return u.parseSlow(b)
	}
	unitPs := second / u.per
	at.Sec = whole / u.per
	at.Ps = whole%u.per*unitPs + frac*(unitPs/pow10(digits))
	if up(rest, at.Ps%2 == 1) {
		at.Ps++
	}
	if at.Ps == second {
		at = Instant{at.Sec + 1, 0}
	}
	return at, true
}

// up tells whether a number with the digits of rest behind it is rounded up: where
// rest is a half, if the number is odd.
func up(rest []byte, odd bool) bool {
	if len(rest) == 0 || rest[0] != '5' {
		return len(rest) > 0 && rest[0] > '5'
	}
	for _, c := range rest[1:] {
		if c != '0' {
			return true
		}
	}
	return odd
}

// parseSlow reads what Parse does, with exponents and any number of digits.
func (u Unit) parseSlow(b []byte) (at Instant, ok bool) {
	if !isDecimal(b) {
		return Instant{}, false
	}
	v, ok := new(big.Rat).SetString(string(b))
	if !ok || v.Sign() < 0 || v.Cmp(new(big.Rat).SetInt64(maxUnits)) >= 0 {
		return Instant{}, false
	}
	v.Mul(v, new(big.Rat).SetFrac64(second, u.per))
	ps := Round(v)
	sec, rest := new(big.Int).QuoRem(ps, big.NewInt(second), new(big.Int))
	return Instant{sec.Int64(), rest.Int64()}, true
}

// Round returns v, 0 or more, rounded to the nearest integer, half to even.
func Round(v *big.Rat) *big.Int {
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

// FromDuration returns the instant d, 0 or more, after the origin.
func FromDuration(d sim.Duration) Instant {
	return Instant{int64(d) / second, int64(d) % second}
}

// Append appends a as a decimal number of seconds, exactly.
func (a Instant) Append(b []byte) []byte {
	b = strconv.AppendInt(b, a.Sec, 10)
	part := a.Ps
	if part == 0 {
		return b
	}
	b = append(b, '.')
	for unit := second / 10; part > 0; unit /= 10 {
		b = append(b, '0'+byte(part/unit))
		part %= unit
	}
	return b
}

// In returns a, read as a number of seconds, as if it had been one of u: 1.5 s in
// ms is 0.0015 s, rounded to the nearest picosecond.
func (a Instant) In(u Unit) Instant {
	per := uint64(u.per)
	hi, lo := bits.Mul64(uint64(a.Sec)%per, uint64(second))
	lo, carry := bits.Add64(lo, uint64(a.Ps)+per/2, 0)
	ps, _ := bits.Div64(hi+carry, lo, per)
	at := Instant{a.Sec / u.per, int64(ps)}
	if at.Ps == second {
		at = Instant{at.Sec + 1, 0}
	}
	return at
}
