package main

import (
	"encoding/json"
	"os"
	"strings"
	"testing"

	"servesim/sim/gpu"
	"servesim/sim/scheduler"
)

// enginesPage is docs/engines.md, from the tests' folder.
const enginesPage = "../../docs/engines.md"

// A listedEngine is what engines says of a version in JSON.
type listedEngine struct {
	Version    string
	Repository string
	Revision   string
	Recordings int
	Defaults   []struct{ Option, Value, Rule, Meaning, From string }
}

// TestEnginesListsEveryVersion holds that every version is there with its source and
// its recordings, in text and in JSON.
func TestEnginesListsEveryVersion(t *testing.T) {
	text := ok(t, "engines")
	var list struct {
		Kind    string
		Engines []listedEngine
	}
	if err := json.Unmarshal([]byte(ok(t, "engines", "-o", "json")), &list); err != nil {
		t.Fatal(err)
	}
	if list.Kind != "servesim-engines" || len(list.Engines) != len(scheduler.Presets()) {
		t.Fatalf("%q of %d versions; there are %d", list.Kind, len(list.Engines), len(scheduler.Presets()))
	}
	for i, p := range scheduler.Presets() {
		e := list.Engines[i]
		if e.Version != p.Name || e.Repository == "" || e.Revision == "" || e.Recordings < 1 {
			t.Errorf("%s: %+v", p.Name, e)
		}
		if !strings.Contains(text, p.Name+" ") {
			t.Errorf("the list lacks %s:\n%s", p.Name, text)
		}
	}
}

// TestEnginesPrintsWhatRunSettles holds that what engines says is a default is what
// a run has that is given nothing else, for each version, device and model.
func TestEnginesPrintsWhatRunSettles(t *testing.T) {
	models := []string{"Llama-3.1-8B", "Qwen3-32B"}
	for _, p := range scheduler.Presets() {
		for i, profile := range gpu.ProfileNames() {
			model := models[i%len(models)]
			t.Run(p.Name+" "+profile, func(t *testing.T) {
				settled := settledEngine(t, "run", "--print", "--set", "engine.policy="+p.Name, "--gpu", profile, "--model", model, "--tp", "8", "--dtype", "fp8")
				var e listedEngine
				if err := json.Unmarshal([]byte(ok(t, "engines", p.Name, "--gpu", profile, "--model", model, "-o", "json")), &e); err != nil {
					t.Fatal(err)
				}
				n := 0
				for _, d := range e.Defaults {
					if d.Meaning == "" || d.Value == "" && d.Rule == "" {
						t.Errorf("%s: nothing is said of it: %+v", d.Option, d)
					}
					if p.Config.Policy == scheduler.SGLang && (d.Option == "max_num_seqs" || d.Option == "gpu_memory_utilization") {
						n++ // of the deployment, as the rule says
						continue
					}
					if settled[d.Option] != d.Value {
						t.Errorf("%s: engines says %q, a run has %q", d.Option, d.Value, settled[d.Option])
					}
					if d.Value != "" {
						n++
					}
				}
				if n != len(settled) {
					t.Errorf("engines has %d options with a value, a run %d: %v", n, len(settled), settled)
				}
			})
		}
	}
}

// settledEngine returns the options that a scenario printed by args has, without the
// policy.
func settledEngine(t *testing.T, args ...string) map[string]string {
	t.Helper()
	_, section, found := strings.Cut(ok(t, args...), "\n[engine]\n")
	if !found {
		t.Fatal("the scenario has no section engine")
	}
	section, _, _ = strings.Cut(section, "\n[")
	values := map[string]string{}
	for line := range strings.Lines(section) {
		key, value, isPair := strings.Cut(strings.TrimPrefix(line, "# "), " = ")
		if isPair && key != "policy" {
			value, _, _ = strings.Cut(value, "#")
			values[key] = strings.TrimSpace(value)
		}
	}
	return values
}

// TestEngineText by hand.
func TestEngineText(t *testing.T) {
	out := unfolded(ok(t, "engines", "vllm@0.20", "--gpu", "h100"))
	for _, want := range []string{
		"Source      vllm-project/vllm v0.20.1 (132765e356), vllm/v1/core/sched/scheduler.py",
		"unchunked = stop: ",
		"from 70 GiB, no A100  8,192           1,024      16,384           1,024",
		"max_num_batched_tokens        8192    tokens     default of vllm@0.20 on this device; vllm/engine/arg_utils.py",
		"gpu_memory_utilization        0.92 ",
	} {
		if !strings.Contains(out, want) {
			t.Errorf("engines vllm@0.20 lacks %q:\n%s", want, out)
		}
	}
}

// TestEnginesFaults holds what it says of what it can't print.
func TestEnginesFaults(t *testing.T) {
	for args, want := range map[string]string{
		"vllm@0.21":                `unknown engine version "vllm@0.21"`,
		"--gpu h100":               "--gpu and --model: they are for the defaults of one version",
		"vllm@0.20 --gpu h1000":    "h1000",
		"vllm@0.20 --model x":      "x",
		"vllm@0.20 -o html":        "--output: ",
		"vllm@0.20 --json -o text": "two forms",
	} {
		if o := do(t, append([]string{"engines"}, strings.Fields(args)...)...); o.code != exitUsage || !strings.Contains(o.stderr, want) {
			t.Errorf("engines %s: exit %d, %s; want %q", args, o.code, o.stderr, want)
		}
	}
}

// TestEnginesPageQuotesClaims holds that the figures of published claims that the page
// shows are those of docs/reproduce.md, which is simulated again.
func TestEnginesPageQuotesClaims(t *testing.T) {
	page, err := os.ReadFile(enginesPage)
	must(err)
	claims, err := os.ReadFile(reproduceDoc)
	must(err)
	n := 0
	for line := range strings.Lines(string(page)) {
		if !strings.HasPrefix(line, "| ") {
			continue
		}
		n++
		if !strings.Contains(string(claims), line) {
			t.Errorf("%s has a row that isn't in %s; copy the new one:\n%s", enginesPage, reproduceDoc, line)
		}
	}
	if n < 20 {
		t.Errorf("%s has %d rows of claims; it must show them", enginesPage, n)
	}
}
