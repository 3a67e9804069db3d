package strict

import (
	"encoding"
	"fmt"
	"maps"
	"math"
	"reflect"
	"slices"
	"strconv"
	"strings"
)

// Encode writes the struct v as a TOML document that Decode reads back to the
// same value. Tables of the first level are sections, deeper ones are inline; but
// a list in a section whose tag is toml:"name,tables" is written a table each, an
// empty one not at all.
// What has the value that an absent key leaves is left out: what is nil, and
// zeros that aren't behind a pointer.
func Encode(v any) string {
	return EncodeNoted(v, func(string) string { return "" })
}

// EncodeNoted is Encode, but a line of a key of which note says something is
// commented out, with what it says behind it. Decode then leaves that key as it
// is. note is asked for the keys at the top, in sections and in tables of a list,
// such as a.b[0].c.
func EncodeNoted(v any, note func(key string) string) string {
	var b strings.Builder
	line := func(key, pair string) {
		if why := note(key); why != "" {
			pair = "# " + pair + "  # " + why
		}
		b.WriteString(pair + "\n")
	}
	s := reflect.ValueOf(v)
	fields := tomlFields(s.Type())
	for _, f := range fields {
		if x := s.FieldByIndex(f.index); !section(x) && !absent(x) {
			line(f.name, bareKey(f.name)+" = "+literal(x))
		}
	}
	for _, f := range fields {
		x := s.FieldByIndex(f.index)
		if !section(x) || absent(x) {
			continue
		}
		fmt.Fprintf(&b, "\n[%s]\n", bareKey(f.name))
		all := pairs(reflect.Indirect(x))
		for _, p := range all {
			if !p.tables {
				line(join(f.name, p.name), p.text)
			}
		}
		for _, p := range all {
			for i := 0; p.tables && i < p.value.Len(); i++ {
				fmt.Fprintf(&b, "\n[[%s]]\n", join(bareKey(f.name), bareKey(p.name)))
				for _, q := range pairs(p.value.Index(i)) {
					line(fmt.Sprintf("%s.%s[%d].%s", f.name, p.name, i, q.name), q.text)
				}
			}
		}
	}
	return b.String()
}

// section tells whether x is a table, and so a section at the first level.
func section(x reflect.Value) bool {
	t := x.Type()
	if t.Kind() == reflect.Pointer {
		t = t.Elem()
	}
	return (t.Kind() == reflect.Struct || t.Kind() == reflect.Map) && !readsItself(t)
}

// absent tells whether leaving x out means the same.
func absent(x reflect.Value) bool {
	switch x.Kind() {
	case reflect.Pointer:
		return x.IsNil()
	case reflect.Map:
		return x.Len() == 0
	}
	return x.IsZero() // of a list, nil: an empty one may replace another
}

// Pairs returns what the struct or map v has to say, as Encode writes it in a
// section: "key = value" each.
func Pairs(v any) []string {
	var list []string
	for _, p := range pairs(reflect.ValueOf(v)) {
		list = append(list, p.text)
	}
	return list
}

// A pair is a key of a table and its line. tables tells that its value is a list
// to be written a table each.
type pair struct {
	name, text string
	value      reflect.Value
	tables     bool
}

// pairs is Pairs with the keys beside their lines.
func pairs(x reflect.Value) []pair {
	var list []pair
	add := func(name string, value reflect.Value, tables bool) {
		list = append(list, pair{name, bareKey(name) + " = " + literal(value), value, tables})
	}
	if x.Kind() == reflect.Map {
		items := map[string]reflect.Value{}
		for _, k := range x.MapKeys() {
			items[k.String()] = x.MapIndex(k)
		}
		for _, k := range slices.Sorted(maps.Keys(items)) {
			add(k, items[k], false)
		}
		return list
	}
	for _, f := range tomlFields(x.Type()) {
		if value := x.FieldByIndex(f.index); !absent(value) {
			_, option, _ := strings.Cut(f.tag.Get("toml"), ",")
			add(f.name, value, option == "tables")
		}
	}
	return list
}

// literal writes one value.
func literal(x reflect.Value) string {
	if m, ok := x.Interface().(encoding.TextMarshaler); ok {
		text, err := m.MarshalText()
		if err != nil {
			return Quote(err.Error())
		}
		return Quote(string(text))
	}
	switch x.Kind() {
	case reflect.Pointer:
		return literal(x.Elem())
	case reflect.String:
		return Quote(x.String())
	case reflect.Float32, reflect.Float64:
		return float(x.Float())
	case reflect.Slice:
		items := make([]string, x.Len())
		for i := range items {
			items[i] = literal(x.Index(i))
		}
		return "[" + strings.Join(items, ", ") + "]"
	case reflect.Struct, reflect.Map:
		return "{ " + strings.Join(Pairs(x.Interface()), ", ") + " }"
	}
	return fmt.Sprint(x.Interface())
}

// float writes the shortest decimal that reads back as f, with a point or an
// exponent, so that it stays a float.
func float(f float64) string {
	if math.IsNaN(f) {
		return "nan"
	}
	s := strconv.FormatFloat(f, 'g', -1, 64)
	if !strings.ContainsAny(s, ".eEIN") {
		s += ".0"
	}
	return strings.ToLower(s)
}

// Quote writes a basic string of TOML, which has the escapes that JSON has, and \U.
func Quote(s string) string {
	var b strings.Builder
	b.WriteByte('"')
	for _, r := range s {
		switch {
		case r == '"' || r == '\\':
			b.WriteByte('\\')
			b.WriteRune(r)
		case r == '\n':
			b.WriteString(`\n`)
		case r == '\t':
			b.WriteString(`\t`)
		case r < ' ' || r == 0x7f:
			fmt.Fprintf(&b, `\u%04X`, r)
		default:
			b.WriteRune(r)
		}
	}
	b.WriteByte('"')
	return b.String()
}

// bareKey writes one part of a key, in quotes if it needs them.
func bareKey(k string) string {
	for _, r := range k {
		if r != '_' && r != '-' && (r < '0' || r > '9') && (r < 'a' || r > 'z') && (r < 'A' || r > 'Z') {
			return Quote(k)
		}
	}
	if k == "" {
		return `""`
	}
	return k
}
