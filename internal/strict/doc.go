// Package strict reads TOML files that people write, and tells them everything
// that is wrong: keys that don't exist, with the nearest that does, and values
// of the wrong kind, all at once, each with its line.
//
// It decodes into structs by their toml tags. A key that is absent leaves its
// field alone, so optional keys are pointers. What a value may be beyond its
// kind is for the caller to judge; its faults are Faults too.
package strict
