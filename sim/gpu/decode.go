package gpu

import (
	"maps"
	"slices"

	"servesim/internal/strict"
)

// schema is the version of profile and model files that this package reads.
const schema = 1

// decode reads the TOML text of file into the struct that into points to; where
// is strict.Where of both. Every field is a key, and its want tag names one of
// ranges or says that the key is optional. The error joins every fault; a syntax
// fault or a foreign schema stops the reading and comes alone.
func decode(file, text string, into any, where func(key string) string) error {
	tree, err := strict.Parse(file, text)
	if err != nil {
		return err
	}
	if f, ok := strict.Schema(tree, schema, where); !ok {
		return f
	}
	return strict.Join(strict.Rules{Ranges: ranges(), Whole: true}.Decode(tree, into, where))
}

// ranges returns the ranges that a want tag can name. The bounds are wide: they
// keep out slips of a unit and values with which sums would overflow.
func ranges() []strict.Range {
	return []strict.Range{
		{Name: "rate", What: "a rate per second", Min: 1e6, Max: 1e20},
		{Name: "span", What: "a number of seconds", Min: 0, Max: 1},
		{Name: "signed-span", What: "a number of seconds", Min: -1, Max: 1},
		{Name: "delay", What: "a number of seconds", Min: 0, Max: 3600},
		{Name: "bytes", What: "a number of bytes", Min: 0, Max: 1e15},
		{Name: "size", What: "a number of bytes", Min: 1, Max: 1e15},
		{Name: "ratio", What: "a ratio", Min: 0.01, Max: 100},
		{Name: "error", What: "a relative error", Min: 0, Max: 100},
		{Name: "power", What: "a number of watts", Min: 1, Max: 1e6},
		{Name: "price", What: "a number of US dollars", Min: 0, Max: 1e6},
		{Name: "rows", What: "a whole number", Min: 0, Max: 1 << 40},
		counts(),
	}
}

// counts returns the range of the numbers of tokens, layers and the like.
func counts() strict.Range {
	return strict.Range{Name: "count", What: "a whole number", Min: 1, Max: 1 << 30}
}

// sortedKeys returns the keys of m in order.
func sortedKeys[V any](m map[string]V) []string { return slices.Sorted(maps.Keys(m)) }
