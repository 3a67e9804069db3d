package arch

import (
	"fmt"
	"go/ast"
	"os/exec"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"
	"testing"
)

// mayFuse lists the functions in which a compiler may fuse a product and a sum
// into one rounding, each with the reason why no result depends on it.
func mayFuse() map[string]string {
	return map[string]string{
		"sim/engine countable": "only bounds how many steps one closed form adds; the sums are of integers however they are divided",
		"sim/engine estimate":  "a first guess, which integer sums then correct",
	}
}

// fusedAt matches an instruction of arm64 that rounds a product and a sum once,
// in what the compiler prints with -S, and its file and line.
var fusedAt = regexp.MustCompile(`\((\S+\.go):(\d+)\)\s+FN?M(?:ADD|SUB)[SD]\s`)

// fusedFaults returns the fused instructions in listing, the output of a build
// with -S, that stand in a file of all, outside the functions of mayFuse.
func fusedFaults(top, listing string, all []*source) (faults []string, excused map[string]bool) {
	excused = map[string]bool{}
	files := map[string]*source{}
	for _, s := range all {
		files[s.name] = s
	}
	seen := map[string]bool{}
	for _, m := range fusedAt.FindAllStringSubmatch(listing, -1) {
		rel, err := filepath.Rel(top, m[1])
		s := files[filepath.ToSlash(rel)]
		line, _ := strconv.Atoi(m[2]) // digits, by the pattern
		if err != nil || s == nil {
			continue // code of another module that is compiled in
		}
		name := s.dir + " " + funcAt(s, line)
		if _, ok := mayFuse()[name]; ok {
			excused[name] = true
			continue
		}
		at := fmt.Sprintf("%s:%d", s.name, line)
		if !seen[at] {
			seen[at] = true
			faults = append(faults, at+": a product and a sum are rounded at once on some machines; write float64(a*b) around the product")
		}
	}
	return faults, excused
}

// funcAt returns the name of the function of s that line lies in, or "".
func funcAt(s *source, line int) string {
	for _, decl := range s.ast.Decls {
		fn, ok := decl.(*ast.FuncDecl)
		if ok && s.fset.Position(fn.Pos()).Line <= line && line <= s.fset.Position(fn.End()).Line {
			return fn.Name.Name
		}
	}
	return ""
}

// TestNothingIsFused compiles the libraries for arm64, where Go may compute
// x*y + z with one rounding, and looks for the instructions that do: a result
// would have other bits there than on amd64. An explicit float64(x*y) forbids
// it (Go specification, "Floating-point operators").
func TestNothingIsFused(t *testing.T) {
	tool, err := exec.LookPath("go")
	if err != nil {
		t.Skip("there is no go command here, with which to compile for arm64")
	}
	top := root(t)
	all := sources(t) // read here, so that a cached verdict ends when a file changes
	build := exec.Command(tool, "build", "-gcflags=-S", "./sim/...", "./analysis/...", "./report/...", "./scenario/...", "./internal/...")
	build.Dir = top
	build.Env = append(build.Environ(), "GOOS=linux", "GOARCH=arm64", "CGO_ENABLED=0")
	out, err := build.CombinedOutput()
	if err != nil {
		t.Fatalf("go build for arm64: %v\n%s", err, out[max(0, len(out)-2000):])
	}
	if !strings.Contains(string(out), "servesim/sim/gpu.") {
		t.Fatalf("the build printed %d bytes and no code of sim/gpu: the search is broken", len(out))
	}
	faults, excused := fusedFaults(top, string(out), all)
	for _, f := range faults {
		t.Error(f)
	}
	for name := range mayFuse() {
		if !excused[name] {
			t.Errorf("%s is excused from the search and fuses nothing; delete its row", name)
		}
	}
}

// TestFusedSearchBites gives the search a listing with a fused instruction in a
// function that isn't excused, one in a function that is, and harmless ones.
func TestFusedSearchBites(t *testing.T) {
	plain, err := parseText("sim/x.go", []byte("package sim\n\nfunc f(a, b, c float64) float64 {\n\treturn a*b + c\n}\n"))
	if err != nil {
		t.Fatal(err)
	}
	known, err := parseText("sim/engine/x.go", []byte("package engine\n\nfunc estimate(a, b, c float64) float64 {\n\treturn a*b + c\n}\n"))
	if err != nil {
		t.Fatal(err)
	}
	listing := `
	0x0000 00000 (/m/sim/x.go:4)	FMADDD	F0, F2, F1, F0
	0x0004 00004 (/m/sim/x.go:4)	FMADDD	F0, F2, F1, F0
	0x0008 00008 (/m/sim/x.go:3)	FMULD	F0, F1, F0
	0x000c 00012 (/m/sim/engine/x.go:4)	FNMSUBD	F0, F2, F1, F0
	0x0010 00016 (/go/src/math/exp.go:4)	FMSUBS	F0, F2, F1, F0
`
	faults, excused := fusedFaults("/m", listing, []*source{plain, known})
	if len(faults) != 1 || !strings.HasPrefix(faults[0], "sim/x.go:4: ") || !excused["sim/engine estimate"] {
		t.Errorf("faults %q, excused %v; want one in sim/x.go:4, and estimate", faults, excused)
	}
}
