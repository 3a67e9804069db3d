package strict

import (
	"encoding"
	"errors"
	"fmt"
	"maps"
	"math"
	"reflect"
	"slices"
	"strconv"

	"github.com/BurntSushi/toml"
)

// Decode puts tree, as Parse returns it, into the struct that into points to,
// and returns every fault. where tells where a key was written. Every key may be
// left out, and leaves its field as it is.
func Decode(tree map[string]any, into any, where func(key string) string) []Fault {
	return Rules{}.Decode(tree, into, where)
}

// Decode is the function Decode, and holds the file to r too.
func (r Rules) Decode(tree map[string]any, into any, where func(key string) string) []Fault {
	d := decoder{rules: r, where: where}
	d.table("", tree, reflect.ValueOf(into).Elem())
	return d.faults
}

// decoder is the state of Decode.
type decoder struct {
	rules  Rules
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
		d.value(join(key, name), tree[name], v.FieldByIndex(fields[i].index), fields[i].tag)
	}
	for _, f := range fields {
		if _, given := tree[f.name]; !given && d.rules.needs(f.tag) {
			d.fault(join(key, f.name), "missing; give %s", d.rules.form(join(key, f.name), v.FieldByIndex(f.index).Type(), f.tag))
		}
	}
}

// mismatch notes that x can't be the value of key, which is a t.
func (d *decoder) mismatch(key string, x any, t reflect.Type, tag reflect.StructTag) {
	found := describe(x)
	if text, ok := x.(string); ok && tooBig(text) && (t.Kind() >= reflect.Int && t.Kind() <= reflect.Float64) {
		found = text + ", which is beyond the 64 bits of a number"
	}
	d.fault(key, "found %s; must be %s", found, d.rules.form(key, t, tag))
}

// tooBig tells whether text is a whole number that an int64 can't hold. TOML has
// none of these; the command line takes one as a string.
func tooBig(text string) bool {
	_, err := strconv.ParseInt(text, 10, 64)
	return errors.Is(err, strconv.ErrRange)
}

// value puts x into v, whatever the kinds of both. tag is that of the field that v
// is, and empty for what is inside a list or map.
func (d *decoder) value(key string, x any, v reflect.Value, tag reflect.StructTag) {
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
		d.compound(key, x, v, tag)
	case reflect.String:
		if s, ok := x.(string); ok {
			v.SetString(s)
			return
		}
		d.mismatch(key, x, v.Type(), tag)
	case reflect.Bool:
		if b, ok := x.(bool); ok {
			v.SetBool(b)
			return
		}
		d.mismatch(key, x, v.Type(), tag)
	default:
		d.number(key, x, v, tag)
	}
}

// text puts a string into a value that reads itself from text.
func (d *decoder) text(key string, x any, u encoding.TextUnmarshaler) {
	s, ok := x.(string)
	if !ok {
		d.mismatch(key, x, reflect.TypeFor[string](), "")
		return
	}
	if err := u.UnmarshalText([]byte(s)); err != nil {
		d.fault(key, "%v", err)
	}
}

// compound puts a table or an array into a struct, map or slice.
func (d *decoder) compound(key string, x any, v reflect.Value, tag reflect.StructTag) {
	if v.Kind() == reflect.Slice {
		d.slice(key, x, v, tag)
		return
	}
	tree, ok := x.(map[string]any)
	if !ok {
		d.mismatch(key, x, v.Type(), tag)
		return
	}
	if v.Kind() == reflect.Struct {
		d.table(key, tree, v)
		return
	}
	v.Set(reflect.MakeMap(v.Type()))
	names := membersOf(tag)
	for _, name := range slices.Sorted(maps.Keys(tree)) {
		if names != nil && !slices.Contains(names, name) {
			d.fault(join(key, name), "unknown key; %s", Unlike(name, names))
			continue
		}
		item := reflect.New(v.Type().Elem()).Elem()
		d.value(join(key, name), tree[name], item, "")
		v.SetMapIndex(reflect.ValueOf(name), item)
	}
}

// slice puts an array, of tables or of values, into a slice.
func (d *decoder) slice(key string, x any, v reflect.Value, tag reflect.StructTag) {
	var items []any
	switch list := x.(type) {
	case []any:
		items = list
	case []map[string]any:
		for _, t := range list {
			items = append(items, t)
		}
	default:
		d.mismatch(key, x, v.Type(), tag)
		return
	}
	v.Set(reflect.MakeSlice(v.Type(), len(items), len(items)))
	for i, item := range items {
		d.value(fmt.Sprintf("%s[%d]", key, i), item, v.Index(i), "")
	}
}

// number puts x into an integer or a float.
func (d *decoder) number(key string, x any, v reflect.Value, tag reflect.StructTag) {
	if v.CanFloat() {
		d.float(key, x, v, tag)
		return
	}
	n, ok := x.(int64)
	r, ranged := d.rules.rangeOf(tag)
	switch {
	case !ok, ranged && !r.Holds(float64(n)):
		d.mismatch(key, x, v.Type(), tag)
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
func (d *decoder) float(key string, x any, v reflect.Value, tag reflect.StructTag) {
	var n float64
	switch x := x.(type) {
	case int64:
		n = float64(x)
	case float64:
		n = x
	default:
		d.mismatch(key, x, v.Type(), tag)
		return
	}
	r, ranged := d.rules.rangeOf(tag)
	switch {
	case ranged && !r.Holds(n):
		d.mismatch(key, x, v.Type(), tag)
	case math.IsNaN(n) || math.IsInf(n, 0):
		d.fault(key, "found %v; must be a finite number", n)
	default:
		v.SetFloat(n)
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
	case float64:
		if math.IsNaN(v) || math.IsInf(v, 0) {
			return fmt.Sprintf("%v", v)
		}
		return float(v) // with its point: 3.0 isn't a whole number
	case int64, bool:
		return fmt.Sprintf("%v", v)
	}
	return fmt.Sprintf("the value %v", x)
}
