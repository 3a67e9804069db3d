package main

import (
	"bytes"
	"strings"
	"testing"

	"servesim/sim/workload"
)

// FuzzScenario holds that a scenario file of any content is either a fault or
// a plan that prints itself as what it is: no panic, no fault without a text.
func FuzzScenario(f *testing.F) {
	f.Add(small)
	f.Add(defaultScenario)
	f.Add(merging)
	for _, c := range scenarioFaults() {
		f.Add(c.files["s.toml"])
	}
	for _, p := range workload.Presets() {
		f.Add("schema = 1\n[workload]\npreset = \"" + p.Name + "\"\nrequests = 3\n[engine]\npolicy = \"vllm@0.11\"\n[hardware]\ngpu = \"b200\"\n[model]\nname = \"Qwen3-32B\"\n")
	}
	f.Fuzz(func(t *testing.T, text string) {
		e := env{stdin: strings.NewReader(text), stdout: &bytes.Buffer{}, stderr: &bytes.Buffer{}}
		p, err := newPlan(e, source{path: stdinPath})
		if err != nil {
			if err.Error() == "" {
				t.Error("a fault without a text")
			}
			return
		}
		printed := p.text()
		e.stdin = strings.NewReader(printed)
		again, err := newPlan(e, source{path: stdinPath})
		if err != nil {
			t.Fatalf("%v\nin what was printed:\n%s", err, printed)
		}
		if got := again.text(); got != printed {
			t.Errorf("printed\n%s\nand then\n%s", printed, got)
		}
	})
}
