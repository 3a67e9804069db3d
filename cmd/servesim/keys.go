package main

import (
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
}

// parseSetting reads key=value. The key may be short, as fullKey says. The value
// is TOML; one that isn't TOML is a string.
func parseSetting(text string) (setting, error) {
	key, value, ok := strings.Cut(text, "=")
	if !ok || key == "" || value == "" {
		return setting{}, usagef("--set %s: must be key=value, such as max_num_seqs=64", text)
	}
	full, err := fullKey(strings.TrimSpace(key))
	if err != nil {
		return setting{}, usagef("--set %s: %w", text, err)
	}
	return setting{key: full, value: tomlValue(strings.TrimSpace(value)), text: text}, nil
}

// tomlValue decodes a TOML value; text that isn't one is a string.
func tomlValue(text string) any {
	tree, err := strict.Parse("", "value = "+text)
	if err == nil && len(tree) == 1 {
		return tree["value"]
	}
	return text
}

// fullKey returns the key of a scenario that key names in full or by its last
// parts: of several keys that end so, the one with the fewest parts.
func fullKey(key string) (string, error) {
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
		return "", fmt.Errorf("unknown key %q; servesim run --print shows the keys of a scenario", key)
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
