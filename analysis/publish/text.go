package publish

import (
	"encoding/json"
	"strconv"

	"servesim/sim"
)

// appendTime appends d in units of 10^-12+digits seconds, exactly, as a float: s
// have 12 digits below the point, ms 9.
func appendTime(b []byte, d sim.Duration, digits int) []byte {
	unit := int64(1)
	for range digits {
		unit *= 10
	}
	v := int64(d)
	if v < 0 {
		b, v = append(b, '-'), -v
	}
	b = strconv.AppendInt(b, v/unit, 10)
	b = append(b, '.')
	rest := v % unit
	if rest == 0 {
		return append(b, '0')
	}
	for unit /= 10; rest > 0; unit /= 10 {
		b = append(b, '0'+byte(rest/unit))
		rest %= unit
	}
	return b
}

// The digits of a time below the point.
const (
	inSeconds      = 12
	inMilliseconds = 9
)

// appendFloat appends x as the shortest decimal that reads back, always with a
// point or an exponent, so that readers take it for a float. What is no number is 0,
// as vLLM has it.
func appendFloat(b []byte, x float64) []byte {
	if x != x || x-x != 0 {
		x = 0
	}
	at := len(b)
	b = strconv.AppendFloat(b, x, 'g', -1, 64)
	for _, c := range b[at:] {
		if c == '.' || c == 'e' {
			return b
		}
	}
	return append(b, ".0"...)
}

// appendText appends s as a JSON string. Bytes that aren't UTF-8, which JSON can't
// hold, become U+FFFD.
func appendText(b []byte, s string) []byte {
	for i := range len(s) {
		if c := s[i]; c < ' ' || c >= 0x7f || c == '"' || c == '\\' || c == '<' || c == '>' || c == '&' {
			text, err := json.Marshal(s)
			if err != nil {
				text = []byte(`""`) // of a string there is none
			}
			return append(b, text...)
		}
	}
	b = append(b, '"')
	b = append(b, s...)
	return append(b, '"')
}

// object appends the members of a JSON object, between them what sep says.
type object struct {
	b   []byte
	sep string // after a comma, as Python writes ", "
	col string // after a key, as Python writes ": "
	any bool
}

// key begins a member.
func (o *object) key(k string) {
	if o.any {
		o.b = append(o.b, ',')
		o.b = append(o.b, o.sep...)
	}
	o.any = true
	o.b = append(o.b, '"')
	o.b = append(o.b, k...)
	o.b = append(o.b, '"', ':')
	o.b = append(o.b, o.col...)
}

func (o *object) integer(k string, v int64) {
	o.key(k)
	o.b = strconv.AppendInt(o.b, v, 10)
}

func (o *object) float(k string, v float64) {
	o.key(k)
	o.b = appendFloat(o.b, v)
}

func (o *object) text(k, v string) {
	o.key(k)
	o.b = appendText(o.b, v)
}

func (o *object) raw(k, v string) {
	o.key(k)
	o.b = append(o.b, v...)
}
