package strict

import (
	"encoding"
	"reflect"
	"strings"

	"github.com/BurntSushi/toml"
)

// Keys lists every dotted key that Decode takes into a struct of type t, tables
// included, in the order of its fields. A table whose keys the user chooses is
// listed as table.* as well; what is inside a list isn't listed.
func Keys(t reflect.Type) []string {
	var names []string
	for _, k := range keys("", t) {
		names = append(names, k.name)
	}
	return names
}

// KindOf says in a word or two what the value of a key of Keys is, such as
// "number" or "table"; ok is false if t has no such key.
func KindOf(t reflect.Type, key string) (kind string, ok bool) {
	for _, k := range keys("", t) {
		if k.name == key {
			return kindOf(k.value), true
		}
	}
	return "", false
}

// A keyOfType is a key and the type of its value.
type keyOfType struct {
	name  string
	value reflect.Type
}

func keys(prefix string, t reflect.Type) []keyOfType {
	var list []keyOfType
	for _, f := range tomlFields(t) {
		key, ft := join(prefix, f.name), t.FieldByIndex(f.index).Type
		if ft.Kind() == reflect.Pointer {
			ft = ft.Elem()
		}
		list = append(list, keyOfType{key, ft})
		switch {
		case readsItself(ft):
		case ft.Kind() == reflect.Struct:
			list = append(list, keys(key, ft)...)
		case ft.Kind() == reflect.Map:
			list = append(list, keyOfType{key + ".*", ft.Elem()})
		}
	}
	return list
}

// kindOf names the values of type t.
func kindOf(t reflect.Type) string {
	if readsItself(t) {
		return strings.ToLower(t.Name()) // sim.Duration is the one there is
	}
	switch t.Kind() {
	case reflect.Bool:
		return "bool"
	case reflect.String:
		return "string"
	case reflect.Slice:
		return "list"
	case reflect.Struct, reflect.Map:
		return "table"
	case reflect.Float32, reflect.Float64:
		return "number"
	}
	return "whole"
}

// A tomlField is a field of a struct under the name that TOML has for it.
type tomlField struct {
	name  string
	index []int
	tag   reflect.StructTag
}

// tomlFields returns the fields of struct type t that TOML can set. The fields
// of an embedded struct count as t's own.
func tomlFields(t reflect.Type) []tomlField {
	var list []tomlField
	for i := range t.NumField() {
		f := t.Field(i)
		name, _, _ := strings.Cut(f.Tag.Get("toml"), ",")
		switch {
		case name == "-" || !f.IsExported():
		case f.Anonymous && name == "" && f.Type.Kind() == reflect.Struct:
			for _, sub := range tomlFields(f.Type) {
				list = append(list, tomlField{sub.name, append([]int{i}, sub.index...), sub.tag})
			}
		case name != "":
			list = append(list, tomlField{name, []int{i}, f.Tag})
		}
	}
	return list
}

// readsItself tells whether a value of type t decodes itself from TOML or text.
func readsItself(t reflect.Type) bool {
	p := reflect.PointerTo(t)
	return p.Implements(reflect.TypeFor[toml.Unmarshaler]()) || p.Implements(reflect.TypeFor[encoding.TextUnmarshaler]())
}
