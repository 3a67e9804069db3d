package scenario

import (
	"reflect"
	"slices"
	"strings"

	"servesim/internal/strict"
	"servesim/sim/scheduler"
)

// EngineDefault is an option of an engine version and its default on a machine.
type EngineDefault struct {
	// Option is the key below engine, Unit and Meaning are what ListKeys says of it.
	Option, Unit, Meaning string
	// Value is the default as a scenario file has it. It is "" where the default
	// follows from more than the GPU and the model: Rule says from what.
	Value, Rule string
	// From says what the value follows from, File is the file of the engine that
	// holds it, or "".
	From, File string
}

// EngineDefaults returns the options that version p has, with their defaults on a
// GPU for a model, both by name or path, as a scenario without these options is
// settled. The error is a UsageError.
func EngineDefaults(p scheduler.Preset, gpuName, model string) ([]EngineDefault, error) {
	s := &Scenario{}
	s.Engine.Policy, s.Hardware.GPU, s.Model.Name = p.Name, gpuName, model
	if _, faults := s.Layout(p); len(faults) > 0 {
		return nil, FaultsError(faults)
	}
	values := map[string]string{}
	for _, pair := range strict.Pairs(s.Engine) {
		key, value, _ := strings.Cut(pair, " = ")
		values[key] = value
	}
	helps := keyHelps()
	var list []EngineDefault
	for _, key := range strict.Keys(reflect.TypeFor[EngineSection]()) {
		value, settled := values[key]
		if key == "policy" || !settled && !takes(p, key) {
			continue
		}
		h := helps["engine."+key]
		d := EngineDefault{Option: key, Unit: strings.Trim(h.unit, "-"), Meaning: h.meaning, Value: value, File: p.Source.DefaultOf(key)}
		if rule := derived(p, key); rule != "" {
			d.Value, d.Rule = "", rule
		} else if settled {
			d.From = s.Engine.note(key)
		} else {
			d.Rule = h.def
		}
		list = append(list, d)
	}
	return list, nil
}

// takes tells that version p has the option key.
func takes(p scheduler.Preset, key string) bool {
	kind, _ := strict.KindOf(reflect.TypeFor[EngineSection](), key)
	samples := map[string]any{"whole": int64(1), "number": 1.0, "bool": true, "string": "NONE"}
	var e EngineSection
	strict.Decode(map[string]any{key: samples[kind]}, &e, func(string) string { return "" })
	return !slices.ContainsFunc(e.lacking(p), func(f strict.Fault) bool { return f.Key == "engine."+key })
}
