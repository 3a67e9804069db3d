package explain

import (
	"cmp"
	"errors"
	"fmt"
	"slices"
	"strings"

	"servesim/sim"
	"servesim/sim/observe"
)

// Orders lists what the slowest requests can be found by.
func Orders() []string { return []string{"ttft", "tpot", "itl", "e2e"} }

// A Choice says whose lives are told.
type Choice struct {
	// Requests are by ID.
	Requests []int64
	// Worst are some of Orders, and Number how many of the slowest by each.
	Worst  []string
	Number int
}

// Check returns what is wrong with c.
func (c *Choice) Check() error {
	var faults []error
	for _, by := range c.Worst {
		if !slices.Contains(Orders(), by) {
			faults = append(faults, fmt.Errorf("--worst: unknown metric %q; the metrics are ttft, tpot, itl (its longest gap), e2e", by))
		}
	}
	if len(c.Worst) > 0 && (c.Number < 1 || c.Number > mostLives) {
		faults = append(faults, fmt.Errorf("--number %d: from 1 to %d lives are told", c.Number, mostLives))
	}
	if len(c.Requests) > mostLives {
		faults = append(faults, fmt.Errorf("--request: %d lives; at most %d are told", len(c.Requests), mostLives))
	}
	return errors.Join(faults...)
}

// mostLives is the most lives that are told by one question.
const mostLives = 100

// slowness returns what the slowest requests are found by; ok is false for one that
// has none of it.
func slowness(r *observe.Request, by string) (d sim.Duration, ok bool) {
	if r.Outcome != observe.Completed {
		return 0, false
	}
	switch by {
	case "ttft":
		return r.First.Sub(r.Arrival), true
	case "e2e":
		return r.Last.Sub(r.Arrival) + r.Response, true
	case "itl":
		return r.MaxGap, r.Output > 1
	}
	if r.Output < 2 {
		return 0, false
	}
	return r.Last.Sub(r.First) / sim.Duration(r.Output-1), true
}

// A picked is a request that a picker chose.
type picked struct {
	id         int64
	replica    int32
	slow       sim.Duration
	since, end sim.Time
}

// A picker is an observe.Sink that finds the requests of a Choice that are named by ID,
// and keeps the length of every prompt. Its slowest finds the others.
type picker struct {
	choice  Choice
	worst   [][]picked // by each of the choice's orders, the slowest first
	named   []picked
	prompts map[int64]int32
}

// Request implements observe.Sink.
func (p *picker) Request(r *observe.Request) error {
	p.prompts[r.ID] = r.Prompt
	one := picked{id: r.ID, replica: r.Replica, since: r.Arrival, end: r.End}
	if slices.Contains(p.choice.Requests, r.ID) {
		p.named = append(p.named, one)
	}
	return nil
}

// A slowest is an observe.Sink that finds the slowest requests of a picker: among those
// that come after the warm-up, which figures are of.
type slowest struct{ *picker }

// Request implements observe.Sink.
func (s slowest) Request(r *observe.Request) error {
	p := s.picker
	one := picked{id: r.ID, replica: r.Replica, since: r.Arrival, end: r.End}
	for k, by := range p.choice.Worst {
		if k == len(p.worst) {
			p.worst = append(p.worst, nil)
		}
		var ok bool
		if one.slow, ok = slowness(r, by); !ok {
			continue
		}
		list := p.worst[k]
		i, _ := slices.BinarySearchFunc(list, one, func(a, b picked) int {
			return cmp.Or(cmp.Compare(b.slow, a.slow), cmp.Compare(a.id, b.id))
		})
		if i < p.choice.Number {
			list = slices.Insert(list, i, one)
			p.worst[k] = list[:min(len(list), p.choice.Number)]
		}
	}
	return nil
}

// Step implements observe.Sink.
func (p *picker) Step(*observe.StepRun) error { return nil }

// found returns the requests in the order in which they are told: by ID as given,
// then the slowest first, each once. The error says which ID the run doesn't have.
func (p *picker) found() (list []picked, err error) {
	for _, id := range p.choice.Requests {
		i := slices.IndexFunc(p.named, func(q picked) bool { return q.id == id })
		if i < 0 {
			return nil, fmt.Errorf("--request %d: the run has no such request; requests are numbered from 0 in order of arrival, and this run has %d", id, len(p.prompts))
		}
		if !has(list, id) {
			list = append(list, p.named[i])
		}
	}
	for _, w := range slices.Concat(p.worst...) {
		if !has(list, w.id) {
			list = append(list, w)
		}
	}
	if len(list) == 0 {
		return nil, fmt.Errorf("--worst %s: no request of the run completed that has one", strings.Join(p.choice.Worst, ","))
	}
	return list, nil
}

// has tells whether list has a request.
func has(list []picked, id int64) bool {
	return slices.ContainsFunc(list, func(q picked) bool { return q.id == id })
}
