package scenario

import (
	"fmt"

	"servesim/analysis"
	"servesim/internal/strict"
)

// SLOSection is what users must get.
type SLOSection struct {
	// Preset is the name of one of analysis.SLOPresets.
	Preset string `toml:"preset"`
	// Goodput is limits as analysis.ParseSLO reads them. They take the place of
	// those of the preset on the same thing.
	Goodput string `toml:"goodput"`
	// MinGoodput is the least share of good requests, from 0 to 1, below which
	// a run has missed what users must get.
	MinGoodput *float64 `toml:"min_goodput"`
}

// SLONames returns the names of the presets of limits.
func SLONames() []string {
	var names []string
	for _, item := range ListSLOs() {
		names = append(names, item[0])
	}
	return names
}

// ListSLOs lists the presets of limits, and a line about each.
func ListSLOs() [][2]string {
	presets, _ := analysis.SLOPresets() // embedded, and a test reads them
	var items [][2]string
	for _, p := range presets {
		items = append(items, [2]string{p.Name, p.Description})
	}
	return items
}

// settleSLO reads the limits: those of the preset, and the scenario's own.
func (p *Plan) settleSLO() []strict.Fault {
	s := &p.Scenario.SLO
	var faults []strict.Fault
	fault := func(key, format string, args ...any) {
		faults = append(faults, strict.Fault{Key: key, Text: fmt.Sprintf(format, args...)})
	}
	var all analysis.SLO
	if s.Preset != "" {
		preset, err := analysis.FindSLO(s.Preset)
		if err != nil {
			fault("slo.preset", "%v", err)
		}
		all = preset.SLO
	}
	if s.Goodput != "" {
		own, err := analysis.ParseSLO(s.Goodput)
		if err != nil {
			return append(faults, FaultsOf("slo.goodput", err)...)
		}
		if own.MinGoodput != nil && s.MinGoodput != nil {
			fault("slo.min_goodput", "slo.goodput gives the least share of good requests too; leave one out")
		}
		all = own.Over(all)
	}
	if m := s.MinGoodput; m != nil {
		share, ok := analysis.PercentileOf(*m)
		if !ok {
			fault("slo.min_goodput", "found %v; must be a share from 0 to 1", *m)
		}
		all.MinGoodput = &share
	}
	if all.MinGoodput != nil && len(all.Goodput) == 0 && len(faults) == 0 {
		key := "slo.min_goodput"
		if s.MinGoodput == nil {
			key = "slo.goodput"
		}
		fault(key, "is a share of good requests, but nothing says which are good; set slo.goodput too, such as ttft <= 500ms, tpot <= 15ms")
	}
	if len(faults) > 0 {
		return faults
	}
	p.SLO = all
	if all.MinGoodput != nil {
		settle(&s.MinGoodput, all.MinGoodput.Fraction())
	}
	all.MinGoodput = nil
	s.Goodput = all.String()
	return nil
}
