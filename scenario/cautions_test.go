package scenario

import (
	"strings"
	"testing"
)

// TestRequestDelayIsTheSameOnEveryGPU holds that nothing before the queue tells
// GPUs apart.
func TestRequestDelayIsTheSameOnEveryGPU(t *testing.T) {
	for _, gpu := range []string{"h100", "h200", "b200"} {
		if d, ok := planOf(t, small, "gpu="+gpu).Request.Constant(); !ok || d.String() != "10ms" {
			t.Errorf("%s: %v, constant %v", gpu, d, ok)
		}
	}
}

// TestLaunchesAreCautionedAbout holds that what the runs leave open of launching
// kernels is said of the GPU where they do: 32 layers of at most 0.97 ms.
func TestLaunchesAreCautionedAbout(t *testing.T) {
	if c := planOf(t, small, "gpu=b200").Cautions(); len(c) != 1 || !strings.Contains(c[0], "0.0 to 31.1 ms or more") {
		t.Errorf("cautions %q", c)
	}
	if c := planOf(t, small, "gpu=h100").Cautions(); len(c) != 0 {
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
		list := strings.Join(planOf(t, small, append(strings.Fields(args), "tp=8")...).Cautions(), "\n")
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
		{[]string{"host.engine=trtllm-1.0"}, true},
		{[]string{"host.engine=trtllm"}, false},
		{[]string{"host.engine=trtllm-1.0", "async_scheduling=false"}, false},
		{[]string{"host.engine=trtllm-1.0", "policy=vllm@0.11"}, false},
		{nil, false},
	} {
		said := strings.Contains(strings.Join(planOf(t, small, c.set...).Cautions(), "\n"), "host times of trtllm-1.0 are fitted to runs replayed with synchronous scheduling")
		if said != c.want {
			t.Errorf("%q: caution %v, want %v", c.set, said, c.want)
		}
	}
}
