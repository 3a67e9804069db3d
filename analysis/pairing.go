package analysis

import (
	"cmp"
	"fmt"
	"slices"

	"servesim/sim"
	"servesim/sim/observe"
)

// pairedMetrics is the number of metrics that a Pairing keeps of a request.
const pairedMetrics = 4

// paired is what a Pairing keeps of a request. A value is -1 if there is none.
type paired struct {
	id      int64
	arrival sim.Time
	// values are TTFT, TPOT, worst gap and E2E in picoseconds.
	values  [pairedMetrics]int64
	outcome observe.Outcome
	good    bool
}

// Pairing is an observe.Sink that keeps the latencies of every request, 56
// bytes each, to compare them with those that the same request had in another run.
type Pairing struct {
	// Goodput is what makes a request good, if anything.
	Goodput Goodput
	list    []paired
}

// Request implements observe.Sink. Its errors are those of Summary.Request.
func (p *Pairing) Request(r *observe.Request) error {
	if err := checkRequest(r); err != nil {
		return err
	}
	e := paired{id: r.ID, arrival: r.Arrival, outcome: r.Outcome, values: [pairedMetrics]int64{-1, -1, -1, -1}}
	if r.Outcome == observe.Completed {
		e.good = p.Goodput.Good(r)
		e.values[0], e.values[3] = int64(r.First.Sub(r.Arrival)), int64(endToEnd(r))
		if tpot, ok := perToken(r); ok {
			e.values[1], e.values[2] = int64(tpot), int64(r.MaxGap)
		}
	}
	p.list = append(p.list, e)
	return nil
}

// Step implements observe.Sink.
func (p *Pairing) Step(*observe.StepRun) error { return nil }

// sort sorts the requests by ID and tells whether an ID came twice.
func (p *Pairing) sort() error {
	slices.SortFunc(p.list, func(a, b paired) int { return cmp.Compare(a.id, b.id) })
	for i := 1; i < len(p.list); i++ {
		if p.list[i].id == p.list[i-1].id {
			return fmt.Errorf("request %d has two records; requests can be paired only by an id of their own", p.list[i].id)
		}
	}
	return nil
}
