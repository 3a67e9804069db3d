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
		"gpu=h100,b200":                   {"379 us a step and 18.6 us a sequence (gpu=h100)", "208 us a step and 12 us a sequence (gpu=b200)", "no single one is physics"},
		"host.engine=vllm,generic":        {"379 us a step and 18.6 us", "300 us a step and 5 us a sequence (host.engine=generic)"},
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

// TestRequestDelayIsTheSameOnEveryGPU holds that nothing before the queue tells
// GPUs apart.
func TestRequestDelayIsTheSameOnEveryGPU(t *testing.T) {
	for _, gpu := range []string{"h100", "h200", "b200"} {
		if d, ok := planOf(t, small, "gpu="+gpu).request.Constant(); !ok || d.String() != "10ms" {
			t.Errorf("%s: %v, constant %v", gpu, d, ok)
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

// TestLaunchesAreCautionedAbout holds that what the runs leave open of launching
// kernels is said of the GPU where they do: 32 layers of at most 0.97 ms.
func TestLaunchesAreCautionedAbout(t *testing.T) {
	if c := planOf(t, small, "gpu=b200").cautions(); len(c) != 1 || !strings.Contains(c[0], "0.0 to 31.1 ms or more") {
		t.Errorf("cautions %q", c)
	}
	if c := planOf(t, small, "gpu=h100").cautions(); len(c) != 0 {
		t.Errorf("cautions %q", c)
	}
}

// TestExpertsAreCautionedAbout holds that runs with fp8 experts of vLLM on Hopper say
// where their times come from, and others do not.
func TestExpertsAreCautionedAbout(t *testing.T) {
	const want = "fp8 experts of vLLM follow the kernel table"
	for args, says := range map[string]bool{
		"gpu=h100 model=Mixtral-8x7B dtype=fp8":                    true,
		"gpu=h200 model=Mixtral-8x7B dtype=fp8":                    true,
		"gpu=h100 model=Mixtral-8x7B dtype=bf16":                   false,
		"gpu=h100 model=Mixtral-8x7B dtype=fp8 host.engine=trtllm": false,
		"gpu=b200 model=Mixtral-8x7B dtype=fp8":                    false,
		"gpu=h100 model=Llama-3.1-8B dtype=fp8":                    false,
	} {
		list := strings.Join(planOf(t, small, append(strings.Fields(args), "tp=8")...).cautions(), "\n")
		if strings.Contains(list, want) != says {
			t.Errorf("%s: cautions %q", args, list)
		}
	}
}

// TestSynchronousFitsAreCautionedAbout holds that host times fitted in the open are
// said to be hidden where asynchronous scheduling hides them.
func TestSynchronousFitsAreCautionedAbout(t *testing.T) {
	for _, c := range []struct {
		set  []string
		want bool
	}{
		{[]string{"host.engine=trtllm"}, true},
		{[]string{"host.engine=trtllm", "async_scheduling=false"}, false},
		{[]string{"host.engine=trtllm", "policy=vllm@0.11"}, false},
		{nil, false},
	} {
		said := strings.Contains(strings.Join(planOf(t, small, c.set...).cautions(), "\n"), "host times of trtllm are fitted to runs replayed with synchronous scheduling")
		if said != c.want {
			t.Errorf("%q: caution %v, want %v", c.set, said, c.want)
		}
	}
}
