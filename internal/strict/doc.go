// Package strict reads TOML files that people write, and tells them everything
// that is wrong: keys that don't exist, with the nearest that does, keys that are
// missing, and values of the wrong kind or out of range, all at once, each with
// its line.
//
// It decodes into structs by their toml tags. A key that is absent leaves its
// field alone, so optional keys are pointers; Rules say which must be there, and
// what numbers may be. What else a value may be is for the caller to judge; its
// faults are Faults too.
package strict
