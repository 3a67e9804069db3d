package arch

import (
	"fmt"
	"go/ast"
	"slices"
	"testing"
)

// approximate lists the functions of math whose last bits depend on the
// processor, because they are assembly there or because the compiler fuses
// products and sums in them.
func approximate() []string {
	return []string{
		"Acos", "Acosh", "Asin", "Asinh", "Atan", "Atan2", "Atanh", "Cbrt", "Cos", "Cosh", "Erf", "Erfc", "Erfcinv", "Erfinv",
		"Exp", "Exp2", "Expm1", "Gamma", "Hypot", "J0", "J1", "Jn", "Lgamma", "Log", "Log10", "Log1p", "Log2", "Pow",
		"Sin", "Sincos", "Sinh", "Tan", "Tanh", "Y0", "Y1", "Yn",
	}
}

// machineFaults returns calls whose result depends on the machine.
func machineFaults(s *source) []string {
	var faults []string
	ast.Inspect(s.ast, func(n ast.Node) bool {
		sel, ok := n.(*ast.SelectorExpr)
		if !ok {
			return true
		}
		pkg, _ := sel.X.(*ast.Ident)
		name := sel.Sel.Name
		switch {
		case pkg != nil && pkg.Name == "math" && slices.Contains(approximate(), name):
			faults = append(faults, fmt.Sprintf("%s: the last bits of math.%s depend on the processor; use package portable", s.at(n.Pos()), name))
		}
		return true
	})
	return faults
}

func TestResultsDoNotDependOnTheMachine(t *testing.T) { check(t, false, machineFaults) }
