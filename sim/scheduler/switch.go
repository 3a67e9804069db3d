package scheduler

import (
	"fmt"
	"reflect"
	"strings"
	"unicode"
)

// Switch is what a version decides and no option changes.
type Switch struct {
	// Name is the field of Config in the form of options, Value what the version
	// has, Meaning what it is.
	Name, Value, Meaning string
}

// Switches lists those that c has on, in the order of its fields.
func (c Config) Switches() []Switch {
	var list []Switch
	v := reflect.ValueOf(c)
	for i := range v.NumField() {
		f := v.Type().Field(i)
		meaning, ok := f.Tag.Lookup("switch")
		if !ok || v.Field(i).IsZero() {
			continue
		}
		list = append(list, Switch{optionName(f.Name), fmt.Sprint(v.Field(i).Interface()), meaning})
	}
	return list
}

// optionName writes a Go name as options are written.
func optionName(name string) string {
	var b strings.Builder
	for i, r := range name {
		if i > 0 && unicode.IsUpper(r) {
			b.WriteByte('_')
		}
		b.WriteRune(unicode.ToLower(r))
	}
	return b.String()
}
