package workload

import (
	"servesim/internal/exact"
	"servesim/sim"
)

// stampParser reads wall-clock stamps. It remembers the last date, which most
// rows of a trace share.
type stampParser struct {
	date [10]byte
	days int64
	set  bool
}

// parse reads b as YYYY-MM-DD, a space or T, HH:MM:SS, an optional fraction of
// up to 12 digits, and an optional zone: Z, ±HH:MM, ±HHMM or ±HH. Without a
// zone it takes the clock for UTC and zoned is false.
func (p *stampParser) parse(b []byte) (at exact.Instant, zoned, ok bool) {
	if len(b) < 19 || b[10] != ' ' && b[10] != 'T' || b[13] != ':' || b[16] != ':' {
		return exact.Instant{}, false, false
	}
	if !p.set || [10]byte(b[:10]) != p.date {
		days, ok := parseDate(b[:10])
		if !ok {
			return exact.Instant{}, false, false
		}
		p.date, p.days, p.set = [10]byte(b[:10]), days, true
	}
	hour, ok1 := twoDigits(b[11:], 23)
	minute, ok2 := twoDigits(b[14:], 59)
	second, ok3 := twoDigits(b[17:], 59)
	if !ok1 || !ok2 || !ok3 {
		return exact.Instant{}, false, false
	}
	at.Sec = p.days*86400 + hour*3600 + minute*60 + second
	rest := b[19:]
	if len(rest) > 0 && rest[0] == '.' {
		n := 1
		for unit := int64(sim.Second) / 10; n < len(rest) && rest[n]-'0' <= 9; n++ {
			at.Ps += int64(rest[n]-'0') * unit
			unit /= 10
		}
		if n == 1 || n > len(".000000000000") {
			return exact.Instant{}, false, false
		}
		rest = rest[n:]
	}
	if len(rest) == 0 {
		return at, false, true
	}
	offset, ok := parseZone(rest)
	at.Sec -= offset
	return at, true, ok
}

// parseZone reads Z, ±HH:MM, ±HHMM or ±HH and returns the seconds east of UTC.
func parseZone(b []byte) (seconds int64, ok bool) {
	if len(b) == 1 && (b[0] == 'Z' || b[0] == 'z') {
		return 0, true
	}
	if len(b) < 3 || b[0] != '+' && b[0] != '-' {
		return 0, false
	}
	hours, ok := twoDigits(b[1:], 23)
	minutes := int64(0)
	if rest := b[3:]; ok && len(rest) > 0 {
		if rest[0] == ':' {
			rest = rest[1:]
		}
		ok = false
		if len(rest) == 2 {
			minutes, ok = twoDigits(rest, 59)
		}
	}
	seconds = hours*3600 + minutes*60
	if b[0] == '-' {
		seconds = -seconds
	}
	return seconds, ok
}

// twoDigits reads the first two bytes of b as a number up to most.
func twoDigits(b []byte, most int64) (n int64, ok bool) {
	if len(b) < 2 || b[0]-'0' > 9 || b[1]-'0' > 9 {
		return 0, false
	}
	n = int64(b[0]-'0')*10 + int64(b[1]-'0')
	return n, n <= most
}

// parseDate reads YYYY-MM-DD of the Gregorian calendar and returns the days
// since 1970-01-01.
func parseDate(b []byte) (days int64, ok bool) {
	if len(b) != 10 || b[4] != '-' || b[7] != '-' {
		return 0, false
	}
	century, ok1 := twoDigits(b, 99)
	years, ok2 := twoDigits(b[2:], 99)
	month, ok3 := twoDigits(b[5:], 12)
	day, ok4 := twoDigits(b[8:], 31)
	year := century*100 + years
	if !ok1 || !ok2 || !ok3 || !ok4 || month == 0 || day == 0 || day > monthDays(year, month) {
		return 0, false
	}
	// Years begin in March, so that the leap day is the last of its year; a
	// month m of such a year begins on its day (153m+2)/5.
	m := (month + 9) % 12
	y := year - m/10
	return 365*y + y/4 - y/100 + y/400 + (153*m+2)/5 + day - 1 - 719468, true
}

// monthDays returns the number of days of a month, from 1 to 12.
func monthDays(year, month int64) int64 {
	switch month {
	case 4, 6, 9, 11:
		return 30
	case 2:
		if year%4 == 0 && (year%100 != 0 || year%400 == 0) {
			return 29
		}
		return 28
	}
	return 31
}
