package scenario

import (
	_ "embed"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"

	"servesim/analysis/export"
	"servesim/internal/strict"
	"servesim/sim/gpu"
	"servesim/sim/workload"
)

// defaultText is what a command without a scenario file simulates.
//
//go:embed default.toml
var defaultText string

// Default returns the text of the scenario that a Source without a path names.
func Default() string { return defaultText }

// defaultName stands for the embedded scenario in messages.
const defaultName = "the default scenario"

// StdinPath is the path that stands for standard input.
const StdinPath = "-"

// StdinName is what messages call it.
const StdinName = "standard input"

// A Source is where a scenario comes from: a file, and settings that change keys
// of it.
type Source struct {
	// Path is where the scenario is: "" is the embedded one, StdinPath standard input.
	Path string
	// Content is the text of the scenario, if it isn't to be read from Path, which
	// then only names it and the folder that its paths are from.
	Content string
	// Settings change it, in order.
	Settings []Setting
	Command  string    // that named it, for messages
	Stdin    io.Reader // standard input, nil if there is none
	// Shelf keeps what several scenarios name; nil if each reads it for itself.
	Shelf *Shelf
}

// With returns src with more settings, which must not undo its own.
func (src Source) With(more []Setting) (Source, error) {
	src.Settings = append(src.Settings[:len(src.Settings):len(src.Settings)], more...)
	return src, Conflicts(src.Settings)
}

// Override returns src with settings in the place of its own of the same keys.
func (src Source) Override(settings []Setting) Source {
	src.Settings = slices.DeleteFunc(slices.Clone(src.Settings), func(own Setting) bool {
		return slices.ContainsFunc(settings, func(s Setting) bool { return s.Key == own.Key })
	})
	src.Settings = append(src.Settings, settings...)
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
	if flag, ok := d.flag(key); ok {
		return flag
	}
	return d.at(key)
}

// flag returns what of the command line gave key, or a table around it.
func (d *document) flag(key string) (flag string, ok bool) {
	for k := key; k != ""; k = k[:max(strings.LastIndexAny(k, ".["), 0)] {
		if flag, ok := d.flags[k]; ok {
			return flag, true
		}
	}
	return "", false
}

// given tells whether the file or the command line gives key.
func (d *document) given(key string) bool {
	_, ok := d.value(key)
	return ok
}

// value returns what key, such as a.b[0].c, has in the tree.
func (d *document) value(key string) (x any, ok bool) {
	x = d.tree
	for part := range strings.SplitSeq(key, ".") {
		name, index, listed := strings.Cut(strings.TrimSuffix(part, "]"), "[")
		table, _ := x.(map[string]any)
		if x, ok = table[name]; !ok {
			return nil, false
		}
		if listed {
			items := tables(x)
			i, err := strconv.Atoi(index)
			if err != nil || i < 0 || i >= len(items) {
				return nil, false
			}
			x = items[i]
		}
	}
	return x, true
}

// tables returns the members of a list of tables, in either way in which TOML
// writes one; a member that isn't a table is nil.
func tables(x any) []map[string]any {
	if list, ok := x.([]map[string]any); ok {
		return list
	}
	list, _ := x.([]any)
	tables := make([]map[string]any, len(list))
	for i, item := range list {
		tables[i], _ = item.(map[string]any)
	}
	return tables
}

// load reads a scenario, applies the command line to it and decodes it. The
// faults are those of its keys and of their kinds.
func load(src Source) (*Scenario, *document, []strict.Fault) {
	file, text, err := src.read()
	if err != nil {
		return nil, nil, []strict.Fault{{Text: err.Error()}}
	}
	tree, err := strict.Parse(file, text)
	if err != nil {
		return nil, nil, []strict.Fault{notScenario(src.Path, err.(strict.Fault))}
	}
	d := &document{tree: tree, at: strict.Where(file, text), flags: map[string]string{}}
	if f, ok := strict.Schema(tree, schemaVersion, d.at); !ok {
		return nil, d, []strict.Fault{f}
	}
	d.rebase(filepath.Dir(src.Path))
	d.apply(src)
	var s Scenario
	faults := strict.Decode(tree, &s, d.where)
	if src.Path == "" {
		faults = append(faults, d.leaks(src)...)
	}
	return &s, d, faults
}

// leaks returns a fault if the command line puts another model in the place of
// that of the default scenario and would serve it in the same way without saying
// so: on as many GPUs, in the same format.
func (d *document) leaks(src Source) []strict.Fault {
	const tp, dtype = "hardware.tensor_parallel_size", "model.dtype"
	flag, replaced := d.flag("model.name")
	_, givenTP := d.flag(tp)
	_, givenDtype := d.flag(dtype)
	base, _ := strict.Parse(defaultName, defaultText)
	hardware, model := base["hardware"].(map[string]any), base["model"].(map[string]any)
	if now, ok := d.tree["model"].(map[string]any); ok {
		name, _ := now["name"].(string)
		replaced = replaced && !strings.EqualFold(name, model["name"].(string))
	}
	if !replaced || givenTP && givenDtype {
		return nil
	}
	var lent, add []string
	if !givenTP {
		lent, add = append(lent, fmt.Sprintf("tensor_parallel_size %v", hardware["tensor_parallel_size"])), append(add, " --tp 1")
	}
	if !givenDtype {
		lent, add = append(lent, fmt.Sprintf("dtype %v", model["dtype"])), append(add, " --dtype bf16")
	}
	such := ": " + src.Command + strings.Join(add, "")
	if src.Command == "" { // it isn't a command line that changes the scenario
		such = strings.NewReplacer(" --tp 1", " tp = 1", " --dtype bf16", " dtype = \"bf16\"").Replace(strings.Join(add, " and"))
	}
	return []strict.Fault{{Where: flag, Key: "model.name", Text: fmt.Sprintf(
		"without a scenario file it would run with %s, which the default scenario has for %s; say how this model is served, such as%s",
		strings.Join(lent, " and "), model["name"], such)}}
}

// notScenario says of a file that isn't TOML if it is a trace.
func notScenario(path string, f strict.Fault) strict.Fault {
	if path == "" || path == StdinPath {
		return f
	}
	t, err := workload.Open(path, workload.Options{Foreign: export.Traces()})
	if err == nil {
		workload.CloseSource(t)
	}
	ext := strings.ToLower(filepath.Ext(path))
	if err == nil || ext == ".csv" || ext == ".jsonl" {
		return strict.Fault{Where: path, Text: "looks like a trace, not a scenario; replay it with --trace " + path}
	}
	return f
}

// traceName is the name of a scenario that replays the trace at path.
func traceName(path string) string {
	if path == StdinPath {
		return StdinName
	}
	return filepath.Base(path)
}

// read returns the text of the scenario and the name to call it by.
func (src Source) read() (file, text string, err error) {
	switch path := src.Path; {
	case src.Content != "":
		return path, src.Content, nil
	case path == "":
		return defaultName, defaultText, nil
	case path == StdinPath && src.Stdin == nil:
		return StdinName, "", errors.New(StdinName + " isn't there to read a scenario from")
	case path == StdinPath:
		b, err := io.ReadAll(src.Stdin)
		return StdinName, string(b), err
	}
	b, err := os.ReadFile(src.Path)
	if err != nil {
		return src.Path, "", fmt.Errorf("%w; give the path of a scenario file, or none for the default scenario", err)
	}
	return src.Path, string(b), nil
}

// rebase makes the paths of a scenario file in folder dir, which are from
// there, paths from the working folder.
func (d *document) rebase(dir string) {
	if dir == "" || dir == "." {
		return
	}
	section := func(name string) map[string]any {
		table, _ := d.tree[name].(map[string]any)
		return table
	}
	change := func(table map[string]any, key string, rebased func(dir, path string) string) {
		if p, ok := table[key].(string); ok && p != "" && p != StdinPath {
			table[key] = rebased(dir, p)
		}
	}
	change(section("hardware"), "gpu", gpu.Rebase)
	change(section("model"), "name", gpu.Rebase)
	for _, table := range slices.Concat(tables(section("workload")["merge"]), []map[string]any{section("workload")}) {
		change(table, "trace", func(dir, path string) string {
			if filepath.IsAbs(path) {
				return path
			}
			return filepath.Join(dir, path)
		})
	}
}

// apply changes the tree as the command line says. A trace, or a preset that is to,
// takes the place of the whole workload, for what the file says of the old one wouldn't fit, and
// gives the scenario its name, for the old one may describe the old workload. A
// preset of limits takes the place of all the limits of the file.
func (d *document) apply(src Source) {
	for _, s := range src.Settings {
		if path, ok := s.Value.(string); ok && s.Replay {
			d.tree["name"] = traceName(path)
			d.tree["workload"] = map[string]any{}
			d.flags["name"], d.flags["workload"] = s.String(), s.String()
		}
	}
	for _, s := range src.Settings {
		if s.Key == "slo.preset" {
			d.tree["slo"] = map[string]any{}
		}
	}
	for _, s := range src.Settings {
		put(d.tree, s.Key, clone(s.Value))
		d.flags[s.Key] = s.String()
	}
	d.constants()
}

// constants makes a delay of which the command line gives the value alone a
// constant one.
func (d *document) constants() {
	network, _ := d.tree["network"].(map[string]any)
	for _, key := range []string{"request", "response"} {
		_, flag := d.flags["network."+key+".value"]
		if t, ok := network[key].(map[string]any); flag && ok && len(t) == 1 {
			t["dist"] = "constant"
		}
	}
}
