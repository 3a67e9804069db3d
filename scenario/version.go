package scenario

import "runtime/debug"

// Version returns the module's version as the go command stamped it; a build
// from a working tree is "(devel)".
func Version() string {
	info, ok := debug.ReadBuildInfo()
	if !ok || info.Main.Version == "" {
		return "(devel)"
	}
	return info.Main.Version
}
