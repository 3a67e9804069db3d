package scenario

import (
	"strings"
	"testing"
)

// TestSwapIsRefused holds that a scenario says why it has no swapping, and which
// versions have the option at all.
func TestSwapIsRefused(t *testing.T) {
	for settings, want := range map[string]string{
		"policy=vllm@0.8-v0 preemption_mode=recompute": "",
		"policy=vllm@0.8-v0 preemption_mode=swap":      "engine.preemption_mode: found swap; its schedules are modelled (servesim conform), but not the time that KV takes",
		"policy=vllm@0.8-v0 preemption_mode=drop":      `engine.preemption_mode: found "drop"; must be recompute`,
		"policy=vllm@0.20 preemption_mode=recompute":   "engine.preemption_mode: vllm@0.20 has no such option",
	} {
		src := Source{Path: StdinPath, Stdin: strings.NewReader(small)}
		for _, one := range strings.Fields(settings) {
			set, err := ParseSetting(one)
			if err != nil {
				t.Fatal(err)
			}
			src.Settings = append(src.Settings, set)
		}
		_, err := Load(src)
		switch {
		case want == "" && err != nil:
			t.Errorf("%s: %v", settings, err)
		case want != "" && (err == nil || !strings.Contains(err.Error(), want)):
			t.Errorf("%s: %v; want %q", settings, err, want)
		}
	}
}
