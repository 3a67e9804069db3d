package main

import (
	"strings"
	"testing"

	"servesim/scenario"
	"servesim/sim/workload"
)

// FuzzScenario holds that a scenario file of any content is either a fault or
// a plan that prints itself as what it is: no panic, no fault without a text.
func FuzzScenario(f *testing.F) {
	f.Add(small)
	f.Add(scenario.Default())
	f.Add(merging)
	for _, c := range scenarioFaults() {
		f.Add(c.files["s.toml"])
	}
	for _, p := range workload.Presets() {
		f.Add("schema = 1\n[workload]\npreset = \"" + p.Name + "\"\nrequests = 3\n[engine]\npolicy = \"vllm@0.11\"\n[hardware]\ngpu = \"b200\"\n[model]\nname = \"Qwen3-32B\"\n")
	}
	f.Fuzz(func(t *testing.T, text string) {
		p, err := scenario.Load(scenario.Source{Path: scenario.StdinPath, Stdin: strings.NewReader(text)})
		if err != nil {
			if err.Error() == "" {
				t.Error("a fault without a text")
			}
			return
		}
		printed := p.Text()
		again, err := scenario.Load(scenario.Source{Path: scenario.StdinPath, Stdin: strings.NewReader(printed)})
		if err != nil {
			t.Fatalf("%v\nin what was printed:\n%s", err, printed)
		}
		if got := again.Text(); got != printed {
			t.Errorf("printed\n%s\nand then\n%s", printed, got)
		}
	})
}
