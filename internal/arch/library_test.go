package arch

import (
	"fmt"
	"go/ast"
	"go/token"
	"slices"
	"strings"
	"testing"
)

// opensFiles lists the packages that may import os: the command, and those
// whose trade is a file. What they open is named by their caller.
func opensFiles() []string {
	return []string{"cmd/servesim", "scenario", "sweep", "sim/workload", "sim/gpu", "sim/observe"}
}

// talkFaults returns where a library touches the world behind its caller's
// back: the process, its streams, its clock.
func talkFaults(s *source) []string {
	if s.dir == "cmd/servesim" {
		return nil
	}
	var faults []string
	for _, p := range s.imports() {
		switch {
		case p == "os" && !slices.Contains(opensFiles(), s.dir):
			faults = append(faults, fmt.Sprintf("%s: imports os; take an io.Reader, io.Writer or fs.FS instead", s.name))
		case p == "log" || p == "log/slog":
			faults = append(faults, fmt.Sprintf("%s: imports %s; a library doesn't log: return an error, a warning or a record", s.name, p))
		}
	}
	return append(faults, callFaults(s)...)
}

// callFaults returns the calls in s that a library must not make.
func callFaults(s *source) []string {
	var faults []string
	ast.Inspect(s.ast, func(n ast.Node) bool {
		sel, ok := n.(*ast.SelectorExpr)
		if !ok {
			return true
		}
		pkg, ok := sel.X.(*ast.Ident)
		if !ok {
			return true
		}
		switch name := pkg.Name + "." + sel.Sel.Name; name {
		case "fmt.Print", "fmt.Println", "fmt.Printf":
			faults = append(faults, fmt.Sprintf("%s: %s writes to the process's stdout; take an io.Writer", s.at(n.Pos()), name))
		case "os.Exit", "os.Getenv", "os.LookupEnv", "os.Stdout", "os.Stderr", "os.Stdin", "os.Args":
			faults = append(faults, fmt.Sprintf("%s: %s belongs to the command; return an error or take an argument", s.at(n.Pos()), name))
		case "time.Now", "time.Since", "time.Sleep", "time.After", "time.Tick":
			faults = append(faults, fmt.Sprintf("%s: %s reads the wall clock, which must not reach a result; use sim.Time", s.at(n.Pos()), name))
		}
		return true
	})
	return faults
}

// randFaults returns uses of randomness that no seed governs.
func randFaults(s *source) []string {
	var faults []string
	for _, p := range s.imports() {
		if p == "math/rand" {
			faults = append(faults, fmt.Sprintf("%s: imports math/rand; draw from a sim.Seed's stream", s.name))
		}
	}
	ast.Inspect(s.ast, func(n ast.Node) bool {
		call, ok := n.(*ast.CallExpr)
		if !ok {
			return true
		}
		sel, ok := call.Fun.(*ast.SelectorExpr)
		if !ok {
			return true
		}
		pkg, ok := sel.X.(*ast.Ident)
		if ok && pkg.Name == "rand" && pkg.Obj == nil && !strings.HasPrefix(sel.Sel.Name, "New") {
			faults = append(faults, fmt.Sprintf("%s: rand.%s draws from a global stream; draw from a sim.Seed's", s.at(n.Pos()), sel.Sel.Name))
		}
		return true
	})
	return faults
}

// stateFaults returns the init functions and the package variables of s that
// aren't constants in all but name: errors, embedded files, tables, checks that
// a type implements an interface.
func stateFaults(s *source) []string {
	var faults []string
	for _, decl := range s.ast.Decls {
		switch d := decl.(type) {
		case *ast.FuncDecl:
			if d.Recv == nil && d.Name.Name == "init" {
				faults = append(faults, fmt.Sprintf("%s: init runs behind the reader's back; call what it does where it's needed", s.at(d.Pos())))
			}
		case *ast.GenDecl:
			if d.Tok == token.VAR {
				faults = append(faults, varFaults(s, d)...)
			}
		}
	}
	return faults
}

// varFaults returns the variables of a package-level declaration that can change.
func varFaults(s *source, d *ast.GenDecl) []string {
	var faults []string
	for _, spec := range d.Specs {
		v, ok := spec.(*ast.ValueSpec)
		if !ok || embedded(d, v) {
			continue
		}
		for i, name := range v.Names {
			if name.Name == "_" || i < len(v.Values) && constant(v.Values[i]) && !assigned(s, name.Name) {
				continue
			}
			faults = append(faults, fmt.Sprintf("%s: package variable %s can change; make it a function's result or a field", s.at(name.Pos()), name.Name))
		}
	}
	return faults
}

// embedded tells whether a variable holds embedded files.
func embedded(d *ast.GenDecl, v *ast.ValueSpec) bool {
	for _, group := range []*ast.CommentGroup{d.Doc, v.Doc} {
		if group == nil {
			continue
		}
		for _, c := range group.List {
			if strings.HasPrefix(c.Text, "//go:embed ") {
				return true
			}
		}
	}
	return false
}

// constant tells whether e is a table, an error or a compiled pattern.
func constant(e ast.Expr) bool {
	switch v := e.(type) {
	case *ast.CompositeLit:
		return true
	case *ast.CallExpr:
		sel, ok := v.Fun.(*ast.SelectorExpr)
		if !ok {
			return false
		}
		pkg, ok := sel.X.(*ast.Ident)
		return ok && slices.Contains([]string{"errors.New", "fmt.Errorf", "regexp.MustCompile", "big.NewInt"}, pkg.Name+"."+sel.Sel.Name)
	}
	return false
}

// assigned tells whether s assigns to name, to a part of it, or takes its address.
func assigned(s *source, name string) bool {
	found := false
	ast.Inspect(s.ast, func(n ast.Node) bool {
		switch v := n.(type) {
		case *ast.AssignStmt:
			for _, left := range v.Lhs {
				found = found || v.Tok != token.DEFINE && base(left) == name
			}
		case *ast.IncDecStmt:
			found = found || base(v.X) == name
		case *ast.UnaryExpr:
			found = found || v.Op == token.AND && base(v.X) == name
		}
		return true
	})
	return found
}

// base returns the name of the variable that e is a part of, or "".
func base(e ast.Expr) string {
	switch v := e.(type) {
	case *ast.Ident:
		return v.Name
	case *ast.IndexExpr:
		return base(v.X)
	case *ast.SelectorExpr:
		return base(v.X)
	case *ast.StarExpr:
		return base(v.X)
	}
	return ""
}

func TestLibrariesKeepQuiet(t *testing.T) { check(t, false, talkFaults) }

func TestRandomnessHasASeed(t *testing.T) { check(t, false, randFaults) }

func TestNoHiddenState(t *testing.T) { check(t, false, stateFaults) }
