package capacity

import (
	"errors"
	"fmt"
	"io"

	"servesim/scenario"
	"servesim/sim"
	"servesim/sim/workload"
)

// load is a workload whose rate can be changed.
type load struct {
	plan *scenario.Plan
	rate float64 // requests/s as the scenario has it
	// draws tells that every part is drawn, so that its rate is a parameter;
	// otherwise it is thinned or laid over itself.
	draws bool
	// endless tells that the drawn parts can be drawn for any length of time, and
	// cycle is that after which their rates repeat, 0 if they don't change.
	endless bool
	cycle   sim.Duration
	fixed   bool // a trace that is the same under every seed, at its own rate
}

// longest is the longest run, shorter than the 106 days that there are.
const longest = 100 * 24 * 3600 * sim.Second

// newLoad returns the load of p.
func newLoad(p *scenario.Plan) (*load, error) {
	l := &load{plan: p, draws: true, endless: true}
	t := &p.Scenario.Transform
	if t.From != nil || t.To != nil || t.Rate != nil || t.SplitFraction != nil || t.Stretch != nil || t.Limit != nil {
		l.draws = false
	}
	if h := p.Scenario.Run.Horizon; h != nil {
		return nil, usagef("run.horizon: found %v; it would end the runs at some rates before others, and what is unfinished counts as failed; take the line out", *h)
	}
	if d := p.Drill(); !d.Empty() {
		return nil, usagef("pool.failure, pool.rolling_restart: the highest rate is one of a steady state, which a drill is not; take them out, and run the answer with them afterwards (servesim run)")
	}
	traced := 0
	for _, w := range p.Scenario.Workload.Parts() {
		if w.Trace == scenario.StdinPath {
			return nil, usagef("%s.trace is standard input, which can be read only once, and every rate replays it; write it to a file first", w.Key)
		}
		if w.ClosedLoop != nil {
			return nil, usagef("%s.closed_loop: its users wait for their answers, so that it has no rate of its own to raise; give %s.arrival in its place", w.Key, w.Key)
		}
		mean, ok := w.MeanRate()
		if !ok {
			l.draws = false
			traced++
			continue
		}
		l.rate += mean
		if w.Arrival.Process != "piecewise" {
			continue
		}
		if w.Arrival.Repeat == nil || !*w.Arrival.Repeat {
			l.endless = false
			continue
		}
		l.cycle = max(l.cycle, *w.Arrival.Window*sim.Duration(len(w.Arrival.RatesPerS)))
	}
	if l.draws {
		return l, nil
	}
	l.endless, l.cycle = false, 0
	l.fixed = traced == len(p.Scenario.Workload.Parts()) && t.Rate == nil && t.SplitFraction == nil
	return l, l.measure()
}

// measure finds the rate of a workload by reading it: that with which it could be
// repeated, a mean gap coming after its end.
func (l *load) measure() error {
	in, err := l.plan.Open()
	if err != nil {
		return err
	}
	defer workload.CloseSource(in.Source)
	var first, last sim.Time
	n := 0
	for ; ; n++ {
		r, err := in.Source.Next()
		if err == io.EOF {
			break
		}
		if err != nil {
			var f *workload.Fault
			var t *workload.TransformFault
			if errors.As(err, &f) || errors.As(err, &t) {
				return &scenario.UsageError{Err: err}
			}
			return err
		}
		if n == 0 {
			first = r.Arrival
		}
		last = r.Arrival
	}
	if n < fewestRequests || last == first {
		return usagef("the workload has %d requests over %v, which is no rate that could be raised; it takes %d or more", n, last.Sub(first), fewestRequests)
	}
	l.rate = float64(n-1) / last.Sub(first).Seconds()
	return nil
}

// fewestRequests is the number of requests below which a workload is no load.
const fewestRequests = 100

// bounds returns the lowest and the highest rate that can be simulated.
func (l *load) bounds() (low, high float64) {
	if l.draws {
		return 0.001, 1e6
	}
	return l.rate / 1000, float64(l.rate * 256)
}

// at returns the plan under rate requests/s on replicas engines, with about
// requests requests if it is endless, under the seed that is replication after its
// own.
func (l *load) at(rate float64, replicas, requests int64, replication int) *scenario.Plan {
	by := scenario.Scale{Rate: rate / l.rate, Draws: l.draws, Replicas: replicas, Seed: *l.plan.Scenario.Seed + uint64(replication)}
	if l.endless {
		d, ok := sim.FromSeconds(float64(requests) / rate)
		if !ok || d > longest {
			d = longest
		}
		if l.cycle > 0 && l.cycle < longest {
			d = min((d+l.cycle-1)/l.cycle, longest/l.cycle) * l.cycle
		}
		by.Duration = d
	}
	return l.plan.Scaled(by)
}

// String says what is raised.
func (l *load) String() string {
	switch {
	case l.draws && l.cycle > 0:
		return fmt.Sprintf("drawn at each rate, whole cycles of %v", l.cycle)
	case l.draws:
		return "drawn at each rate"
	}
	return "thinned below its own rate, shifted copies laid over each other above"
}

// usagef returns a scenario.UsageError with a formatted text.
func usagef(format string, args ...any) error {
	return &scenario.UsageError{Err: fmt.Errorf(format, args...)}
}
