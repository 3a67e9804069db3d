package perfetto

import (
	"encoding/binary"
	"math"
	"strings"
	"unicode"
)

// A number is that of a field in its message.
type number uint64

// The ways in which fields are encoded.
const (
	wireVarint  = 0
	wireFixed64 = 1
	wireBytes   = 2
)

// appendVarint appends a field of an integer, an enumeration or a truth value.
func appendVarint(b []byte, n number, v uint64) []byte {
	b = binary.AppendUvarint(b, uint64(n)<<3|wireVarint)
	return binary.AppendUvarint(b, v)
}

// appendFixed appends a field of 64 bits.
func appendFixed(b []byte, n number, v uint64) []byte {
	b = binary.AppendUvarint(b, uint64(n)<<3|wireFixed64)
	return binary.LittleEndian.AppendUint64(b, v)
}

// appendDouble appends a field of a float.
func appendDouble(b []byte, n number, v float64) []byte {
	return appendFixed(b, n, math.Float64bits(v))
}

// appendBytes appends a field of a text or a message.
func appendBytes[T string | []byte](b []byte, n number, v T) []byte {
	b = binary.AppendUvarint(b, uint64(n)<<3|wireBytes)
	b = binary.AppendUvarint(b, uint64(len(v)))
	return append(b, v...)
}

// longest is the number of characters that a text from outside may have.
const longest = 1000

// clean returns a text from outside, such as a name in a trace of requests, as every
// viewer can show it: characters that control a terminal or the direction of writing,
// and what isn't UTF-8, become U+FFFD, and a text that is too long is cut.
func clean(s string) string {
	plain := strings.Map(func(c rune) rune {
		if unicode.IsControl(c) || unicode.In(c, unicode.Cf, unicode.Zl, unicode.Zp) {
			return unicode.ReplacementChar
		}
		return c
	}, strings.ToValidUTF8(s, string(unicode.ReplacementChar)))
	if all := []rune(plain); len(all) > longest {
		return string(all[:longest-1]) + "…"
	}
	return plain
}
