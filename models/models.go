// Package models holds the shapes of the models that ship with servesim, one
// TOML file each. Package gpu reads them and says what their keys mean.
package models

import "embed"

// FS holds the models, NAME.toml each.
//
//go:embed *.toml
var FS embed.FS
