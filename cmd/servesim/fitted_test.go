package main

import (
	"encoding/json"
	"strings"
	"testing"
)

// TestComparedFitsAreCautionedAbout holds that a comparison says if the engines in
// it were fitted apart, with their constants, and not if they are the same.
func TestComparedFitsAreCautionedAbout(t *testing.T) {
	inFolder(t, map[string]string{"s.toml": small})
	for vary, wants := range map[string][]string{
		"gpu=h100,b200":                   {"402 us a step and 14.2 us a sequence (gpu=h100)", "278 us a step and 7.66 us a sequence (gpu=b200)", "no single one is physics"},
		"host.engine=vllm,generic":        {"402 us a step and 14.2 us", "300 us a step and 5 us a sequence (host.engine=generic)"},
		"max_num_batched_tokens=8192,512": nil,
		"tp=1,2":                          nil,
	} {
		out := unfolded(ok(t, "compare", "s.toml", "--vary", vary))
		if strings.Contains(out, "host.base") != (wants != nil) {
			t.Errorf("%s: want a caution: %v\n%s", vary, wants != nil, out)
		}
		var v struct{ Caution string }
		if err := json.Unmarshal([]byte(ok(t, "compare", "s.toml", "--json", "--vary", vary)), &v); err != nil {
			t.Fatal(err)
		}
		for _, want := range wants {
			if !strings.Contains(out, want) || !strings.Contains(v.Caution, want) {
				t.Errorf("%s lacks %q:\n%s\n%s", vary, want, out, v.Caution)
			}
		}
		if wants == nil && v.Caution != "" {
			t.Errorf("%s: %s", vary, v.Caution)
		}
	}
}

// TestWeightsOfAConfigAreCautionedAbout holds that a run in another format than a
// config.json says names both.
func TestWeightsOfAConfigAreCautionedAbout(t *testing.T) {
	bf16, _, _ := strings.Cut(awqConfig, `, "quantization_config"`)
	inFolder(t, map[string]string{"s.toml": small, "awq.json": awqConfig, "bf16.json": bf16 + "}"})
	for args, want := range map[string]string{
		"--model awq.json --dtype fp8":   "awq.json says that its weights are awq, but model.dtype is fp8",
		"--model bf16.json --dtype fp8":  "bf16.json says that its weights are bf16, but model.dtype is fp8",
		"--model bf16.json --dtype bf16": "",
		"--model bf16.json":              "",
	} {
		out := unfolded(ok(t, append([]string{"run", "s.toml"}, strings.Fields(args)...)...))
		if !strings.Contains(out, want) || strings.Contains(out, "says that its weights") != (want != "") {
			t.Errorf("%s lacks %q:\n%s", args, want, out)
		}
	}
}
