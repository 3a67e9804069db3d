package gpu

import (
	"errors"
	"fmt"
	"math"
	"reflect"
	"slices"
	"strings"

	"github.com/BurntSushi/toml"
)

// schema is the version of profile and model files that this package reads.
const schema = 1

// decodeStrict reads a TOML file into the struct that into points to. Every
// field is a key, under the name of its toml tag, and its want tag says what is
// allowed: one of the names in ranges, and "optional" if the key may be left
// out. Every key of the file must be a field. The error joins every fault, each
// with the file, the line where there is one, the key, what was found and what
// is allowed; a syntax fault or a foreign schema stops the reading and comes
// alone.
func decodeStrict(file, text string, into any) error {
	raw := map[string]any{}
	if _, err := toml.Decode(text, &raw); err != nil {
		var syntax toml.ParseError
		if errors.As(err, &syntax) {
			return fmt.Errorf("%s:%d: %s", file, syntax.Position.Line, syntax.Message)
		}
		return fmt.Errorf("%s: %w", file, err)
	}
	d := decoder{file: file, text: text}
	switch v, found := raw["schema"]; {
	case !found:
		return fmt.Errorf("%s: schema is missing; begin the file with schema = %d", file, schema)
	case v != int64(schema):
		return fmt.Errorf("%s: schema is %v; this servesim reads schema %d", d.at("schema"), v, schema)
	}
	d.table("", raw, reflect.ValueOf(into).Elem())
	return errors.Join(d.faults...)
}

// decoder collects the faults of one file.
type decoder struct {
	file, text string
	lines      map[string]int // of keys, made when first asked for
	faults     []error
}

// at names the file and, if the key stands in it, the line.
func (d *decoder) at(key string) string {
	if d.lines == nil {
		d.lines = keyLines(d.text)
	}
	if line, ok := d.lines[key]; ok {
		return fmt.Sprintf("%s:%d", d.file, line)
	}
	return d.file
}

func (d *decoder) fault(key, format string, args ...any) {
	d.faults = append(d.faults, fmt.Errorf("%s: %s %s", d.at(key), key, fmt.Sprintf(format, args...)))
}

// table fills the struct v from the table raw, whose key is path.
func (d *decoder) table(path string, raw map[string]any, v reflect.Value) {
	known := make([]string, 0, v.NumField())
	for i := range v.NumField() {
		field := v.Type().Field(i)
		name := field.Tag.Get("toml")
		if name == "" {
			continue
		}
		known = append(known, name)
		key, want := join(path, name), field.Tag.Get("want")
		value, found := raw[name]
		if !found {
			if !strings.Contains(want, "optional") {
				d.fault(key, "is missing; want %s", describe(field.Type, want))
			}
			continue
		}
		d.value(key, value, v.Field(i), field.Tag)
	}
	d.unknown(path, raw, known)
}

// unknown reports the keys of raw that are not known.
func (d *decoder) unknown(path string, raw map[string]any, known []string) {
	for _, name := range sortedKeys(raw) {
		if slices.Contains(known, name) {
			continue
		}
		key := join(path, name)
		if near, ok := nearest(name, known); ok {
			d.fault(key, "is not a known key; did you mean %s?", near)
		} else {
			d.fault(key, "is not a known key; known here: %s", strings.Join(known, ", "))
		}
	}
}

// value sets v, the field with the given tag, to what the file says under key.
func (d *decoder) value(key string, found any, v reflect.Value, tag reflect.StructTag) {
	want := tag.Get("want")
	switch v.Kind() {
	case reflect.Struct, reflect.Map:
		sub, ok := found.(map[string]any)
		if !ok {
			d.fault(key, "is %v; want a table, written [%s]", found, key)
			return
		}
		if v.Kind() == reflect.Struct {
			d.table(key, sub, v)
			return
		}
		d.tables(key, sub, v, tag.Get("keys"))
	case reflect.Float64, reflect.Int64:
		d.number(key, found, v, want)
	case reflect.Slice:
		d.strings(key, found, v)
	default:
		if reflect.TypeOf(found) != v.Type() {
			d.fault(key, "is %v; want %s", found, describe(v.Type(), want))
			return
		}
		v.Set(reflect.ValueOf(found))
	}
}

// tables fills the map v with one struct for each sub-table of raw. Its names
// are those listed in allowed, or any if that is empty.
func (d *decoder) tables(key string, raw map[string]any, v reflect.Value, allowed string) {
	v.Set(reflect.MakeMap(v.Type()))
	if allowed != "" {
		d.unknown(key, raw, strings.Split(allowed, ","))
	}
	for _, name := range sortedKeys(raw) {
		if allowed != "" && !slices.Contains(strings.Split(allowed, ","), name) {
			continue
		}
		sub, ok := raw[name].(map[string]any)
		if !ok {
			d.fault(join(key, name), "is %v; want a table, written [%s]", raw[name], join(key, name))
			continue
		}
		entry := reflect.New(v.Type().Elem()).Elem()
		d.table(join(key, name), sub, entry)
		v.SetMapIndex(reflect.ValueOf(name), entry)
	}
}

func (d *decoder) number(key string, found any, v reflect.Value, want string) {
	r := rangeOf(want)
	var x float64
	switch n := found.(type) {
	case int64:
		x = float64(n)
		if v.Kind() == reflect.Int64 {
			v.SetInt(n)
		}
	case float64:
		x = n
		if v.Kind() == reflect.Int64 {
			d.fault(key, "is %v; want %s", found, r)
			return
		}
	default:
		d.fault(key, "is %#v; want %s", found, r)
		return
	}
	if !(x >= r.min && x <= r.max) || math.IsNaN(x) {
		d.fault(key, "is %v; want %s", found, r)
		return
	}
	if v.Kind() == reflect.Float64 {
		v.SetFloat(x)
	}
}

func (d *decoder) strings(key string, found any, v reflect.Value) {
	list, ok := found.([]any)
	var out []string
	for _, item := range list {
		s, isString := item.(string)
		ok = ok && isString
		out = append(out, s)
	}
	if !ok {
		d.fault(key, "is %v; want a list of strings", found)
		return
	}
	v.Set(reflect.ValueOf(out))
}

func join(path, name string) string {
	if path == "" {
		return name
	}
	return path + "." + name
}

func sortedKeys[V any](m map[string]V) []string {
	keys := make([]string, 0, len(m))
	for k := range m {
		keys = append(keys, k)
	}
	slices.Sort(keys)
	return keys
}
