package strict

import (
	"fmt"
	"reflect"
	"slices"
	"strconv"
	"strings"
)

// Rules are what a file is held to beyond the kinds of its fields. Struct tags
// say what holds for a field:
//
//	want:"span"          its number is in the Range called span
//	want:"span,optional" and the key may be left out though Whole is set
//	keys:"bf16,fp8"      its table, a map, has no other keys than these
//
// The zero value lets every key be left out.
type Rules struct {
	// Ranges are those that want tags name. A name that isn't here is a fault of
	// every file.
	Ranges []Range
	// Whole makes every absent key a fault, unless its want tag says optional.
	Whole bool
}

// A Range is the numbers that a key may have.
type Range struct {
	// Name is what want tags call it.
	Name string
	// What says what the number is, such as "a number of seconds".
	What string
	// Min and Max are the least and the largest.
	Min, Max float64
}

// Holds tells whether x is in r. NaN never is.
func (r Range) Holds(x float64) bool { return x >= r.Min && x <= r.Max }

// String describes r for messages.
func (r Range) String() string {
	return fmt.Sprintf("%s from %s to %s", r.What, bound(r.Min), bound(r.Max))
}

// bound writes a bound of a range the shorter of the two ways.
func bound(x float64) string {
	short, full := strconv.FormatFloat(x, 'g', -1, 64), strconv.FormatFloat(x, 'f', -1, 64)
	if len(full) <= len(short) {
		return full
	}
	return short
}

// rangeOf returns the range that a tag names; ok is false if it names none.
func (r Rules) rangeOf(tag reflect.StructTag) (named Range, ok bool) {
	name, _, _ := strings.Cut(tag.Get("want"), ",")
	if name == "" || name == "optional" {
		return Range{}, false
	}
	i := slices.IndexFunc(r.Ranges, func(r Range) bool { return r.Name == name })
	if i < 0 {
		// Holds nothing, so that the slip shows at the first file.
		return Range{Name: name, What: "in a range called " + name + ", which nothing defines,", Min: 1, Max: 0}, true
	}
	return r.Ranges[i], true
}

// needs tells whether the key of a field with this tag must be there.
func (r Rules) needs(tag reflect.StructTag) bool {
	return r.Whole && !slices.Contains(strings.Split(tag.Get("want"), ","), "optional")
}

// membersOf returns the keys that a tag allows in a map, nil for any.
func membersOf(tag reflect.StructTag) []string {
	if keys := tag.Get("keys"); keys != "" {
		return strings.Split(keys, ",")
	}
	return nil
}

// form says in words what the value of key, a t with this tag, must be.
func (r Rules) form(key string, t reflect.Type, tag reflect.StructTag) string {
	if t.Kind() == reflect.Pointer {
		t = t.Elem()
	}
	if readsItself(t) {
		return "a string, in quotes"
	}
	if named, ok := r.rangeOf(tag); ok {
		return named.String()
	}
	switch t.Kind() {
	case reflect.Bool:
		return "true or false"
	case reflect.String:
		return "a string, in quotes"
	case reflect.Slice:
		return "a list, in brackets"
	case reflect.Struct, reflect.Map:
		if strings.Contains(key, "[") {
			return "a table, in braces"
		}
		return "a table, written [" + key + "]"
	case reflect.Float32, reflect.Float64:
		return "a number"
	}
	return "a whole number"
}
