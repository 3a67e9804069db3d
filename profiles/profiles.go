// Package profiles holds the GPU profiles that ship with servesim, one TOML
// file each. Package gpu reads them and says what their keys mean.
package profiles

import "embed"

// FS holds the profiles, NAME.toml each.
//
//go:embed *.toml
var FS embed.FS
