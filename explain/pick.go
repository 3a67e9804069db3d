package explain

import (
	"cmp"
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
	// Worst is one of Orders, or "", and Number how many of the slowest by it.
	Worst  string
	Number int
}

// Check returns what is wrong with c.
func (c *Choice) Check() error {
	switch {
	case c.Worst != "" && !slices.Contains(Orders(), c.Worst):
		return fmt.Errorf("--worst %s: is none of %s", c.Worst, strings.Join(Orders(), ", "))
	case c.Worst != "" && (c.Number < 1 || c.Number > 100):
		return fmt.Errorf("--number %d: from 1 to 100 lives are told", c.Number)
	case len(c.Requests) > 100:
		return fmt.Errorf("--request: %d lives; at most 100 are told", len(c.Requests))
	}
	return nil
}

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

// A picker is an observe.Sink that finds the requests of a Choice, and keeps the
// length of every prompt.
type picker struct {
	choice  Choice
	worst   []picked // the slowest first
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
	slow, ok := slowness(r, p.choice.Worst)
	if p.choice.Worst == "" || !ok {
		return nil
	}
	one.slow = slow
	i, _ := slices.BinarySearchFunc(p.worst, one, func(a, b picked) int {
		return cmp.Or(cmp.Compare(b.slow, a.slow), cmp.Compare(a.id, b.id))
	})
	if i < p.choice.Number {
		p.worst = slices.Insert(p.worst, i, one)
		p.worst = p.worst[:min(len(p.worst), p.choice.Number)]
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
	for _, w := range p.worst {
		if !has(list, w.id) {
			list = append(list, w)
		}
	}
	if len(list) == 0 {
		return nil, fmt.Errorf("--worst %s: no request of the run completed that has one", p.choice.Worst)
	}
	return list, nil
}

// has tells whether list has a request.
func has(list []picked, id int64) bool {
	return slices.ContainsFunc(list, func(q picked) bool { return q.id == id })
}
