// Package slo holds the presets of latency limits that ship with servesim, one
// TOML file each: what users of a kind of service must get. Package analysis
// reads them and says how limits are written.
package slo

import "embed"

// Schema is the version of the files.
const Schema = 1

// FS holds the presets, NAME.toml each.
//
//go:embed *.toml
var FS embed.FS
