package gate

import (
	"math"

	"servesim/analysis"
	"servesim/analysis/dialect"
	"servesim/sim"
	"servesim/sim/observe"
)

// An observer is an observe.Sink that keeps of one run what a gate needs beside its
// analysis.Replication.
type observer struct {
	limits         analysis.Goodput
	requests, good int64
	each           []analysis.LimitAttainment
	queue, ttft    float64 // sums, in seconds
	prompt         int32   // of the first request
	differ         bool    // another one has another prompt
	print          uint64  // of every request; runs that share it are copies
	first, last    sim.Time
}

// fnvPrime is that of the 64-bit FNV-1a hash, which takes in whole numbers here
// (Fowler, Noll and Vo, www.isthe.com/chongo/tech/comp/fnv).
const fnvPrime = 1099511628211

// newObserver returns an observer of no request.
func newObserver(limits analysis.Goodput) *observer {
	return &observer{limits: limits, each: make([]analysis.LimitAttainment, len(limits)), first: observe.Never}
}

// Request implements observe.Sink.
func (o *observer) Request(r *observe.Request) error {
	if o.requests == 0 {
		o.prompt = r.Prompt
	}
	o.requests++
	o.differ = o.differ || r.Prompt != o.prompt
	if o.first == observe.Never || r.Arrival < o.first {
		o.first = r.Arrival
	}
	o.last = max(o.last, r.Arrival)
	for _, x := range []int64{int64(r.Arrival), int64(r.First), int64(r.Last), int64(r.Prompt), int64(r.Output)} {
		o.print = (o.print ^ uint64(x)) * fnvPrime
	}
	missed, at := 0, 0
	for i, l := range o.limits {
		if !l.Scope.Holds(r) {
			continue
		}
		o.each[i].Requests++
		if (analysis.Goodput{l}).Good(r) {
			o.each[i].Met++
		} else {
			missed, at = missed+1, i
		}
	}
	if r.Outcome != observe.Completed {
		return nil
	}
	switch missed {
	case 0:
		o.good++
	case 1:
		o.each[at].MissedOnly++
	}
	o.queue += r.Scheduled.Sub(r.Sent).Seconds()
	o.ttft += r.First.Sub(r.Arrival).Seconds()
	return nil
}

// Step implements observe.Sink.
func (o *observer) Step(*observe.StepRun) error { return nil }

// rate returns the rate at which requests came, a second; NaN of fewer than two or of
// those that came at once.
func (o *observer) rate() float64 {
	if span := o.last.Sub(o.first); o.requests > 1 && span > 0 {
		return float64(o.requests-1) / span.Seconds()
	}
	return math.NaN()
}

// A run is what one run says.
type run struct {
	*observer
	pool       *analysis.Replication
	figures    []dialect.Value
	tool       *dialect.Grade
	overloaded bool
	outside    float64 // share of steps outside the fitted range
}

// newRun returns a run of no request.
func (g *Gate) newRun() *run {
	return &run{observer: newObserver(g.SLO.Goodput), pool: analysis.NewReplication(g.SLO, g.Runs)}
}

// row puts the runs at a load together.
func (g *Gate) row(level Level, runs []*run, clock bool) Row {
	row := Row{Level: level, Binding: -1, Clock: clock, Each: make([]analysis.LimitAttainment, len(g.SLO.Goodput))}
	var pools []*analysis.Replication
	var queue, ttft, span float64
	for _, r := range runs {
		span += r.last.Sub(r.first).Seconds()
		pools = append(pools, r.pool)
		row.Shares = append(row.Shares, float64(r.good)/float64(r.requests))
		queue, ttft = queue+r.queue, ttft+r.ttft
		if r.overloaded {
			row.Overloaded++
		}
		for i, e := range r.each {
			row.Each[i].Requests += e.Requests
			row.Each[i].Met += e.Met
			row.Each[i].MissedOnly += e.MissedOnly
		}
	}
	row.QueueShare, row.Span = queue/ttft, span/float64(len(runs)) // NaN of nothing
	most := int64(0)
	for i, e := range row.Each {
		if missed := e.Requests - e.Met; missed > most {
			row.Binding, most = i, missed
		}
	}
	row.Pool = analysis.Replicate(pools, g.Percentiles)
	row.Figures, row.ToolGood = g.figures(runs), toolGood(runs)
	return row
}

// A Figure is a metric in the words of a gate's dialect.
type Figure struct {
	// Key and Label are the tool's names of it, Unit what it prints it in.
	Key, Label, Unit string
	// Values are its percentiles, in the order of the gate's: what the tool says of a
	// run, the mean over runs with its 95 % interval.
	Values []analysis.Rate
	// Need says what the runs would have to know for it; Values is then empty.
	Need string
}

// figures returns what the dialect's tool says of runs.
func (g *Gate) figures(runs []*run) []Figure {
	var list []Figure
	for i := range runs[0].figures {
		v := &runs[0].figures[i]
		f := Figure{Key: v.Metric.Key, Label: v.Metric.Label, Unit: string(v.Metric.Unit), Need: v.Need}
		for p := range g.Percentiles {
			var values []float64
			for _, r := range runs {
				x := math.NaN()
				if v := &r.figures[i]; v.OK && p < len(v.Quantiles) && !v.Quantiles[p].Unbounded {
					x = v.Metric.Unit.Of(v.Quantiles[p].Value)
				}
				values = append(values, x)
			}
			if f.Need == "" {
				f.Values = append(f.Values, analysis.RateOf(values))
			}
		}
		list = append(list, f)
	}
	return list
}

// toolGood returns the mean share of good requests by the dialect's rule, of all
// requests; NaN if it has none for them.
func toolGood(runs []*run) float64 {
	var total float64
	for _, r := range runs {
		if r.tool == nil || r.tool.Need != "" || r.tool.Of == 0 {
			return math.NaN()
		}
		total += float64(r.tool.Good) / float64(r.requests)
	}
	return total / float64(len(runs))
}
