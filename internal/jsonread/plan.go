package jsonread

import (
	"fmt"
	"reflect"
	"strconv"
	"strings"

	"servesim/internal/infile"
)

// Number is a type that reads a JSON number as it is written.
type Number interface {
	// ReadNumber reads text. If it can't hold that, it returns what it can hold.
	ReadNumber(text []byte) (want string)
}

// Value is a type that reads any JSON value in its own way.
type Value interface {
	// ReadJSON reads the next value of r.
	ReadJSON(r *Reader)
}

// Plan reads values of type T, whose fields say in json tags what they are called,
// as encoding/json has them. A field that must be there has the tag need:"yes";
// keys without a field are skipped; null leaves a field as it is, and is a fault
// where a field must be there and isn't a pointer, slice or map.
//
// T is made of structs, pointers, slices, maps with keys of text, strings, bools,
// float64, and types that are a Number or a Value.
type Plan[T any] struct{ read reader }

// reader reads the next value of r into v, which is zero.
type reader func(r *Reader, v reflect.Value)

// NewPlan returns the plan of T. It panics if T has a type that it doesn't know:
// T is code, not input.
func NewPlan[T any]() *Plan[T] {
	return &Plan[T]{readerOf(reflect.TypeFor[T]())}
}

// Read reads the next value of r into v, which it clears first. It tells whether
// that added no fault.
func (p *Plan[T]) Read(r *Reader, v *T) bool {
	before := r.Faults.Len()
	into := reflect.ValueOf(v).Elem()
	into.SetZero()
	p.read(r, into)
	return r.Faults.Len() == before
}

// readerOf returns the reader of type t.
func readerOf(t reflect.Type) reader {
	switch p := reflect.PointerTo(t); {
	case p.Implements(reflect.TypeFor[Value]()):
		return func(r *Reader, v reflect.Value) { v.Addr().Interface().(Value).ReadJSON(r) }
	case p.Implements(reflect.TypeFor[Number]()):
		return func(r *Reader, v reflect.Value) { r.readNumber(v.Addr().Interface().(Number)) }
	}
	switch t.Kind() {
	case reflect.Pointer:
		return pointerReader(t)
	case reflect.Slice:
		return sliceReader(t)
	case reflect.Map:
		return mapReader(t)
	case reflect.Struct:
		return structReader(t)
	case reflect.String:
		return func(r *Reader, v reflect.Value) { v.SetString(r.Text()) }
	case reflect.Bool:
		return func(r *Reader, v reflect.Value) { v.SetBool(r.bool()) }
	case reflect.Float64:
		return func(r *Reader, v reflect.Value) { v.SetFloat(r.float()) }
	}
	panic(fmt.Sprintf("jsonread can't read a %v", t))
}

// Text reads a string; something else is a fault.
func (r *Reader) Text() string {
	if c, ok := r.peek(); !ok || c != '"' {
		r.mistaken("text in quotes")
		return ""
	}
	text, _ := r.text()
	return string(text)
}

// bool reads true or false.
func (r *Reader) bool() bool {
	if c, ok := r.peek(); !ok || c != 't' && c != 'f' {
		r.mistaken("true or false")
		return false
	}
	return r.word() == "true"
}

// float reads a number, NaN and Infinity among them.
func (r *Reader) float() float64 {
	text, ok := r.Number()
	if !ok {
		return 0
	}
	v, err := strconv.ParseFloat(string(text), 64)
	if err != nil {
		r.Fault(infile.Quote(text), "a number", "")
	}
	return v
}

// readNumber reads a number into n.
func (r *Reader) readNumber(n Number) {
	text, ok := r.Number()
	if !ok {
		return
	}
	if want := n.ReadNumber(text); want != "" {
		fix := ""
		if c := text[len(text)-1]; c == 'N' || c == 'y' {
			fix = "the tool writes it where it divided by 0 or had nothing to measure; leave the record out"
		}
		r.Fault(infile.Quote(text), want, fix)
	}
}

// Number reads a number and returns it as it is written; something else is a
// fault, of which ok is false. The text is valid until the next read.
func (r *Reader) Number() (text []byte, ok bool) {
	c, ok := r.peek()
	if !ok || c != '-' && (c < '0' || c > '9') && c != 'N' && c != 'I' {
		r.mistaken("a number")
		return nil, false
	}
	return r.number(), true
}

// IsText tells whether a string comes next.
func (r *Reader) IsText() bool { return r.isNext('"') }

// IsArray tells whether an array comes next.
func (r *Reader) IsArray() bool { return r.isNext('[') }

// IsObject tells whether an object comes next.
func (r *Reader) IsObject() bool { return r.isNext('{') }

// isNext tells whether what comes next begins with c.
func (r *Reader) isNext(c byte) bool {
	next, ok := r.peek()
	return ok && next == c
}

func pointerReader(t reflect.Type) reader {
	element := readerOf(t.Elem())
	return func(r *Reader, v reflect.Value) {
		if !r.Null() {
			v.Set(reflect.New(t.Elem()))
			element(r, v.Elem())
		}
	}
}

func sliceReader(t reflect.Type) reader {
	element := readerOf(t.Elem())
	return func(r *Reader, v reflect.Value) {
		if r.Null() {
			return
		}
		v.Set(reflect.MakeSlice(t, 0, 0)) // an empty array isn't none
		r.Array(func(i int) {
			if i == v.Cap() {
				v.Grow(1)
			}
			v.SetLen(i + 1)
			v.Index(i).SetZero()
			element(r, v.Index(i))
		})
	}
}

func mapReader(t reflect.Type) reader {
	element := readerOf(t.Elem())
	return func(r *Reader, v reflect.Value) {
		if r.Null() {
			return
		}
		v.Set(reflect.MakeMap(t))
		r.Object(func(key []byte) {
			name := reflect.ValueOf(string(key))
			if v.MapIndex(name).IsValid() {
				r.Fault("the key twice", "once", "")
			}
			one := reflect.New(t.Elem()).Elem()
			element(r, one)
			v.SetMapIndex(name, one)
		})
	}
}

// field is a field of a struct.
type field struct {
	name  string
	index int
	need  bool
	read  reader
}

func structReader(t reflect.Type) reader {
	var fields []field
	places := map[string]int{}
	for i := range t.NumField() {
		f := t.Field(i)
		name, _, _ := strings.Cut(f.Tag.Get("json"), ",")
		if name == "" || name == "-" {
			continue
		}
		places[name] = len(fields)
		fields = append(fields, field{name, i, f.Tag.Get("need") == "yes", readerOf(f.Type)})
	}
	return func(r *Reader, v reflect.Value) {
		seen := make([]bool, len(fields))
		whole := r.Object(func(key []byte) {
			k, known := places[string(key)]
			if !known {
				r.Skip()
				return
			}
			if seen[k] {
				r.Fault("the key twice", "once", "")
			}
			seen[k] = true
			f, into := &fields[k], v.Field(fields[k].index)
			if !nullable(into.Kind()) && r.Null() {
				if f.need {
					r.Fault("null", "a value", "")
				}
				return
			}
			f.read(r, into)
		})
		if whole {
			r.missing(fields, seen)
		}
	}
}

// nullable tells whether a reader of kind k takes null itself.
func nullable(k reflect.Kind) bool {
	return k == reflect.Pointer || k == reflect.Slice || k == reflect.Map
}

// missing adds a fault for the fields that must be in an object and weren't seen.
func (r *Reader) missing(fields []field, seen []bool) {
	var names []string
	for k, f := range fields {
		if f.need && !seen[k] {
			names = append(names, f.name)
		}
	}
	if names != nil {
		r.Fault("no "+infile.List(names, "and"), "the keys that make a record of this format", "")
	}
}
