package scenario

import (
	"reflect"

	"servesim/internal/strict"
	"servesim/sim/gpu"
	"servesim/sim/workload"
)

// An Alias is a short name of a key of a scenario, which is a flag too.
type Alias struct {
	Name, Key string
	Help      string          // says what it is, in a few words
	Values    func() []string // that it can have, nil if nobody lists them
}

// Aliases lists them. They are few: everything else is a key.
func Aliases() []Alias {
	return []Alias{
		{"policy", "engine.policy", "engine version, such as vllm@0.20", PolicyNames},
		{"gpu", "hardware.gpu", "GPU profile, or the path of one", gpu.ProfileNames},
		{"tp", "hardware.tensor_parallel_size", "GPUs that share each layer", func() []string { return []string{"1", "2", "4", "8"} }},
		{"model", "model.name", "model, or the path of its config.json", gpu.ModelNames},
		{"dtype", "model.dtype", "format of the weights: bf16, fp8 or fp4", func() []string { return []string{"bf16", "fp8", "fp4"} }},
		{"format", "workload.format", "format of the trace, if its content doesn't tell", formatNames},
		{"slo", "slo.preset", "preset of limits, such as consumer-chat-70b; see servesim list slos", SLONames},
		{"seed", "seed", "seed of every random draw", nil},
	}
}

// Values returns the values that a key of a scenario can have, if they can be
// listed.
func Values(key string) []string {
	full, err := fullKey(key)
	if err != nil {
		return nil
	}
	for _, s := range Aliases() {
		if s.Key == full && s.Values != nil {
			return s.Values()
		}
	}
	switch full {
	case "workload.preset":
		return presetNames()
	case "pool.router":
		return routerNames()
	case "workload.zero_tokens":
		var names []string
		for _, r := range workload.ZeroRules() {
			names = append(names, string(r))
		}
		return names
	}
	if kind, _ := strict.KindOf(reflect.TypeFor[Scenario](), full); kind == "bool" {
		return []string{"true", "false"}
	}
	return nil
}
