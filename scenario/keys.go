package scenario

import (
	"errors"
	"fmt"
	"reflect"
	"strconv"
	"strings"

	"servesim/internal/strict"
)

// A Setting is one key of a scenario and the value that it is given in the place
// of what the file has.
type Setting struct {
	Key   string // in full
	Value any    // as TOML decodes it
	Text  string // as it was written, for messages and labels
	Flag  string // the flag that gave it
	// Replay tells that the value is a trace to replay, or a preset: it takes the place
	// of the whole workload.
	Replay bool
}

// String returns the flag and what it was given.
func (s Setting) String() string { return s.Flag + " " + s.Text }

// ParseSetting reads key=value. The key may be short, as fullKey says. The value
// is TOML; one that isn't TOML is a string. The key trace does what the flag
// --trace does, and model takes a name, as --model does, or the whole table.
func ParseSetting(text string) (Setting, error) {
	key, value, ok := strings.Cut(text, "=")
	if !ok || key == "" || value == "" {
		return Setting{}, usagef("--set %s: must be key=value, such as max_num_seqs=64", text)
	}
	full, err := fullKey(strings.TrimSpace(key))
	if err != nil {
		return Setting{}, usagef("--set %s: %w", text, err)
	}
	s := Setting{Key: full, Value: TOMLValue(strings.TrimSpace(value)), Text: text, Replay: strings.TrimSpace(key) == TraceAlias}
	return s.whole(), nil
}

// NewSetting returns the setting that gives key, which may be short as fullKey says,
// a value as TOML decodes it. from says in messages where it was given.
func NewSetting(key string, value any, from string) (Setting, error) {
	full, err := fullKey(key)
	if err != nil {
		return Setting{}, usagef("%s: %w", from, err)
	}
	s := Setting{Key: full, Value: value, Text: key + "=" + ValueText(value), Flag: from, Replay: key == TraceAlias}
	return s.whole(), nil
}

// whole returns s as one of the whole model if its value is a table: the name of a
// model alone stands for its key.
func (s Setting) whole() Setting {
	if _, table := s.Value.(map[string]any); table && s.Key == "model.name" {
		s.Key = "model"
	}
	return s
}

// From returns s with its paths, which are from folder dir, as paths from the
// working folder, as those of a scenario file in dir.
func (s Setting) From(dir string) Setting {
	tree := map[string]any{}
	put(tree, s.Key, clone(s.Value))
	d := document{tree: tree}
	d.rebase(dir)
	s.Value, _ = d.value(s.Key)
	return s
}

// clone returns a copy of a TOML value that shares nothing with it.
func clone(value any) any {
	switch v := value.(type) {
	case map[string]any:
		c := make(map[string]any, len(v))
		for k, x := range v {
			c[k] = clone(x)
		}
		return c
	case []any:
		c := make([]any, len(v))
		for i, x := range v {
			c[i] = clone(x)
		}
		return c
	}
	return value
}

// ValueText writes a TOML value as people write one: a string without its quotes.
func ValueText(value any) string {
	switch v := value.(type) {
	case string:
		return v
	case float64:
		return strconv.FormatFloat(v, 'g', -1, 64)
	case []any:
		var items []string
		for _, x := range v {
			items = append(items, ValueText(x))
		}
		return "[" + strings.Join(items, ", ") + "]"
	case map[string]any:
		var items []string
		for _, k := range sortedKeys(v) {
			items = append(items, k+" = "+ValueText(v[k]))
		}
		return "{" + strings.Join(items, ", ") + "}"
	}
	return fmt.Sprint(value)
}

// TraceAlias is the flag that replays a trace.
const TraceAlias = "trace"

// TitleKey stands for the key name of the scenario itself, which alone could
// mean that of the model too.
const TitleKey = "scenario.name"

// aliasKey returns the key that the flag called name stands for.
func aliasKey(name string) (key string, ok bool) {
	if name == TraceAlias {
		return "workload.trace", true
	}
	for _, s := range Aliases() {
		if s.Name == name {
			return s.Key, true
		}
	}
	return "", false
}

// Conflicts returns a fault for each setting that would undo an earlier one: it
// gives the same key again, or a table that holds it.
func Conflicts(settings []Setting) error {
	var faults []error
	for i, s := range settings {
		for _, t := range settings[:i] {
			if s.Key == t.Key || strings.HasPrefix(t.Key, s.Key+".") {
				faults = append(faults, fmt.Errorf("%s: given by %s and again by %s, and one would undo the other; leave one out", s.Key, t, s))
			}
		}
	}
	if err := errors.Join(faults...); err != nil {
		return &UsageError{err}
	}
	return nil
}

// TOMLValue decodes a TOML value; text that isn't one is a string.
func TOMLValue(text string) any {
	tree, err := strict.Parse("", "value = "+text)
	if err == nil && len(tree) == 1 {
		return tree["value"]
	}
	return text
}

// fullKey returns the key of a scenario that key names in full, as a flag does, or
// by its last parts: of several keys that end so, the one with the fewest parts.
func fullKey(key string) (string, error) {
	switch full, ok := aliasKey(key); {
	case ok:
		return full, nil
	case key == TitleKey:
		return "name", nil
	case key == "preset": // of a workload; that of limits has a flag, slo
		return "workload.preset", nil
	case key == "name":
		return "", fmt.Errorf("key %q is ambiguous; write %s for the title of the scenario, model.name for the model", key, TitleKey)
	}
	all := Keys()
	var matches, short []string
	depth := 0
	for _, k := range all {
		if k == key || openTable(k, key) {
			return key, nil
		}
		short = append(short, k[strings.LastIndexByte(k, '.')+1:])
		if !strings.HasSuffix(k, "."+key) {
			continue
		}
		if n := strings.Count(k, "."); len(matches) == 0 || n < depth {
			matches, depth = []string{k}, n
		} else if n == depth {
			matches = append(matches, k)
		}
	}
	switch len(matches) {
	case 1:
		return matches[0], nil
	case 0:
		names := all
		if !strings.Contains(key, ".") {
			names = append(short, all...)
		}
		if name, ok := strict.Nearest(key, names); ok {
			return "", fmt.Errorf("unknown key %q; did you mean %q?", key, name)
		}
		return "", fmt.Errorf("unknown key %q; servesim list keys shows the keys of a scenario", key)
	}
	return "", fmt.Errorf("key %q is ambiguous; it may be %s", key, strings.Join(matches, " or "))
}

// openTable tells whether pattern, which ends in .*, covers key.
func openTable(pattern, key string) bool {
	table, open := strings.CutSuffix(pattern, "*")
	return open && strings.HasPrefix(key, table)
}

// Keys lists every key that a scenario may have, in the order of its
// sections, as strict.Keys does.
func Keys() []string { return strict.Keys(reflect.TypeFor[Scenario]()) }

// put sets a dotted key of tree, and makes the tables on its way.
func put(tree map[string]any, key string, value any) {
	head, rest, dotted := strings.Cut(key, ".")
	if !dotted {
		tree[key] = value
		return
	}
	sub, ok := tree[head].(map[string]any)
	if !ok {
		sub = map[string]any{}
		tree[head] = sub
	}
	put(sub, rest, value)
}
