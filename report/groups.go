package report

import "servesim/analysis"

// byOutput is the table of latencies by output tokens: of those that an answer's
// length has a part in, which the wait for its first token is not.
func (p *page) byOutput(r *analysis.Report) {
	if len(r.ByOutput) == 0 || !r.TTFT.OK {
		return
	}
	p.groups(r, "output tokens", r.ByOutput, []string{"e2e", "tpot"})
	p.line("")
}

// byClass are the tables of latencies and of goodput by class.
func (p *page) byClass(r *analysis.Report) {
	if len(r.ByClass) == 0 {
		return
	}
	if r.TTFT.OK {
		p.groups(r, "class", r.ByClass, []string{"ttft", "tpot", "max_gap", "e2e"})
		p.line("")
	}
	t := table{left: 1}
	head := []string{"By class", "requests", "completed", "prompt tokens", "output tokens"}
	if r.Goodput != nil {
		head = append(head, "good", "share")
	}
	t.add(head...)
	for i := range r.ByClass {
		g := &r.ByClass[i]
		row := []string{"  " + g.Title(), analysis.Grouped(g.Requests), analysis.Grouped(g.Completed), analysis.Grouped(g.PromptTokens), analysis.Grouped(g.OutputTokens)}
		if r.Goodput != nil {
			row = append(row, analysis.Grouped(g.Good), Percent(float64(g.Good)/float64(g.Requests)))
		}
		t.add(row...)
	}
	t.write(p)
	p.line("")
}

// groups is a table of the metrics with these keys, by group of a kind.
func (p *page) groups(r *analysis.Report, by string, groups []analysis.Group, keys []string) {
	ps := percentiles(r.Metrics())
	t := table{left: 2}
	t.add(latencyHead(ps, "Latency, ms", by)...)
	for _, key := range keys {
		name := "" // said once
		for i := range groups {
			for _, m := range groups[i].Metrics(r) {
				if m.Key != key {
					continue
				}
				if i == 0 {
					name = m.Name
				}
				t.add(latencyRow(m.Distribution, len(ps), name, groups[i].Title())...)
				name = ""
			}
		}
	}
	t.write(p)
}
