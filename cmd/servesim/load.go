package main

import (
	_ "embed"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strings"

	"servesim/internal/strict"
)

// defaultScenario is what a command without a scenario file simulates.
//
//go:embed default.toml
var defaultScenario string

// defaultName stands for the embedded scenario in messages.
const defaultName = "the default scenario"

// stdinPath is the path that stands for standard input.
const stdinPath = "-"

// stdinName is what messages call it.
const stdinName = "standard input"

// A source is where a scenario comes from: a file, and what the command line
// changes in it.
type source struct {
	path     string // "" is the embedded scenario
	trace    string // a trace that takes the place of the workload, or ""
	settings []setting
}

// with returns src with more settings, which come after its own.
func (src source) with(more []setting) source {
	src.settings = append(src.settings[:len(src.settings):len(src.settings)], more...)
	return src
}

// A document is a scenario's tree of values and where each was written.
type document struct {
	tree  map[string]any
	at    func(key string) string // of the file
	flags map[string]string       // keys that the command line gave, and how
}

// where tells where a key was written.
func (d *document) where(key string) string {
	for k := key; k != ""; k = k[:max(strings.LastIndexAny(k, ".["), 0)] {
		if flag, ok := d.flags[k]; ok {
			return flag
		}
	}
	return d.at(key)
}

// load reads a scenario, applies the command line to it and decodes it. The
// faults are those of its keys and of their kinds.
func load(e env, src source) (*scenario, *document, []strict.Fault) {
	file, text, err := readScenario(e, src.path)
	if err != nil {
		return nil, nil, []strict.Fault{{Text: err.Error()}}
	}
	tree, err := strict.Parse(file, text)
	if err != nil {
		return nil, nil, []strict.Fault{err.(strict.Fault)}
	}
	d := &document{tree: tree, at: strict.Where(file, text), flags: map[string]string{}}
	if f, ok := strict.Schema(tree, schemaVersion, d.at); !ok {
		return nil, d, []strict.Fault{f}
	}
	d.rebase(filepath.Dir(src.path))
	d.apply(src)
	var s scenario
	faults := strict.Decode(tree, &s, d.where)
	return &s, d, faults
}

// traceName is the name of a scenario that replays the trace at path.
func traceName(path string) string {
	if path == stdinPath {
		return stdinName
	}
	return filepath.Base(path)
}

// readScenario returns the text of a scenario and the name to call it by.
func readScenario(e env, path string) (file, text string, err error) {
	switch path {
	case "":
		return defaultName, defaultScenario, nil
	case stdinPath:
		b, err := io.ReadAll(e.stdin)
		return stdinName, string(b), err
	}
	b, err := os.ReadFile(path)
	if err != nil {
		return path, "", fmt.Errorf("%w; give the path of a scenario file, or none for the default scenario", err)
	}
	return path, string(b), nil
}

// rebase makes the paths of a scenario file in folder dir, which are from
// there, paths from the working folder.
func (d *document) rebase(dir string) {
	if dir == "" || dir == "." {
		return
	}
	for _, key := range [][2]string{{"workload", "trace"}, {"hardware", "gpu"}, {"model", "name"}} {
		table, ok := d.tree[key[0]].(map[string]any)
		if !ok {
			continue
		}
		p, ok := table[key[1]].(string)
		isPath := key[1] == "trace" || strings.HasPrefix(p, ".") || strings.HasSuffix(p, ".toml") || strings.HasSuffix(p, ".json")
		if ok && p != "" && p != stdinPath && isPath && !filepath.IsAbs(p) {
			table[key[1]] = filepath.Join(dir, p)
		}
	}
}

// apply changes the tree as the command line says. A trace takes the place of
// the whole workload, for what the file says of the old one wouldn't fit, and
// gives the scenario its name, for the old one may describe the old workload.
func (d *document) apply(src source) {
	if src.trace != "" {
		d.tree["name"] = traceName(src.trace)
		d.flags["name"] = "--trace " + src.trace
		d.tree["workload"] = map[string]any{"trace": src.trace}
		d.flags["workload"] = "--trace " + src.trace
	}
	for _, s := range src.settings {
		put(d.tree, s.key, s.value)
		d.flags[s.key] = s.flag + " " + s.text
	}
}
