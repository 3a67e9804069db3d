package gpu

import (
	"fmt"
	"reflect"
	"strings"
)

// numberRange is a range of numbers that a key allows. The bounds are wide: they
// keep out slips of a unit and values with which sums would overflow.
type numberRange struct {
	name     string
	what     string
	min, max float64
}

func (r numberRange) String() string {
	if r.name == "count" {
		return fmt.Sprintf("%s from %.0f to %.0f", r.what, r.min, r.max)
	}
	return fmt.Sprintf("%s from %g to %g", r.what, r.min, r.max)
}

// ranges returns the ranges that a want tag can name.
func ranges() []numberRange {
	return []numberRange{
		{"rate", "a rate per second", 1e6, 1e20},
		{"span", "a number of seconds", 0, 1},
		{"signed-span", "a number of seconds", -1, 1},
		{"delay", "a number of seconds", 0, 3600},
		{"bytes", "a number of bytes", 0, 1e15},
		{"size", "a number of bytes", 1, 1e15},
		{"ratio", "a ratio", 0.01, 100},
		{"power", "a number of watts", 1, 1e6},
		{"count", "a whole number", 1, 1 << 30},
	}
}

// rangeOf returns the range that a want tag names.
func rangeOf(want string) numberRange {
	name, _, _ := strings.Cut(want, ",")
	for _, r := range ranges() {
		if r.name == name {
			return r
		}
	}
	return numberRange{"", "a number", -1e300, 1e300}
}

// describe says in words what a key of type t takes.
func describe(t reflect.Type, want string) string {
	switch t.Kind() {
	case reflect.Bool:
		return "true or false"
	case reflect.String:
		return "a string"
	case reflect.Slice:
		return "a list of strings"
	case reflect.Struct, reflect.Map:
		return "a table"
	}
	return rangeOf(want).String()
}
