package workload

import (
	"embed"
	"fmt"
	"strings"

	"servesim/internal/strict"
)

//go:embed presets/*.toml
var presetFiles embed.FS

// Preset is a workload that is embedded in the binary.
type Preset struct {
	// Name is what Spec.Preset takes.
	Name string
	// Description is one line on what it is.
	Description string
	// Text is the preset's file: a Spec in TOML, with the source and licence
	// of its numbers in comments.
	Text string
}

// Presets returns all presets in the order of their names. A new preset is one
// file in presets, whose first line is a comment that describes it.
func Presets() []Preset {
	var list []Preset
	entries, _ := presetFiles.ReadDir("presets") // embedded, so it is there
	for _, e := range entries {
		text, _ := presetFiles.ReadFile("presets/" + e.Name())
		first, _, _ := strings.Cut(string(text), "\n")
		list = append(list, Preset{
			Name:        strings.TrimSuffix(e.Name(), ".toml"),
			Description: strings.TrimPrefix(first, "# "),
			Text:        string(text),
		})
	}
	return list
}

// Resolve returns s with the keys that it does not give taken from its preset,
// by the rules that Spec states, and without Preset. The error is a *SpecFault
// and lists the presets if there is none of that name.
func (s Spec) Resolve() (Spec, error) {
	if s.Preset == "" {
		return s, nil
	}
	var names []string
	for _, p := range Presets() {
		if p.Name != s.Preset {
			names = append(names, p.Name)
			continue
		}
		base, err := ParseSpec("presets/"+p.Name+".toml", p.Text)
		if err != nil {
			return Spec{}, err
		}
		if err := s.keepsClasses(base); err != nil {
			return Spec{}, err
		}
		return s.over(base), nil
	}
	return Spec{}, &SpecFault{"preset", fmt.Sprintf("is %q, which is unknown; %s", s.Preset, strict.Unlike(s.Preset, names))}
}

// keepsClasses reports as a fault that a length of s would not reach a class
// of base that has its own.
func (s Spec) keepsClasses(base Spec) error {
	if s.Classes != nil {
		return nil
	}
	for _, k := range base.Classes {
		const problem = "would not change class %q of the preset, which has its own; give classes too (classes = [] for none)"
		if s.Prompt != nil && k.Prompt != nil {
			return &SpecFault{"prompt", fmt.Sprintf(problem, k.Name)}
		}
		if s.Output != nil && k.Output != nil {
			return &SpecFault{"output", fmt.Sprintf(problem, k.Name)}
		}
	}
	return nil
}

// over returns base with the keys that s gives.
func (s Spec) over(base Spec) Spec {
	if s.Requests != nil || s.Duration != nil {
		base.Requests, base.Duration = s.Requests, s.Duration
	}
	if s.Arrival != nil || s.ClosedLoop != nil {
		base.Arrival, base.ClosedLoop, base.RatePerS = s.Arrival, s.ClosedLoop, nil
	}
	if s.RatePerS != nil {
		base.RatePerS = s.RatePerS
	}
	if s.Prompt != nil {
		base.Prompt = s.Prompt
	}
	if s.Output != nil {
		base.Output = s.Output
	}
	if s.Classes != nil {
		base.Classes = s.Classes
	}
	if s.Cancel != nil {
		base.Cancel = s.Cancel
	}
	return base
}
