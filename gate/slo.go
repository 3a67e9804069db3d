package gate

import (
	"fmt"
	"slices"
	"strings"

	"servesim/analysis"
	"servesim/scenario"
)

// interactions lists the preset of limits for each type of interaction.
func interactions() [][2]string {
	return [][2]string{
		{"chat", "consumer-chat-70b"}, {"an assistant at work", "enterprise"}, {"voice", "voice"},
		{"a comparison of strict and loose", "tight, target or loose"},
	}
}

// offer says which presets there are to choose from.
func offer() string {
	var list []string
	for _, i := range interactions() {
		list = append(list, i[1]+" for "+i[0])
	}
	return fmt.Sprintf("give [slo] with limits = \"ttft <= 500ms, tpot <= 25ms\", or with a preset by type of interaction: %s (servesim list slos)", strings.Join(list, ", "))
}

// slo reads what users must get.
func (r *reader) slo() {
	g, s := r.gate, r.f.SLO
	var all analysis.SLO
	switch {
	case s != nil && (s.Preset != "" || len(s.Limits) > 0):
		var ok bool
		if all, ok = r.ownSLO(s); !ok {
			return
		}
	case g.plan != nil && len(g.plan.SLO.Goodput)+len(g.plan.SLO.Run) > 0:
		all, g.From = g.plan.SLO, "the scenario"
		r.displaced(all.MinGoodput, "the scenario")
	case r.f.Scenario != nil && g.plan == nil:
		return // whether it has limits isn't known, and what is wrong with it is told
	case len(r.f.Thresholds) > 0 && !slices.ContainsFunc(g.Thresholds, func(t Threshold) bool { return !t.throughput() }):
		r.refuse("threshold", "a gate on throughput alone passes while every user waits too long; say which requests are good, and keep the throughput beside it: %s", offer())
		return
	default:
		r.refuse("slo", "no SLO, so nothing says which requests are good; %s", offer())
		return
	}
	if len(all.Goodput) == 0 {
		r.refuse("slo", "%s limits percentiles of the run, and says of no request whether it is good; add limits on each, such as limits = %q", g.From, each(all.Run))
		return
	}
	if r.measured && limits(&all, analysis.Queue) {
		r.refuse("slo", "a limit is on queue, the wait in the engine, which clients can't see; limit ttft instead")
		return
	}
	all.MinGoodput = &g.Class.Target
	g.SLO = all
}

// limits tells whether s has a limit on o.
func limits(s *analysis.SLO, o analysis.Objective) bool {
	return slices.ContainsFunc(s.Goodput, func(l analysis.Limit) bool { return l.Objective == o }) ||
		slices.ContainsFunc(s.Run, func(l analysis.RunLimit) bool { return l.Objective == o })
}

// each writes limits on percentiles as limits on each request.
func each(run []analysis.RunLimit) string {
	var s analysis.SLO
	for _, l := range run {
		if l.Objective != analysis.ITL {
			s.Goodput = append(s.Goodput, l.Limit)
		}
	}
	if len(s.Goodput) == 0 {
		return "ttft <= 500ms, tpot <= 25ms"
	}
	return s.String()
}

// ownSLO reads the limits of the gate file.
func (r *reader) ownSLO(s *sloSection) (all analysis.SLO, ok bool) {
	before := len(r.faults)
	var from []string
	if s.Preset != "" {
		preset, err := analysis.FindSLO(s.Preset)
		if err != nil {
			r.fault("slo.preset", "%v", err)
		}
		all, from = preset.SLO, append(from, "preset "+s.Preset)
		r.displaced(all.MinGoodput, "preset "+s.Preset)
	}
	if len(s.Limits) > 0 {
		own, err := analysis.ParseSLO(strings.Join(s.Limits, "\n"))
		if err != nil {
			for _, f := range scenario.FaultsOf("slo.limits", err) {
				r.fault(f.Key, "%s", f.Text)
			}
		}
		if p := own.MinGoodput; p != nil && r.gate.Class.Name != "" && *p != r.gate.Class.Target {
			r.fault("slo.limits", "contradicts the class: %s is %s, and limits ask for %s; leave goodput out of limits", r.gate.Class.Name, r.gate.Class.limit(), (&analysis.SLO{MinGoodput: p}).String())
		}
		all, from = own.Over(all), append(from, "the gate's limits")
	}
	r.gate.From = strings.Join(from, " and ")
	return all, len(r.faults) == before
}

// displaced notes that the class takes the place of the least goodput of other limits.
func (r *reader) displaced(p *analysis.Percentile, of string) {
	if c := &r.gate.Class; p != nil && c.Name != "" && *p != c.Target {
		r.note("class %s asks for %s, in the place of %s of %s", c.Name, c.limit(), (&analysis.SLO{MinGoodput: p}).String(), of)
	}
}
