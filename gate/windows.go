package gate

import (
	"errors"
	"io"
	"slices"

	"servesim/analysis"
	"servesim/scenario"
	"servesim/sim"
	"servesim/sim/workload"
)

// requests hands the requests of p to each, in order, until it returns false.
func requests(p *scenario.Plan, each func(*workload.Request) bool) error {
	in, err := p.Open()
	if err != nil {
		return err
	}
	for {
		q, err := in.Source.Next()
		if errors.Is(err, io.EOF) || err == nil && !each(&q) {
			return workload.CloseSource(in.Source)
		}
		if err != nil {
			return errors.Join(err, workload.CloseSource(in.Source))
		}
	}
}

// prompts refuses a workload whose first prompts are all as long.
func (r *reader) prompts(p *scenario.Plan) error {
	var lengths []int32
	err := requests(p, func(q *workload.Request) bool {
		lengths = append(lengths, q.Prompt)
		return len(lengths) < LeastRequests
	})
	if n := len(lengths); n > 1 && slices.Min(lengths) == slices.Max(lengths) {
		r.refuse("scenario", "identical prompts: each has %s, so that no long one ever stalls the others, as happens to users; give prompt a distribution, such as that of preset azure-chat", analysis.Counted(int64(lengths[0]), "token"))
	}
	return err
}

// windows cuts the time of a workload with a trace, from its first request to its last
// or what the scenario's own window is, into one stretch for each run.
func (r *reader) windows(p *scenario.Plan) {
	g, t := r.gate, &p.Scenario.Transform
	if s := p.Scenario.Run.Horizon; s != nil {
		r.refuse("scenario", "run.horizon, %v, ends each run at once where windows of a trace are run; take it out, and cut the trace by transform.to", *s)
		return
	}
	last, n := sim.Time(0), int64(0)
	err := requests(p, func(q *workload.Request) bool {
		last, n = q.Arrival, n+1
		return true
	})
	if err != nil {
		r.err(err)
		return
	}
	if t.From != nil {
		g.from = *t.From
	}
	g.width = (sim.Duration(last) + 1 + sim.Duration(g.Runs) - 1) / sim.Duration(g.Runs)
	least := int64(g.Runs) * LeastRequests
	if first := g.Levels[0]; float64(n)*first.Share < 100*float64(least) {
		r.refuse("scenario", "the trace has %s, of which %s %% in %d windows leave fewer than %d each; give a longer one, or draw requests from lengths and arrivals like those of it",
			analysis.Counted(n, "request"), number(first.Share), g.Runs, LeastRequests)
	}
}
