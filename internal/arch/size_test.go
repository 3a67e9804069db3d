package arch

import (
	"fmt"
	"go/ast"
	"testing"
)

// The budgets. What is over one does two things: divide it.
const (
	maxFileLines = 400
	maxFuncLines = 60
	maxParams    = 5
)

// sizeFaults returns what is too large in s. Tests have a budget for files
// only: a table of cases is one function however long.
func sizeFaults(s *source) []string {
	var faults []string
	if s.lines > maxFileLines {
		faults = append(faults, fmt.Sprintf("%s: %d lines; a file does one thing in at most %d", s.name, s.lines, maxFileLines))
	}
	if s.test {
		return faults
	}
	ast.Inspect(s.ast, func(n ast.Node) bool {
		fn, ok := n.(*ast.FuncDecl)
		if !ok {
			return true
		}
		lines := s.fset.Position(fn.End()).Line - s.fset.Position(fn.Pos()).Line + 1
		if lines > maxFuncLines {
			faults = append(faults, fmt.Sprintf("%s: %s has %d lines; a function has at most %d", s.at(fn.Pos()), fn.Name.Name, lines, maxFuncLines))
		}
		if n := fn.Type.Params.NumFields(); n > maxParams {
			faults = append(faults, fmt.Sprintf("%s: %s has %d parameters; more than %d want a struct", s.at(fn.Pos()), fn.Name.Name, n, maxParams))
		}
		return true
	})
	return faults
}

func TestSizes(t *testing.T) {
	check(t, true, sizeFaults)
}
