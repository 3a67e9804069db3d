package scenario

import (
	"strings"
	"testing"

	"servesim/sim/gpu"
	"servesim/sim/observe"
	"servesim/sim/scheduler"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"
)

// small is a scenario that runs in no time.
const small = `schema = 1
name = "small"
seed = 3

[workload]
requests = 20
arrival = { process = "poisson", rate_per_s = 4 }
prompt = { dist = "constant", value = 1000 }
output = { dist = "constant", value = 20 }

[engine]
policy = "vllm@0.20"

[hardware]
gpu = "h100"

[model]
name = "Llama-3.1-8B"
`

// planOf settles a scenario text with settings, which must be without fault.
func planOf(t *testing.T, text string, sets ...string) *Plan {
	t.Helper()
	src := Source{Path: StdinPath, Stdin: strings.NewReader(text)}
	for _, one := range sets {
		s, err := ParseSetting(one)
		if err != nil {
			t.Fatal(err)
		}
		src.Settings = append(src.Settings, s)
	}
	p, err := Load(src)
	if err != nil {
		t.Fatal(err)
	}
	return p
}

// TestEveryEngineOptionReachesTheScheduler sets each option to what no default is.
func TestEveryEngineOptionReachesTheScheduler(t *testing.T) {
	base := planOf(t, small, "policy=vllm@main").Config
	for set, want := range map[string]func(*scheduler.Config){
		"max_num_batched_tokens=4096":      func(c *scheduler.Config) { c.MaxNumBatchedTokens = 4096 },
		"max_num_seqs=77":                  func(c *scheduler.Config) { c.MaxNumSeqs = 77 },
		"max_model_len=9000":               func(c *scheduler.Config) { c.MaxModelLen = 9000 },
		"block_size=32":                    func(c *scheduler.Config) { c.BlockSize = 32 },
		"num_gpu_blocks_override=1234":     func(c *scheduler.Config) { c.NumGPUBlocks = 1234 },
		"enable_chunked_prefill=false":     func(c *scheduler.Config) { c.EnableChunkedPrefill = false; c.MaxNumBatchedTokens = 131072 },
		"long_prefill_token_threshold=99":  func(c *scheduler.Config) { c.LongPrefillTokenThreshold = 99 },
		"scheduling_policy=priority":       func(c *scheduler.Config) { c.SchedulingPolicy = scheduler.Priority },
		"watermark=0.25":                   func(c *scheduler.Config) { c.Watermark = 0.25 },
		"scheduler_reserve_full_isl=false": func(c *scheduler.Config) { c.ReserveFullISL = false },
	} {
		got := planOf(t, small, "policy=vllm@main", set).Config
		wanted := base
		want(&wanted)
		if !strings.HasPrefix(set, "num_gpu_blocks_override") {
			wanted.NumGPUBlocks = got.NumGPUBlocks // what memory leaves is the ledger's affair
		}
		if diff := cmp.Diff(wanted, got); diff != "" {
			t.Errorf("%s: %s", set, diff)
		}
	}
	v0 := planOf(t, small, "policy=vllm@0.8-v0", "enable_chunked_prefill=true", "max_num_partial_prefills=3", "max_long_partial_prefills=2").Config
	if v0.MaxNumPartialPrefills != 3 || v0.MaxLongPartialPrefills != 2 || !v0.EnableChunkedPrefill {
		t.Errorf("the V0 options give %+v", v0)
	}
}

// TestHostOverridesReachStepTimes adds a millisecond to each step.
func TestHostOverridesReachStepTimes(t *testing.T) {
	work := gpu.Work{DecodeSeqs: 3, DecodeKV: 3000, Samples: 3}
	off := planOf(t, small, "async_scheduling=false", "host.base=1ms", "host.per_seq=0s")
	on := planOf(t, small, "async_scheduling=false", "host.base=2ms", "host.per_seq=0s")
	if d := on.Cost.Step(work) - off.Cost.Step(work); d.String() != "1ms" {
		t.Errorf("a millisecond of host time makes a step %v longer", d)
	}
}

// TestExtrapolationCountsSteps holds that counting a run of steps at once gives
// what counting them one by one does.
func TestExtrapolationCountsSteps(t *testing.T) {
	cost := planOf(t, small).Cost
	rapid.Check(t, func(t *rapid.T) {
		run := observe.StepRun{Steps: 1, Decodes: rapid.Int32Range(0, 600).Draw(t, "decodes")}
		if run.Decodes > 0 {
			// Around the longest context that was measured.
			run.DecodeKV = int64(run.Decodes) * rapid.Int64Range(130_900, 131_200).Draw(t, "context")
			run.Steps = rapid.Int64Range(1, 400).Draw(t, "steps")
		}
		if run.Steps == 1 {
			run.Chunks = []observe.Chunk{{Start: rapid.Int32Range(0, 20_000).Draw(t, "start"), Tokens: rapid.Int32Range(1, 20_000).Draw(t, "tokens")}}
		}
		all, single := &extrapolation{cost: cost}, &extrapolation{cost: cost}
		if err := all.Step(&run); err != nil {
			t.Fatal(err)
		}
		for i := range run.Steps {
			one := run
			one.Steps, one.DecodeKV = 1, run.DecodeKV+i*int64(run.Decodes)
			if err := single.Step(&one); err != nil {
				t.Fatal(err)
			}
		}
		if all.steps != single.steps || all.outside != single.outside {
			t.Fatalf("at once %d of %d, one by one %d of %d", all.outside, all.steps, single.outside, single.steps)
		}
	})
}

// TestHashIsTheScenarios holds that a hash follows the scenario and not where
// its trace lies.
func TestHashIsTheScenarios(t *testing.T) {
	text := strings.Replace(small, "requests = 20\n", "trace = \"a/t.csv\"\n", 1)
	text = text[:strings.Index(text, "arrival = {")] + text[strings.Index(text, "[engine]"):]
	a := planOf(t, text).Scenario.Hash()
	if b := planOf(t, strings.Replace(text, "a/t.csv", "b/c/t.csv", 1)).Scenario.Hash(); a != b {
		t.Errorf("the folder of the trace changes the hash from %s to %s", a, b)
	}
	for _, change := range []string{"seed=4", "policy=vllm@0.11", "rate=2.0", "timeout=1s"} {
		if b := planOf(t, text, change).Scenario.Hash(); a == b {
			t.Errorf("%s doesn't change the hash", change)
		}
	}
}
