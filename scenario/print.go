package scenario

import (
	"fmt"
	"slices"
	"strings"

	"servesim/internal/strict"
	"servesim/sim"
)

// Text returns the scenario of a settled plan as a TOML file that runs the same.
// What was given stands as it was given. A default that follows from other keys
// stands in a comment, so that it follows from them again if they change.
func (p *Plan) Text() string {
	s := *p.Scenario
	s.Workload.Merge = slices.Clone(s.Workload.Merge)
	for _, w := range s.Workload.Parts() {
		w.Preset = p.preset(w.Key)
		if w.RatePerS != nil && w.Arrival != nil {
			arrival := *w.Arrival
			arrival.RatePerS = w.RatePerS // as it is drawn, so that only one rate is told
			w.Arrival = &arrival
		}
	}
	if given, ok := p.document.value("slo.goodput"); ok {
		s.SLO.Goodput, _ = given.(string)
	}
	if s.Host.MixedStep == nil {
		s.Host.MixedStep = new(sim.Duration)
	}
	s.Memory = MemorySection{}
	lines := map[string]**int64{
		"weights": &s.Memory.Weights, "activations": &s.Memory.Activations, "context": &s.Memory.Context,
		"collectives": &s.Memory.Collectives, "graphs": &s.Memory.Graphs,
	}
	for _, i := range p.Ledger.Items {
		if line, ok := lines[i.Name]; ok {
			*line = &i.Bytes
		}
	}
	return strict.EncodeNoted(s, p.note)
}

// Given tells whether key was given to the scenario of p, in its file or by a
// setting; it has its default otherwise.
func (p *Plan) Given(key string) bool { return p.document.given(key) }

// preset returns the name of the preset that the workload in table is drawn from,
// or "".
func (p *Plan) preset(table string) string {
	x, _ := p.document.value(table + ".preset")
	name, _ := x.(string)
	return name
}

// note says what the value of key follows from, or nothing if it was given or has
// a default that is always the same.
func (p *Plan) note(key string) string {
	s := p.Scenario
	if p.document.given(key) {
		return ""
	}
	table, _, _ := cutLast(key)
	switch section, name, _ := strings.Cut(key, "."); {
	case section == "workload" && p.preset(table) != "":
		return "of preset " + p.preset(table)
	case section == "engine":
		return s.Engine.note(name)
	case section == "slo" && s.SLO.Preset != "":
		return "of preset " + s.SLO.Preset
	case key == "slo.min_goodput":
		return "in goodput"
	case key == "host.mixed_step":
		return "default: what the fit has for a step with prompt tokens isn't applied"
	case key == "host.engine":
		return fmt.Sprintf("default of %s on %s", s.Engine.Policy, p.Machine.Profile.Name)
	case section == "host":
		return fmt.Sprintf("fitted for %s on %s", s.Host.Engine, p.Machine.Profile.Name)
	case section == "memory":
		return "computed"
	case key == "network.request":
		return "default on every GPU: client, HTTP and tokenisation, a round figure that nobody calibrated"
	case key == "network.response" || section == "pool":
		return "default"
	}
	return ""
}

// note says what the default of an option follows from.
func (e *EngineSection) note(option string) string {
	switch option {
	case "max_num_batched_tokens", "max_num_seqs":
		return "default of " + e.Policy + " on this device"
	case "max_model_len":
		return "default: the model's max_position_embeddings"
	}
	return "default of " + e.Policy
}
