package arch

import (
	"bytes"
	"fmt"
	"go/ast"
	"strings"
	"testing"
)

// commentFaults returns the exported names of s that have no comment.
func commentFaults(s *source) []string {
	var faults []string
	fault := func(n ast.Node, name string) {
		faults = append(faults, fmt.Sprintf("%s: %s has no comment; say what it is, its unit, its errors", s.at(n.Pos()), name))
	}
	for _, decl := range s.ast.Decls {
		switch d := decl.(type) {
		case *ast.FuncDecl:
			if d.Name.IsExported() && exportedReceiver(d) && d.Doc == nil {
				fault(d, d.Name.Name)
			}
		case *ast.GenDecl:
			for _, spec := range d.Specs {
				if name, ok := bare(d, spec); ok {
					fault(spec, name)
				}
			}
		}
	}
	return faults
}

// exportedReceiver tells whether fn isn't a method, or one of an exported type.
func exportedReceiver(fn *ast.FuncDecl) bool {
	if fn.Recv == nil {
		return true
	}
	t := fn.Recv.List[0].Type
	for {
		switch v := t.(type) {
		case *ast.StarExpr:
			t = v.X
		case *ast.IndexExpr:
			t = v.X
		case *ast.Ident:
			return v.IsExported()
		default:
			return true
		}
	}
}

// bare returns the exported name of a spec that neither it nor its group
// comments on.
func bare(d *ast.GenDecl, spec ast.Spec) (name string, ok bool) {
	switch v := spec.(type) {
	case *ast.TypeSpec:
		return v.Name.Name, v.Name.IsExported() && d.Doc == nil && v.Doc == nil
	case *ast.ValueSpec:
		for _, n := range v.Names {
			if n.IsExported() && d.Doc == nil && v.Doc == nil && v.Comment == nil {
				return n.Name, true
			}
		}
	}
	return "", false
}

// debtFaults returns the notes of work put off that s carries.
func debtFaults(s *source) []string {
	var faults []string
	for i, line := range bytes.Split(s.text, []byte("\n")) {
		for _, mark := range []string{"TO" + "DO", "FIX" + "ME", "XX" + "X", "HA" + "CK"} {
			if bytes.Contains(line, []byte(mark)) {
				faults = append(faults, fmt.Sprintf("%s:%d: %s; do it, or put it on the tracker", s.name, i+1, mark))
			}
		}
	}
	return faults
}

func TestExportedNamesHaveComments(t *testing.T) { check(t, false, commentFaults) }

func TestNoDebt(t *testing.T) { check(t, true, debtFaults) }

// TestEveryPackageHasDoc wants the package comment of every folder of code in
// its doc.go, or in its file if it has only one.
func TestEveryPackageHasDoc(t *testing.T) {
	files, doc := map[string]int{}, map[string]string{}
	for _, s := range sources(t) {
		if s.test {
			continue
		}
		files[s.dir]++
		if s.ast.Doc != nil {
			doc[s.dir] = s.name
		}
	}
	for dir, n := range files {
		if n > 1 && !strings.HasSuffix(doc[dir], "/doc.go") || doc[dir] == "" {
			t.Errorf("%s has no doc.go with a package comment; say what the package is, and what it isn't", dir)
		}
	}
}
