package sweep

import (
	"bytes"
	"os"
	"path/filepath"
	"testing"

	"servesim/scenario"
)

// base is a scenario that runs in no time.
const base = `schema = 1
name = "small"

[workload]
requests = 20
arrival = { process = "poisson", rate_per_s = 4 }
prompt = { dist = "uniform", min = 100, max = 1000 }
output = { dist = "constant", value = 20 }

[engine]
policy = "vllm@0.20"

[hardware]
gpu = "h100"

[model]
name = "Llama-3.1-8B"
`

// grid is a plan of 12 points over base.
const grid = `schema = 1
scenario = "base.toml"

[set]
goodput = "ttft:100 tpot:10"

[[list]]
gpu = "h100"
dtype = "bf16"

[[list]]
gpu = "b200"
dtype = "fp8"

[grid]
arrival.rate_per_s = [2, 4.5]
max_num_batched_tokens = [256, 512, 8192]
`

// inFolder makes a folder with the scenario base, and with files, and returns it.
func inFolder(t *testing.T, files map[string]string) string {
	t.Helper()
	dir := t.TempDir()
	for name, text := range files {
		if err := os.WriteFile(filepath.Join(dir, name), []byte(text), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	if err := os.WriteFile(filepath.Join(dir, "base.toml"), []byte(base), 0o644); err != nil {
		t.Fatal(err)
	}
	return dir
}

// read returns the plan with the content text, in a folder of its own.
func read(t *testing.T, text string) *Plan {
	t.Helper()
	dir := inFolder(t, map[string]string{"plan.toml": text})
	p, err := ReadPlan(filepath.Join(dir, "plan.toml"), text)
	if err != nil {
		t.Fatal(err)
	}
	return p
}

// opened returns the sweep of a plan in a folder of its own.
func opened(t *testing.T, p *Plan, dir string) *Sweep {
	t.Helper()
	s, err := Open(t.Context(), p, dir, 2)
	if err != nil {
		t.Fatal(err)
	}
	return s
}

// results returns the bytes of all tables of a sweep, which must be done.
func results(t *testing.T, s *Sweep) map[string]string {
	t.Helper()
	table, err := s.Merge()
	if err != nil {
		t.Fatal(err)
	}
	paths, err := s.Write(table)
	if err != nil {
		t.Fatal(err)
	}
	files := map[string]string{}
	for _, path := range paths {
		text, err := os.ReadFile(path)
		if err != nil {
			t.Fatal(err)
		}
		files[filepath.Base(path)] = string(text)
	}
	var text bytes.Buffer
	if err := table.Text(&text, TextOptions{Fronts: DefaultFronts()}); err != nil {
		t.Fatal(err)
	}
	files["text"] = text.String()
	return files
}

// done runs all of a plan in a folder of its own and returns its tables.
func done(t *testing.T, p *Plan, jobs int) (map[string]string, *Sweep) {
	t.Helper()
	s := opened(t, p, t.TempDir())
	if err := s.Run(t.Context(), Options{Jobs: jobs}); err != nil {
		t.Fatal(err)
	}
	return results(t, s), s
}

// texts returns the settings of a point as the plan writes them.
func texts(list []scenario.Setting) []string {
	var out []string
	for _, s := range list {
		out = append(out, s.Text)
	}
	return out
}
