package main

import (
	"errors"
	"fmt"
	"reflect"
	"strings"

	"servesim/internal/strict"
)

// A setting is one key of a scenario and the value that the command line gives it.
type setting struct {
	key   string // in full
	value any    // as TOML decodes it
	text  string // as it was written, for messages and labels
	flag  string // the flag that gave it
	// replay tells that the value is a trace to replay: it takes the place of the
	// whole workload.
	replay bool
}

// String returns the flag and what it was given.
func (s setting) String() string { return s.flag + " " + s.text }

// parseSetting reads key=value. The key may be short, as fullKey says. The value
// is TOML; one that isn't TOML is a string. The key trace does what the flag
// --trace does, and model takes a name, as --model does, or the whole table.
func parseSetting(text string) (setting, error) {
	key, value, ok := strings.Cut(text, "=")
	if !ok || key == "" || value == "" {
		return setting{}, usagef("--set %s: must be key=value, such as max_num_seqs=64", text)
	}
	full, err := fullKey(strings.TrimSpace(key))
	if err != nil {
		return setting{}, usagef("--set %s: %w", text, err)
	}
	s := setting{key: full, value: tomlValue(strings.TrimSpace(value)), text: text, replay: strings.TrimSpace(key) == traceFlag}
	if _, table := s.value.(map[string]any); table && s.key == "model.name" {
		s.key = "model"
	}
	return s, nil
}

// traceFlag is the flag that replays a trace.
const traceFlag = "trace"

// scenarioName stands for the key name of the scenario itself, which alone could
// mean that of the model too.
const scenarioName = "scenario.name"

// aliasKey returns the key that the flag called name stands for.
func aliasKey(name string) (key string, ok bool) {
	if name == traceFlag {
		return "workload.trace", true
	}
	for _, s := range shortFlags {
		if s.name == name {
			return s.key, true
		}
	}
	return "", false
}

// conflicts returns a fault for each setting that would undo an earlier one: it
// gives the same key again, or a table that holds it.
func conflicts(settings []setting) error {
	var faults []error
	for i, s := range settings {
		for _, t := range settings[:i] {
			if s.key == t.key || strings.HasPrefix(t.key, s.key+".") {
				faults = append(faults, fmt.Errorf("%s: given by %s and again by %s, and one would undo the other; leave one out", s.key, t, s))
			}
		}
	}
	if err := errors.Join(faults...); err != nil {
		return &usageError{err}
	}
	return nil
}

// tomlValue decodes a TOML value; text that isn't one is a string.
func tomlValue(text string) any {
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
	case key == scenarioName:
		return "name", nil
	case key == "name":
		return "", fmt.Errorf("key %q is ambiguous; write %s for the title of the scenario, model.name for the model", key, scenarioName)
	}
	all := scenarioKeys()
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

// scenarioKeys lists every key that a scenario may have, in the order of its
// sections, as strict.Keys does.
func scenarioKeys() []string { return strict.Keys(reflect.TypeFor[scenario]()) }

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
