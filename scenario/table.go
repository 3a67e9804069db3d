package scenario

import (
	"cmp"
	"fmt"
	"slices"
	"strconv"
	"strings"
)

// A Table is a table of another file whose keys are those of scenarios.
type Table map[string]any

// UnmarshalTOML implements the interface of the TOML library.
func (t *Table) UnmarshalTOML(x any) error {
	m, ok := x.(map[string]any)
	if !ok {
		return fmt.Errorf("found %s; must be a table of keys of a scenario", ValueText(x))
	}
	*t = m
	return nil
}

// An Entry is a key of a scenario that a table of another file gives a value.
type Entry struct {
	Key   string // of the scenario, as the file has it
	Path  string // of the entry in the file
	Value any
}

// WholeTables returns the keys that make a table a value: that of an arrival process
// and that of a distribution.
func WholeTables() []string { return []string{"process", "dist"} }

// Entries returns what t, the table called path of a file, gives, in the order of
// the file, of which where tells the lines. A table in it is one of keys within its
// key, as dotted keys make it, unless it holds one of the keys whole, which make it a
// value.
func Entries(path string, t map[string]any, where func(key string) string, whole ...string) []Entry {
	var list []Entry
	var walk func(prefix, path string, t map[string]any)
	walk = func(prefix, path string, t map[string]any) {
		for key, value := range t { // sorted below
			full := strings.TrimPrefix(prefix+"."+key, ".")
			inner, nested := value.(map[string]any)
			if nested && !slices.ContainsFunc(whole, func(k string) bool { _, ok := inner[k]; return ok }) {
				walk(full, path+"."+key, inner)
				continue
			}
			list = append(list, Entry{full, path + "." + key, value})
		}
	}
	walk("", path, t)
	line := func(e Entry) int {
		at := where(e.Path)
		n, _ := strconv.Atoi(at[strings.LastIndexByte(at, ':')+1:]) // 0 if no line holds it
		return n
	}
	slices.SortFunc(list, func(a, b Entry) int {
		return cmp.Or(cmp.Compare(line(a), line(b)), cmp.Compare(a.Key, b.Key))
	})
	return list
}

// Setting returns the setting that e makes, with paths, which are from folder dir,
// from the working folder. where tells where in the file e stands.
func (e Entry) Setting(where func(key string) string, dir string) (Setting, error) {
	s, err := NewSetting(e.Key, e.Value, where(e.Path))
	if err != nil {
		return s, err
	}
	return s.From(dir), nil
}
