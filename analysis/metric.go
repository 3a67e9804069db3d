package analysis

// Metric is a named distribution of a Report.
type Metric struct {
	// Name is what tables call it and Key what files do.
	Name, Key string
	// Definition says what it is, in terms of a request's record.
	Definition string
	// Part tells that it is a part of the metric before it that is none.
	Part bool
	*Distribution
}

// Metrics lists the distributions of r in the order of tables, the parts of
// TTFT after it, without those of which the records don't tell.
func (r *Report) Metrics() []Metric {
	ttft := "first token - arrival, = network + queue + prefill; completed requests"
	if r.Unseen.Engine {
		ttft = "first token - arrival; completed requests"
	}
	return r.Unseen.seen([]Metric{
		{"TTFT", "ttft", ttft, false, &r.TTFT},
		{"network", "network", "sent - arrival", true, &r.Network},
		{"queue", "queue", "scheduled - sent", true, &r.Queue},
		{"prefill", "prefill", "first token - scheduled", true, &r.Prefill},
		{"TPOT", "tpot", "(last token - first token) / (output - 1), one value a request with output >= 2", false, &r.TPOT},
		{"ITL", "itl", "time between two successive tokens, one value a gap, all requests", false, &r.ITL},
		{"worst gap", "max_gap", "longest ITL of a request, one value a request with output >= 2", false, &r.MaxGap},
		{"E2E", "e2e", "last token - arrival + network of the answer; completed requests", false, &r.E2E},
	})
}

// Title is what tables call g: its name, or words for what has none.
func (g *Group) Title() string {
	switch {
	case g.Rest:
		return "other classes"
	case g.Name == "":
		return "no class"
	}
	return g.Name
}

// Metrics lists the distributions of g as Report.Metrics does those of all.
func (g *Group) Metrics(of *Report) []Metric {
	byKey := map[string]*Distribution{"ttft": &g.TTFT, "tpot": &g.TPOT, "max_gap": g.MaxGap, "e2e": &g.E2E}
	var list []Metric
	for _, m := range of.Metrics() {
		if d := byKey[m.Key]; d != nil {
			m.Distribution = d
			list = append(list, m)
		}
	}
	return list
}
