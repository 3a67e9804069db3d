package gpu

import (
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"servesim/internal/strict"
)

// maxBases is the longest chain of profiles of which each is based on the next.
const maxBases = 8

// A profileTree is the tree of a profile file, with that of what it is based on
// merged into it.
type profileTree struct {
	values  map[string]any
	where   func(key string) string
	baseSum string // hash of the file that it is based on, empty if there is none
	root    string // name of the profile at the end of its bases
}

// readTree reads the text of a profile and of the profiles that it is based on.
// What a file says wins over its base, key by key, but a set kernels.NAME takes the
// place of the whole set of that name: its coefficients belong together. origin
// is never inherited. below are the files that are based on this one.
func readTree(file, text string, below []string) (profileTree, error) {
	at := strict.Where(file, text)
	own, err := strict.Parse(file, text)
	if err != nil {
		return profileTree{}, err
	}
	if f, ok := strict.Schema(own, schema, at); !ok {
		return profileTree{}, f
	}
	name, given := own["base"].(string)
	if !given {
		root, _ := own["name"].(string)
		return profileTree{values: own, where: at, root: root}, nil
	}
	fault := func(format string, args ...any) error {
		return strict.Fault{Where: at("base"), Key: "base", Text: fmt.Sprintf(format, args...)}
	}
	below = append(below, filepath.Clean(file))
	path, baseText, err := openProfile(Rebase(filepath.Dir(file), name))
	switch {
	case err != nil:
		return profileTree{}, fault("%v", err)
	case slices.Contains(below, filepath.Clean(path)):
		return profileTree{}, fault("found %q, which is based on this file itself: %s", name, strings.Join(append(below, path), " -> "))
	case len(below) >= maxBases:
		return profileTree{}, fault("found %q, the end of %d profiles of which each is based on the next; want %d at most", name, len(below)+1, maxBases)
	}
	base, err := readTree(path, baseText, below)
	if err != nil {
		return profileTree{}, err
	}
	forget(base.values, own)
	where := func(key string) string {
		for k := key; k != ""; k = parentKey(k) {
			if has(own, k) {
				return at(key)
			}
			if has(base.values, k) {
				return base.where(key)
			}
		}
		return at(key)
	}
	return profileTree{overlay(base.values, own), where, hashOf(baseText), base.root}, nil
}

// forget takes out of base what a profile based on it does not inherit though it
// may not say it: where base came from, and sets of kernels that own has its own of.
func forget(base, own map[string]any) {
	delete(base, "origin")
	sets, _ := base["kernels"].(map[string]any)
	mine, _ := own["kernels"].(map[string]any)
	for _, name := range sortedKeys(mine) {
		delete(sets, name)
	}
}

// ProfileSHA256 returns the hash of the file of the profile that LoadProfile calls
// name, in hexadecimal.
func ProfileSHA256(name string) (string, error) {
	_, text, err := openProfile(name)
	return hashOf(text), err
}

func hashOf(text string) string {
	sum := sha256.Sum256([]byte(text))
	return hex.EncodeToString(sum[:])
}

// openProfile returns the text of the profile that LoadProfile calls name, and
// what errors call its file.
func openProfile(name string) (file, text string, err error) {
	if isPath(name) {
		b, err := os.ReadFile(name)
		if err != nil {
			return name, "", fmt.Errorf("reading a GPU profile: %w", err)
		}
		return name, string(b), nil
	}
	return shippedProfile(name)
}

// overlay returns base with what over says in its place.
func overlay(base, over map[string]any) map[string]any {
	out := make(map[string]any, len(base)+len(over))
	for _, k := range sortedKeys(base) {
		out[k] = base[k]
	}
	for _, k := range sortedKeys(over) {
		below, isTable := over[k].(map[string]any)
		under, wasTable := base[k].(map[string]any)
		if isTable && wasTable {
			out[k] = overlay(under, below)
		} else {
			out[k] = over[k]
		}
	}
	return out
}

// has tells whether tree has the dotted key.
func has(tree map[string]any, key string) bool {
	var x any = tree
	for part := range strings.SplitSeq(key, ".") {
		name, _, _ := strings.Cut(part, "[")
		table, ok := x.(map[string]any)
		if !ok {
			return false
		}
		if x, ok = table[name]; !ok {
			return false
		}
	}
	return true
}

// parentKey returns the key of the table that key stands in, or "".
func parentKey(key string) string {
	return key[:max(strings.LastIndexAny(key, ".["), 0)]
}
