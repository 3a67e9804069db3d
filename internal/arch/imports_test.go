package arch

import (
	"fmt"
	"maps"
	"slices"
	"strings"
	"testing"
)

// may is policy: the code of a package may import these of servesim's own
// packages and no others. Widening a row is a design decision, not a build
// fix. A row's package may be a test's import anywhere: tests cross layers.
func may() map[string][]string {
	return map[string][]string{
		"sim":                 {},
		"sim/workload":        {"sim", "internal/strict", "internal/portable", "internal/exact", "internal/infile"},
		"sim/kv":              {},
		"sim/scheduler":       {"sim/kv"},
		"sim/gpu":             {"sim", "internal/strict", "profiles", "models"},
		"sim/gpu/fit":         {"sim/gpu", "internal/portable"},
		"sim/observe":         {"sim"},
		"sim/engine":          {"sim", "sim/workload", "sim/scheduler", "sim/kv", "sim/gpu", "sim/observe"},
		"internal/stepwise":   {"sim", "sim/workload", "sim/scheduler", "sim/kv", "sim/gpu", "sim/observe", "sim/engine"},
		"internal/conform":    {"sim/scheduler", "sim/kv"},
		"internal/strict":     {},
		"internal/exact":      {"sim"},
		"internal/jsonread":   {"internal/infile"},
		"internal/infile":     {},
		"internal/portable":   {},
		"internal/workers":    {},
		"internal/arch":       {},
		"analysis":            {"sim", "sim/observe", "internal/strict", "internal/portable", "slo"},
		"analysis/export":     {"analysis/transcript", "sim", "sim/observe", "sim/workload", "internal/exact", "internal/infile", "internal/jsonread"},
		"analysis/blame":      {"sim", "sim/observe"},
		"analysis/transcript": {"sim", "sim/observe"},
		"analysis/dialect":    {"sim", "sim/observe", "analysis", "analysis/transcript"},
		"analysis/publish":    {"analysis", "analysis/dialect", "analysis/transcript", "analysis/publish/perfetto", "sim", "sim/observe", "internal/exact"},
		"analysis/tail":       {"analysis", "sim", "sim/observe", "internal/portable"},
		"report":              {"analysis", "analysis/tail", "analysis/blame", "analysis/dialect", "analysis/export", "sim", "sim/observe"},
		"report/figure":       {"analysis", "analysis/blame", "sim", "sim/observe", "internal/portable"},
		"report/lives":        {"analysis/blame", "sim", "sim/observe"},
		"report/page":         {"report", "report/figure", "report/lives", "analysis", "analysis/blame", "sim", "sim/observe"},
		"report/still":        {"report/figure", "analysis", "analysis/blame", "internal/portable"},
		"scenario":            {"sim", "sim/workload", "sim/scheduler", "sim/kv", "sim/gpu", "sim/observe", "sim/engine", "analysis", "analysis/export", "analysis/transcript", "report", "internal/strict", "profiles", "models"},
		"sweep":               {"sim", "sim/observe", "analysis", "report", "scenario", "internal/strict", "internal/portable", "internal/workers"},
		"gate":                {"sim", "sim/workload", "sim/observe", "analysis", "analysis/dialect", "analysis/export", "analysis/transcript", "report", "scenario", "internal/strict", "internal/workers"},
		"explain":             {"sim", "sim/observe", "sim/workload", "analysis", "analysis/blame", "report", "scenario", "internal/workers"},
		"capacity":            {"sim", "sim/workload", "sim/observe", "sim/engine", "sim/gpu", "analysis", "report", "scenario", "internal/portable", "internal/workers"},
		"claim":               {"sim", "sim/workload", "sim/observe", "sim/gpu", "analysis", "report", "scenario", "internal/workers"},
		"hardware":            {"sim", "sim/observe", "sim/gpu", "analysis", "report", "scenario", "capacity", "internal/workers"},
		"reproduce":           {"sim", "sim/gpu", "sim/observe", "analysis", "analysis/dialect", "analysis/tail", "analysis/transcript", "report", "scenario", "sweep", "capacity", "explain", "internal/strict", "internal/workers"},
		"validate":            {"sim", "sim/workload", "sim/scheduler", "sim/gpu", "sim/observe", "sim/engine", "analysis", "internal/workers"},
		"calibrate":           {"sim", "sim/workload", "sim/scheduler", "sim/gpu", "sim/observe", "sim/engine", "analysis/transcript", "validate", "calibrate/vllmlog", "internal/portable", "internal/strict", "internal/workers"},
		"calibrate/vllmlog":   {"internal/infile"},
		"profiles":            {},
		"models":              {},
		"slo":                 {},
		"cmd/servesim":        {"*"},

		"analysis/publish/perfetto": {"analysis", "analysis/blame", "sim", "sim/observe"},
		"report/spark":              {"analysis", "report", "report/figure", "internal/portable"},
	}
}

// libraries says which packages may import a library from outside the standard
// library, by its path or a prefix of it. A library that isn't here needs a row.
func libraries() map[string][]string {
	return map[string][]string{
		"github.com/BurntSushi/toml":           {"internal/strict"},
		"github.com/klauspost/compress":        {"internal/infile", "sim/observe", "cmd/servesim"},
		"github.com/parquet-go/parquet-go":     {"sweep", "analysis/publish"},
		"github.com/schollz/progressbar/v3":    {"cmd/servesim"},
		"github.com/spf13/cobra":               {"cmd/servesim"},
		"golang.org/x/term":                    {"cmd/servesim"},
		"golang.org/x/image":                   {"report/still"},
		"gonum.org/v1/plot":                    {"report/still"},
		"gonum.org/v1/gonum/mat":               {"calibrate", "sim/gpu/fit"},
		"gonum.org/v1/gonum/diff/fd":           {"sim/gpu/fit"},
		"gonum.org/v1/gonum/optimize":          {"sim/gpu/fit"},
		"gonum.org/v1/gonum/stat/distuv":       {"sim/workload", "analysis/tail"},
		"gonum.org/v1/gonum/stat/combin":       {},
		"gonum.org/v1/gonum/stat":              {},
		"gonum.org/v1/gonum/mathext":           {},
		"github.com/google/go-cmp/cmp":         {},
		"pgregory.net/rapid":                   {},
		"github.com/google/go-cmp/cmp/cmpopts": {},
	}
}

// importFaults returns the imports of s, which isn't a test, that policy forbids.
func importFaults(s *source) []string {
	if s.test {
		return nil
	}
	allowed, known := may()[s.dir]
	if !known {
		return []string{fmt.Sprintf("%s: package %s has no row in the import table; say there what it may import", s.name, s.dir)}
	}
	var faults []string
	for _, p := range s.imports() {
		own, ours := strings.CutPrefix(p, module+"/")
		if ours && !slices.Contains(allowed, own) && !slices.Contains(allowed, "*") {
			faults = append(faults, fmt.Sprintf("%s: %s may not import %s; it may import %v", s.name, s.dir, own, allowed))
		}
		if !ours && strings.Contains(strings.SplitN(p, "/", 2)[0], ".") && !libraryAllowed(p, s.dir) {
			faults = append(faults, fmt.Sprintf("%s: %s may not import %s; see the table of libraries", s.name, s.dir, p))
		}
	}
	return faults
}

// libraryAllowed tells whether the package in dir may import library p. The
// longest matching row decides.
func libraryAllowed(p, dir string) bool {
	best, dirs := "", []string(nil)
	for lib, d := range libraries() {
		if (p == lib || strings.HasPrefix(p, lib+"/")) && len(lib) > len(best) {
			best, dirs = lib, d
		}
	}
	return slices.Contains(dirs, dir)
}

func TestImports(t *testing.T) {
	check(t, false, importFaults)
}

// TestEveryRowHasAPackage keeps the table from naming what isn't there.
func TestEveryRowHasAPackage(t *testing.T) {
	have := map[string]bool{}
	for _, s := range sources(t) {
		have[s.dir] = true
	}
	for dir := range may() {
		if !have[dir] {
			t.Errorf("the import table has a row for %s, which has no Go file; delete the row or add the package", dir)
		}
	}
}

// TestImportTableIsAcyclic says it before the compiler does, and for rows whose
// imports aren't used yet.
func TestImportTableIsAcyclic(t *testing.T) {
	table := may()
	state := map[string]int{} // 1 is open, 2 is done
	var visit func(dir string, trail []string)
	visit = func(dir string, trail []string) {
		if state[dir] == 1 {
			t.Errorf("the import table has a cycle: %s", strings.Join(append(trail, dir), " -> "))
		}
		if state[dir] != 0 {
			return
		}
		state[dir] = 1
		for _, next := range table[dir] {
			if next != "*" {
				visit(next, append(trail, dir))
			}
		}
		state[dir] = 2
	}
	for _, dir := range slices.Sorted(maps.Keys(table)) {
		visit(dir, nil)
	}
}
