package export

import (
	"math"

	"servesim/internal/exact"
	"servesim/sim"
)

// span is a time in s, as most tools write how long something took.
type span sim.Duration

// ReadNumber implements jsonread.Number.
func (s *span) ReadNumber(text []byte) (want string) {
	d, ok := durationOf(text, exact.Seconds())
	*s = span(d)
	if !ok {
		return "a time in s, from 0 to 106 days"
	}
	return ""
}

// durationOf reads a number of units of u.
func durationOf(text []byte, u exact.Unit) (sim.Duration, bool) {
	at, ok := u.Parse(text)
	if !ok {
		return 0, false
	}
	return at.Since(exact.Instant{})
}

// stamp is an instant in s on a clock of the tool's.
type stamp exact.Instant

// ReadNumber implements jsonread.Number.
func (s *stamp) ReadNumber(text []byte) (want string) {
	at, ok := exact.Seconds().Parse(text)
	*s = stamp(at)
	if !ok {
		return "an instant in s, a number from 0 to 9e18"
	}
	return ""
}

// nanos is an instant in ns on a clock of the tool's.
type nanos exact.Instant

// ReadNumber implements jsonread.Number.
func (s *nanos) ReadNumber(text []byte) (want string) {
	ns, _ := exact.UnitOf("ns")
	at, ok := ns.Parse(text)
	*s = nanos(at)
	if !ok {
		return "an instant in ns, a number from 0 to 9e18"
	}
	return ""
}

// count is a number of tokens or requests.
type count int32

// ReadNumber implements jsonread.Number. It takes 550.0 for 550.
func (c *count) ReadNumber(text []byte) (want string) {
	at, ok := exact.Seconds().Parse(text)
	if !ok || at.Ps != 0 || at.Sec > math.MaxInt32 {
		return "a whole number from 0 to 2147483647"
	}
	*c = count(at.Sec)
	return ""
}

// instant returns the instant of p, if it has one.
func instant(p *stamp) (at exact.Instant, ok bool) {
	if p == nil {
		return exact.Instant{}, false
	}
	return exact.Instant(*p), true
}
