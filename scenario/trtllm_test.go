package scenario

import (
	"strings"
	"testing"

	"servesim/sim/scheduler"
)

// TestTensorRTLLMOptions holds that each option of TensorRT-LLM has its effect and its
// default.
func TestTensorRTLLMOptions(t *testing.T) {
	p := planOf(t, small, "policy=trtllm@main")
	c, e := p.Config, p.Scenario.Engine
	if c.MaxNumBatchedTokens != 8192 || c.MaxNumSeqs != 2048 || c.BlockSize != 32 || c.EnableChunkedPrefill || c.AsyncScheduling ||
		e.ContextChunkingPolicy != nil || *e.FreeGPUMemoryFraction != 0.9 || e.GPUMemoryUtilization != nil {
		t.Errorf("defaults: %+v, %+v", c, e)
	}
	if p.Scenario.Host.Engine != "trtllm" || !p.Setup().Async {
		t.Errorf("host times of %s, overlapped: %v", p.Scenario.Host.Engine, p.Setup().Async)
	}
	if p := planOf(t, small, "policy=trtllm@main", "host.engine=vllm", "disable_overlap_scheduler=true"); p.Scenario.Host.Engine != "vllm" || p.Setup().Async {
		t.Errorf("host times of %s, overlapped: %v", p.Scenario.Host.Engine, p.Setup().Async)
	}
	equal := planOf(t, small, "policy=trtllm-maxutil@main", "enable_chunked_prefill=true", "context_chunking_policy=EQUAL_PROGRESS").Config
	if equal.ContextChunking != scheduler.EqualProgress || equal.Policy != scheduler.TRTLLMMaxUtil {
		t.Errorf("%+v", equal)
	}
	// Of what weights and the rest leave, a half gives half as many blocks as all.
	half, all := planOf(t, small, "policy=trtllm@main", "free_gpu_memory_fraction=0.5").Ledger, planOf(t, small, "policy=trtllm@main", "free_gpu_memory_fraction=1").Ledger
	if all.ShareBytes != all.UsableBytes || half.Blocks() != all.Blocks()/2 || half.ShareBytes-half.KVBytes != all.ShareBytes-all.KVBytes {
		t.Errorf("%d blocks of %d; %d bytes of %d for the engine", half.Blocks(), all.Blocks(), half.ShareBytes, all.ShareBytes)
	}
}

func TestTensorRTLLMFaults(t *testing.T) {
	for _, c := range []struct{ sets, want string }{
		{"policy=vllm@0.20 free_gpu_memory_fraction=0.9", "vllm@0.20 has no such option; versions with it are trtllm@main, "},
		{"policy=vllm@0.20 disable_overlap_scheduler=true", "vllm@0.20 has no such option; versions with it are trtllm@main, "},
		{"policy=vllm@0.20 context_chunking_policy=EQUAL_PROGRESS", "vllm@0.20 has no such option; versions with it are trtllm@main, "},
		{"policy=trtllm@main gpu_memory_utilization=0.9", "trtllm@main has no such option; free_gpu_memory_fraction is what it has"},
		{"policy=trtllm@main async_scheduling=true", "trtllm@main has no such option; disable_overlap_scheduler is what it has"},
		{"policy=trtllm@main context_chunking_policy=EQUAL_PROGRESS", `found "EQUAL_PROGRESS"; it has no effect without enable_chunked_prefill`},
		{"policy=trtllm@main enable_chunked_prefill=true context_chunking_policy=equal", `found "equal"; it must be FIRST_COME_FIRST_SERVED or EQUAL_PROGRESS`},
		{"policy=trtllm@main free_gpu_memory_fraction=1.5", "found 1.5; must be more than 0 and at most 1"},
		{"policy=trtllm@main free_gpu_memory_fraction=0.01", "or set free_gpu_memory_fraction to "},
		{"policy=trtllm@main scheduling_policy=priority", "found priority, which is not modelled for trtllm-noevict; set fcfs"},
		{"policy=trtllm@main max_num_seqs=9000", "found 9000, more than max_num_batched_tokens, 8192"},
	} {
		src := Source{Path: StdinPath, Stdin: strings.NewReader(small)}
		for _, one := range strings.Fields(c.sets) {
			s, err := ParseSetting(one)
			if err != nil {
				t.Fatal(err)
			}
			src.Settings = append(src.Settings, s)
		}
		if _, err := Load(src); err == nil || !strings.Contains(err.Error(), c.want) {
			t.Errorf("%s: %v; want %q", c.sets, err, c.want)
		}
	}
}

// TestTensorRTLLMIsCautionedAbout holds that what isn't modelled of it is said.
func TestTensorRTLLMIsCautionedAbout(t *testing.T) {
	const overlap, fit = "the overlap scheduler of TensorRT-LLM hides", "host times that were fitted to vllm"
	for sets, want := range map[string][2]bool{
		"policy=trtllm@main": {true, false},
		"policy=trtllm@main disable_overlap_scheduler=true": {false, false},
		"policy=trtllm@main host.engine=vllm":               {true, true},
		"policy=vllm@0.20":                                  {false, false},
	} {
		said := strings.Join(planOf(t, small, strings.Fields(sets)...).Cautions(), "\n")
		if got := [2]bool{strings.Contains(said, overlap), strings.Contains(said, fit)}; got != want {
			t.Errorf("%s: %v, want %v: %s", sets, got, want, said)
		}
	}
}
