package arch

import (
	"strings"
	"testing"
)

// TestRulesBite gives each rule a file that breaks it and one that doesn't: a
// rule that finds nothing must be a rule that could.
func TestRulesBite(t *testing.T) {
	long := "package p\n\nfunc f() {\n" + strings.Repeat("\tg()\n", maxFuncLines) + "}\n"
	cases := []struct {
		title, file, text string
		rule              rule
		want              string // part of the one fault; "" is none
	}{
		{"kernel imports domain", "sim/x.go", `package sim; import _ "servesim/sim/gpu"`, importFaults, "may not import sim/gpu"},
		{"scheduler may use kv", "sim/scheduler/x.go", `package scheduler; import _ "servesim/sim/kv"`, importFaults, ""},
		{"package without a row", "sim/new/x.go", `package new`, importFaults, "no row"},
		{"library in the wrong place", "sim/x.go", `package sim; import _ "github.com/spf13/cobra"`, importFaults, "may not import github.com/spf13/cobra"},
		{"unknown library", "sim/x.go", `package sim; import _ "example.com/x"`, importFaults, "may not import example.com/x"},
		{"long file", "sim/x.go", "package sim\n" + strings.Repeat("\n", maxFileLines), sizeFaults, "a file does one thing"},
		{"long function", "sim/x.go", long, sizeFaults, "a function has at most"},
		{"many parameters", "sim/x.go", `package sim; func f(a, b, c int, d, e, g string) {}`, sizeFaults, "want a struct"},
		{"five parameters", "sim/x.go", `package sim; func f(a, b, c int, d, e string) {}`, sizeFaults, ""},
		{"kernel opens files", "sim/x.go", `package sim; import _ "os"`, talkFaults, "imports os"},
		{"library logs", "analysis/x.go", `package analysis; import _ "log/slog"`, talkFaults, "doesn't log"},
		{"library prints", "report/x.go", "package report\nimport \"fmt\"\nfunc f() { fmt.Println() }", talkFaults, "stdout"},
		{"library exits", "sim/gpu/x.go", "package gpu\nimport \"os\"\nfunc f() { os.Exit(1) }", talkFaults, "belongs to the command"},
		{"library reads the clock", "sim/x.go", "package sim\nimport \"time\"\nfunc f() { time.Now() }", talkFaults, "wall clock"},
		{"old randomness", "sim/x.go", `package sim; import _ "math/rand"`, randFaults, "sim.Seed"},
		{"global randomness", "sim/x.go", "package sim\nimport \"math/rand/v2\"\nfunc f() { rand.IntN(3) }", randFaults, "global stream"},
		{"own source", "sim/x.go", "package sim\nimport \"math/rand/v2\"\nfunc f() { rand.NewPCG(1, 2) }", randFaults, ""},
		{"init", "sim/x.go", `package sim; func init() {}`, stateFaults, "init"},
		{"counter", "sim/x.go", `package sim; var n int`, stateFaults, "n can change"},
		{"table", "sim/x.go", `package sim; var t = []int{1}`, stateFaults, ""},
		{"table written to", "sim/x.go", `package sim; var t = []int{1}; func f() { t[0] = 2 }`, stateFaults, "t can change"},
		{"error", "sim/x.go", `package sim; var err = errors.New("x")`, stateFaults, ""},
		{"library function of assembly", "sim/x.go", `package sim; import "math"; var _ = math.Exp(1)`, machineFaults, "math.Exp depend"},
		{"exact function", "sim/x.go", `package sim; import "math"; var _ = math.Sqrt(2) + math.Floor(2)`, machineFaults, ""},
		{"bare name", "sim/x.go", `package sim; type T int`, commentFaults, "T has no comment"},
		{"commented name", "sim/x.go", "package sim\n// T is a number.\ntype T int", commentFaults, ""},
		{"debt", "sim/x.go", "package sim // TO" + "DO: think", debtFaults, "do it"},
	}
	for _, c := range cases {
		t.Run(c.title, func(t *testing.T) {
			s, err := parseText(c.file, []byte(c.text))
			if err != nil {
				t.Fatal(err)
			}
			faults := c.rule(s)
			switch {
			case c.want == "" && len(faults) > 0:
				t.Errorf("faults %q, want none", faults)
			case c.want != "" && (len(faults) != 1 || !strings.Contains(faults[0], c.want)):
				t.Errorf("faults %q, want one with %q", faults, c.want)
			}
		})
	}
}
