package gpu

import (
	"os"
	"path/filepath"
	"strings"
)

// isPath tells whether the name of a profile or model may be that of a file: it has
// a slash, or ends in .toml or .json. An id of a model has a slash too.
func isPath(name string) bool { return strings.ContainsAny(name, `/\`) || isFile(name) }

// isFile tells whether a name ends as that of a file that can be read here.
func isFile(name string) bool {
	ext := filepath.Ext(name)
	return strings.EqualFold(ext, ".toml") || strings.EqualFold(ext, ".json")
}

// Rebase returns the name of a profile or model that stands in a file of folder dir:
// a path, which is from there, as one from the working folder, and any other name
// as it is. A name such as org/name is a path only if something is there.
func Rebase(dir, name string) string {
	if !isPath(name) || filepath.IsAbs(name) {
		return name
	}
	path := filepath.Join(dir, name)
	if strings.HasPrefix(name, ".") || isFile(name) {
		return path
	}
	if _, err := os.Stat(path); err != nil {
		return name
	}
	return path
}
