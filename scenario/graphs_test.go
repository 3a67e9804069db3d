package scenario

import (
	"strings"
	"testing"

	"servesim/sim/gpu"
)

// TestGraphOptionsReachStepTimes: on B200 launching a layer takes vLLM 0.73 ms by
// the profile, 23 ms for the 32 layers of the small model, which a step that replays
// no graph takes at least.
func TestGraphOptionsReachStepTimes(t *testing.T) {
	var prompt gpu.Work
	prompt.AddChunk(0, 16, true)
	decode := gpu.Work{DecodeSeqs: 3, DecodeKV: 3000, Samples: 3}
	steps := func(set ...string) [2]float64 {
		p := planOf(t, small, append([]string{"gpu=b200", "async_scheduling=false"}, set...)...)
		return [2]float64{p.Cost.Step(prompt).Milliseconds(), p.Cost.Step(decode).Milliseconds()}
	}
	graphs := steps()
	for set, slow := range map[string][2]bool{
		"enforce_eager=true":                {true, true},
		"enforce_eager=false":               {false, false},
		"cudagraph_mode=NONE":               {true, true},
		"cudagraph_mode=full_decode_only":   {true, false},
		"cudagraph_mode=FULL_AND_PIECEWISE": {false, false},
		"cudagraph_mode=FULL":               {false, false},
		"cudagraph_mode=PIECEWISE":          {false, false},
	} {
		got := steps(set)
		for i := range got {
			if (got[i] > 20) != slow[i] || !slow[i] && got[i] != graphs[i] {
				t.Errorf("%s: %.2f ms, by default %.2f", set, got[i], graphs[i])
			}
		}
	}
}

func TestLayoutsAndGraphsThatAreRefused(t *testing.T) {
	for set, want := range map[string]string{
		"pipeline_parallel_size=2":               "hardware.pipeline_parallel_size: found 2, and a run with pipeline stages is not modelled",
		"pipeline_parallel_size=0":               "hardware.pipeline_parallel_size: found 0; must be 1",
		"cudagraph_mode=SOME":                    `engine.cudagraph_mode: unknown mode "SOME"`,
		"cudagraph_mode=FULL enforce_eager=true": `engine.cudagraph_mode: found "FULL", but with enforce_eager no step replays a graph`,
		"cudagraph_mode=FULL policy=vllm@0.8-v0": "engine.cudagraph_mode: vllm@0.8-v0 has no such option",
	} {
		src := Source{Path: StdinPath, Stdin: strings.NewReader(small)}
		for _, one := range strings.Fields(set) {
			s, err := ParseSetting(one)
			if err != nil {
				t.Fatal(err)
			}
			src.Settings = append(src.Settings, s)
		}
		_, err := Load(src)
		if err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%s: got %v, want %s", set, err, want)
		}
	}
	planOf(t, small, "pipeline_parallel_size=1")
}
