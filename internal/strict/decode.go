package strict

import (
	"encoding"
	"fmt"
	"maps"
	"math"
	"reflect"
	"slices"
	"strings"

	"github.com/BurntSushi/toml"
)

// A Fault is one thing wrong with a file.
type Fault struct {
	// Where is the file and line, or what else gave the value, or empty.
	Where string
	// Key is the dotted key, or empty.
	Key string
	// Text says what was found and what is allowed.
	Text string
}

// Error returns "where: key: text", without the parts that are empty.
func (f Fault) Error() string {
	parts := make([]string, 0, 3)
	for _, p := range []string{f.Where, f.Key, f.Text} {
		if p != "" {
			parts = append(parts, p)
		}
	}
	return strings.Join(parts, ": ")
}

// Parse returns the tables and values of a TOML document, unjudged. The error
// is a Fault that names file and line.
func Parse(file, text string) (map[string]any, error) {
	tree := map[string]any{}
	_, err := toml.Decode(text, &tree)
	if perr, ok := err.(toml.ParseError); ok {
		return nil, Fault{Where: fmt.Sprintf("%s:%d", file, perr.Position.Line), Text: perr.Message}
	}
	if err != nil {
		return nil, Fault{Where: file, Text: err.Error()}
	}
	return tree, nil
}

// Decode puts tree, as Parse returns it, into the struct that into points to,
// and returns every fault. where tells where a key was written.
func Decode(tree map[string]any, into any, where func(key string) string) []Fault {
	d := decoder{where: where}
	d.table("", tree, reflect.ValueOf(into).Elem())
	return d.faults
}

// decoder is the state of Decode.
type decoder struct {
	where  func(key string) string
	faults []Fault
}

// fault notes what is wrong with key.
func (d *decoder) fault(key, format string, args ...any) {
	d.faults = append(d.faults, Fault{d.where(key), key, fmt.Sprintf(format, args...)})
}

// table puts tree, the table called key, into the struct v.
func (d *decoder) table(key string, tree map[string]any, v reflect.Value) {
	fields := tomlFields(v.Type())
	names := make([]string, len(fields))
	for i, f := range fields {
		names[i] = f.name
	}
	for _, name := range slices.Sorted(maps.Keys(tree)) {
		i := slices.Index(names, name)
		if i < 0 {
			d.fault(join(key, name), "unknown key; %s", Unlike(name, names))
			continue
		}
		d.value(join(key, name), tree[name], v.FieldByIndex(fields[i].index))
	}
}

// value puts x into v, whatever the kinds of both.
func (d *decoder) value(key string, x any, v reflect.Value) {
	if v.Kind() == reflect.Pointer {
		v.Set(reflect.New(v.Type().Elem()))
		v = v.Elem()
	}
	if u, ok := v.Addr().Interface().(toml.Unmarshaler); ok {
		if err := u.UnmarshalTOML(x); err != nil {
			d.fault(key, "%v", err)
		}
		return
	}
	if u, ok := v.Addr().Interface().(encoding.TextUnmarshaler); ok {
		d.text(key, x, u)
		return
	}
	switch v.Kind() {
	case reflect.Struct, reflect.Map, reflect.Slice:
		d.compound(key, x, v)
	case reflect.String:
		if s, ok := x.(string); ok {
			v.SetString(s)
			return
		}
		d.fault(key, "found %s; must be a string, in quotes", describe(x))
	case reflect.Bool:
		if b, ok := x.(bool); ok {
			v.SetBool(b)
			return
		}
		d.fault(key, "found %s; must be true or false", describe(x))
	default:
		d.number(key, x, v)
	}
}

// text puts a string into a value that reads itself from text.
func (d *decoder) text(key string, x any, u encoding.TextUnmarshaler) {
	s, ok := x.(string)
	if !ok {
		d.fault(key, "found %s; must be a string, in quotes", describe(x))
		return
	}
	if err := u.UnmarshalText([]byte(s)); err != nil {
		d.fault(key, "%v", err)
	}
}

// compound puts a table or an array into a struct, map or slice.
func (d *decoder) compound(key string, x any, v reflect.Value) {
	if v.Kind() == reflect.Slice {
		d.slice(key, x, v)
		return
	}
	tree, ok := x.(map[string]any)
	if !ok {
		d.fault(key, "found %s; must be a table", describe(x))
		return
	}
	if v.Kind() == reflect.Struct {
		d.table(key, tree, v)
		return
	}
	v.Set(reflect.MakeMap(v.Type()))
	for _, name := range slices.Sorted(maps.Keys(tree)) {
		item := reflect.New(v.Type().Elem()).Elem()
		d.value(join(key, name), tree[name], item)
		v.SetMapIndex(reflect.ValueOf(name), item)
	}
}

// slice puts an array, of tables or of values, into a slice.
func (d *decoder) slice(key string, x any, v reflect.Value) {
	var items []any
	switch list := x.(type) {
	case []any:
		items = list
	case []map[string]any:
		for _, t := range list {
			items = append(items, t)
		}
	default:
		d.fault(key, "found %s; must be a list, in brackets", describe(x))
		return
	}
	v.Set(reflect.MakeSlice(v.Type(), len(items), len(items)))
	for i, item := range items {
		d.value(fmt.Sprintf("%s[%d]", key, i), item, v.Index(i))
	}
}

// number puts x into an integer or a float.
func (d *decoder) number(key string, x any, v reflect.Value) {
	if v.CanFloat() {
		d.float(key, x, v)
		return
	}
	n, ok := x.(int64)
	switch {
	case !ok:
		d.fault(key, "found %s; must be a whole number", describe(x))
	case v.CanInt() && !v.OverflowInt(n):
		v.SetInt(n)
	case v.CanUint() && n >= 0 && !v.OverflowUint(uint64(n)):
		v.SetUint(uint64(n))
	case v.CanUint():
		d.fault(key, "found %d; must be a whole number of 0 or more", n)
	case v.CanInt():
		d.fault(key, "found %d, which is too large", n)
	default:
		d.fault(key, "servesim cannot read a %s", v.Type())
	}
}

// float puts x into a float. Infinities and NaN are faults.
func (d *decoder) float(key string, x any, v reflect.Value) {
	switch n := x.(type) {
	case int64:
		v.SetFloat(float64(n))
	case float64:
		if math.IsNaN(n) || math.IsInf(n, 0) {
			d.fault(key, "found %v; must be a finite number", n)
			return
		}
		v.SetFloat(n)
	default:
		d.fault(key, "found %s; must be a number", describe(x))
	}
}

// describe names a TOML value and its type, for messages.
func describe(x any) string {
	switch v := x.(type) {
	case string:
		return fmt.Sprintf("the string %q", v)
	case map[string]any:
		return "a table"
	case []any, []map[string]any:
		return "a list"
	case int64, float64, bool:
		return fmt.Sprintf("%v", v)
	}
	return fmt.Sprintf("the value %v", x)
}
