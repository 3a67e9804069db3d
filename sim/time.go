package sim

import (
	"fmt"
	"math"
	"strconv"
	"strings"
)

// Time is an instant of simulated time: picoseconds since the run began. Its
// range is 106 days.
type Time int64

// Duration is a span between two instants, in picoseconds.
type Duration int64

// The units of Duration.
const (
	Picosecond  Duration = 1
	Nanosecond           = 1000 * Picosecond
	Microsecond          = 1000 * Nanosecond
	Millisecond          = 1000 * Microsecond
	Second               = 1000 * Millisecond
	Minute               = 60 * Second
	Hour                 = 60 * Minute
)

// MaxTime is the last instant that can be represented.
const MaxTime = Time(math.MaxInt64)

// MaxDuration is the longest span that can be represented.
const MaxDuration = Duration(math.MaxInt64)

// Add returns the instant d after t.
func (t Time) Add(d Duration) Time { return t + Time(d) }

// Sub returns the span from u to t.
func (t Time) Sub(u Time) Duration { return Duration(t - u) }

// Seconds returns t as seconds since the run began.
func (t Time) Seconds() float64 { return Duration(t).Seconds() }

// String prints t as the span since the run began, as Duration.String does.
func (t Time) String() string { return Duration(t).String() }

// Seconds returns d in seconds.
func (d Duration) Seconds() float64 { return float64(d) / float64(Second) }

// Milliseconds returns d in milliseconds.
func (d Duration) Milliseconds() float64 { return float64(d) / float64(Millisecond) }

// durationUnit is a unit that ParseDuration reads and String writes.
type durationUnit struct {
	name string
	size Duration
}

// durationUnits returns the units, largest first.
func durationUnits() [7]durationUnit {
	return [7]durationUnit{
		{"h", Hour}, {"m", Minute}, {"s", Second}, {"ms", Millisecond},
		{"us", Microsecond}, {"ns", Nanosecond}, {"ps", Picosecond},
	}
}

// String prints d exactly, as a decimal number of the largest unit of s, ms,
// us, ns and ps that is not larger than d: 1.5s, 250us, 0s. ParseDuration
// reads it back to the same value.
func (d Duration) String() string {
	if d == 0 {
		return "0s"
	}
	sign, u := "", uint64(d)
	if d < 0 {
		sign, u = "-", -u
	}
	for _, unit := range durationUnits() {
		if unit.size > Second || u < uint64(unit.size) {
			continue
		}
		whole, part := u/uint64(unit.size), u%uint64(unit.size)
		if part == 0 {
			return sign + strconv.FormatUint(whole, 10) + unit.name
		}
		digits := len(strconv.FormatUint(uint64(unit.size), 10)) - 1
		frac := strings.TrimRight(fmt.Sprintf("%0*d", digits, part), "0")
		return sign + strconv.FormatUint(whole, 10) + "." + frac + unit.name
	}
	return sign + strconv.FormatUint(u, 10) + "ps"
}

// ParseDuration reads one or more decimal numbers, each with a unit of h, m,
// s, ms, us, ns or ps: "250ms", "1h30m", "-1.5s". "0" needs no unit. Digits
// below a picosecond are an error, as is a value outside the range of Duration.
func ParseDuration(s string) (Duration, error) {
	rest, most := s, uint64(math.MaxInt64)
	if strings.HasPrefix(rest, "-") {
		rest, most = rest[1:], 1<<63
	}
	if rest == "0" {
		return 0, nil
	}
	if rest == "" {
		return 0, fmt.Errorf("%q is not a duration; write a number and a unit, such as 250ms or 1.5s", s)
	}
	var total uint64 // picoseconds, without the sign
	for rest != "" {
		d, tail, err := leadingDuration(rest)
		if err != nil {
			return 0, fmt.Errorf("%q is not a duration: %w", s, err)
		}
		if d > most-total {
			return 0, fmt.Errorf("%q is longer than the 106 days that a run can last", s)
		}
		total, rest = total+d, tail
	}
	if most > math.MaxInt64 {
		return -Duration(total), nil
	}
	return Duration(total), nil
}

// leadingDuration reads the first number and unit of s, at most 1<<63
// picoseconds, and returns what follows.
func leadingDuration(s string) (ps uint64, tail string, err error) {
	i := strings.IndexFunc(s, func(r rune) bool { return r != '.' && (r < '0' || r > '9') })
	if i <= 0 {
		return 0, "", fmt.Errorf("a number needs a unit of h, m, s, ms, us, ns or ps")
	}
	number, tail := s[:i], s[i:]
	j := strings.IndexFunc(tail, func(r rune) bool { return r == '.' || '0' <= r && r <= '9' })
	if j < 0 {
		j = len(tail)
	}
	name, tail := tail[:j], tail[j:]
	for _, unit := range durationUnits() {
		if unit.name == name {
			ps, err = scale(number, uint64(unit.size))
			return ps, tail, err
		}
	}
	return 0, "", fmt.Errorf("unknown unit %q; the units are h, m, s, ms, us, ns and ps", name)
}

// scale returns the decimal number times unit picoseconds, exactly.
func scale(number string, unit uint64) (uint64, error) {
	const most = 1 << 63
	whole, frac, _ := strings.Cut(number, ".")
	if strings.Contains(frac, ".") || whole+frac == "" {
		return 0, fmt.Errorf("%q is not a decimal number", number)
	}
	var n uint64
	if whole != "" {
		w, err := strconv.ParseUint(whole, 10, 64)
		if err != nil || w > most/unit {
			return 0, fmt.Errorf("%q is longer than the 106 days that a run can last", number)
		}
		n = w * unit
	}
	for _, c := range frac {
		digit := uint64(c - '0')
		if digit != 0 && (unit == 0 || unit%10 != 0) {
			return 0, fmt.Errorf("%q has digits below a picosecond", number)
		}
		unit /= 10
		if digit*unit > most-n {
			return 0, fmt.Errorf("%q is longer than the 106 days that a run can last", number)
		}
		n += digit * unit
	}
	return n, nil
}

// FromSeconds returns s seconds, rounded to the nearest picosecond. ok is false
// if s is not a number or outside the range of Duration.
func FromSeconds(s float64) (d Duration, ok bool) {
	p := math.RoundToEven(s * float64(Second))
	if !(math.Abs(p) < math.MaxInt64) {
		return 0, false
	}
	return Duration(p), true
}

// MarshalText writes d as String does.
func (d Duration) MarshalText() ([]byte, error) { return []byte(d.String()), nil }

// UnmarshalText reads what ParseDuration reads, and leaves d as it is where that
// is an error.
func (d *Duration) UnmarshalText(text []byte) error {
	v, err := ParseDuration(string(text))
	if err != nil {
		return err
	}
	*d = v
	return nil
}
