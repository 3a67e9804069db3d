package arch

import (
	"bytes"
	"go/ast"
	"go/parser"
	"go/token"
	"io/fs"
	"os"
	"path"
	"path/filepath"
	"strconv"
	"strings"
	"testing"
)

// module is the path of the module, as go.mod gives it.
const module = "servesim"

// A source is one Go file of the module.
type source struct {
	name  string // from the root of the module, with slashes
	dir   string // the folder of name; "." is the root
	test  bool   // name ends in _test.go
	lines int
	text  []byte
	fset  *token.FileSet
	ast   *ast.File
}

// at returns the file and line of a position, for messages.
func (s *source) at(pos token.Pos) string {
	return s.name + ":" + strconv.Itoa(s.fset.Position(pos).Line)
}

// imports returns the paths that s imports.
func (s *source) imports() []string {
	var paths []string
	for _, spec := range s.ast.Imports {
		p, err := strconv.Unquote(spec.Path.Value)
		if err == nil {
			paths = append(paths, p)
		}
	}
	return paths
}

// root returns the folder of the module's go.mod.
func root(t *testing.T) string {
	t.Helper()
	dir, err := os.Getwd()
	if err != nil {
		t.Fatal(err)
	}
	for {
		if _, err := os.Stat(filepath.Join(dir, "go.mod")); err == nil {
			return dir
		}
		up := filepath.Dir(dir)
		if up == dir {
			t.Fatal("there is no go.mod above the test")
		}
		dir = up
	}
}

// sources parses every Go file of the module. Nested modules, testdata and
// folders that begin with a dot or an underscore are not part of it.
func sources(t *testing.T) []*source {
	t.Helper()
	top := root(t)
	var list []*source
	err := filepath.WalkDir(top, func(p string, d fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		if d.IsDir() {
			if p != top && skipped(p, d.Name()) {
				return filepath.SkipDir
			}
			return nil
		}
		if filepath.Ext(p) != ".go" {
			return nil
		}
		rel, err := filepath.Rel(top, p)
		if err != nil {
			return err
		}
		s, err := parse(p, filepath.ToSlash(rel))
		list = append(list, s)
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	if len(list) < 10 {
		t.Fatalf("found only %d Go files under %s: the walk is broken", len(list), top)
	}
	return list
}

// skipped tells whether a folder is outside the module's packages.
func skipped(p, base string) bool {
	if base == "testdata" || strings.HasPrefix(base, ".") || strings.HasPrefix(base, "_") {
		return true
	}
	_, err := os.Stat(filepath.Join(p, "go.mod"))
	return err == nil
}

// parse reads the Go file at p, called name in messages.
func parse(p, name string) (*source, error) {
	text, err := os.ReadFile(p)
	if err != nil {
		return nil, err
	}
	return parseText(name, text)
}

// parseText parses text as the Go file called name.
func parseText(name string, text []byte) (*source, error) {
	fset := token.NewFileSet()
	file, err := parser.ParseFile(fset, name, text, parser.ParseComments)
	if err != nil {
		return nil, err
	}
	return &source{
		name: name, dir: path.Dir(name), test: strings.HasSuffix(name, "_test.go"),
		lines: bytes.Count(text, []byte("\n")), text: text, fset: fset, ast: file,
	}, nil
}

// A rule returns one sentence for each fault of a file.
type rule func(*source) []string

// check applies r to every file of the module that isn't a test, and to tests
// too if tests is set.
func check(t *testing.T, tests bool, r rule) {
	t.Helper()
	for _, s := range sources(t) {
		if s.test && !tests {
			continue
		}
		for _, fault := range r(s) {
			t.Error(fault)
		}
	}
}
