package capacity

import (
	"context"
	"math"

	"servesim/analysis"
	"servesim/internal/workers"
	"servesim/scenario"
	"servesim/sim/engine"
	"servesim/sim/observe"
	"servesim/sim/workload"
)

// A Trial is a rate that was simulated, and what came of it.
type Trial struct {
	// Rate is in requests/s.
	Rate     float64
	Replicas int64
	// Judgement is that by the intervals, and Holds whether every limit is kept: by
	// the judgement, and where that is too close to call by the values.
	Judgement Judgement
	Holds     bool
	// Overloaded tells that the queue grew as long as requests came.
	Overloaded bool
	Limits     []Limit
	// Runs is the number of runs, under seeds of their own, and Requests that of
	// their requests.
	Runs     int
	Requests int64
	// Report is that of the first run, and Outside the share of its steps that lie
	// outside the measurements that step times were fitted on.
	Report  *analysis.Report
	Outside float64
	// Pool is what all runs say together, nil if there is only one.
	Pool *analysis.Replicated

	runs []*analysis.Replication
}

// Binding returns the limit of which the most is used up, nil if there is none.
func (t *Trial) Binding() *Limit { return binding(t.Limits) }

// efforts returns the numbers of runs after which it is asked whether the limits
// hold, at most most.
func efforts(most int) []int {
	var list []int
	for n := analysis.FewestReplications; n < most; n *= 2 {
		list = append(list, n)
	}
	return append(list, most)
}

// alone tells whether all runs at rate would be the same one.
func (l *load) alone(rate float64) bool { return l.fixed && rate == l.rate }

// first simulates s under the first seed, for sinks too. It doesn't judge.
func (l *load) first(ctx context.Context, slo *analysis.SLO, s setup, o *Options, sinks ...observe.Sink) (*Trial, error) {
	t := &Trial{Rate: s.rate, Replicas: s.replicas}
	p := l.at(s.rate, s.replicas, o.Requests, 0)
	p.SLO = *slo
	rep := analysis.NewReplication(*slo, o.Runs)
	r, err := p.Simulate(ctx, scenario.Options{OutputEdges: []int32{}, Measured: append([]observe.Sink{rep}, sinks...)})
	if err != nil {
		return nil, err
	}
	t.Report, t.Outside, t.runs, t.Runs, t.Requests = r.Report, r.Outside, []*analysis.Replication{rep}, 1, r.Report.Counts.Requests
	// How a trace ends says nothing of what goes on without end.
	t.Overloaded = l.endless && r.Report.Saturation.State == analysis.Overloaded
	return t, nil
}

// try simulates rate requests/s on replicas engines until it is settled whether the
// limits hold, or o.Runs are done.
func (l *load) try(ctx context.Context, slo *analysis.SLO, rate float64, replicas int64, o *Options) (*Trial, error) {
	t, err := l.first(ctx, slo, setup{rate, replicas}, o)
	if err != nil {
		return nil, err
	}
	alone := l.alone(rate)
	first := 1 / float64(o.Runs)
	if alone {
		first = 1
	}
	t.judge(limits(slo, t.Report.Verdicts), first)
	if t.Judgement == Holds && t.Report.Saturation.State == analysis.Unsettled {
		t.Judgement = Close // its batches are yet to fill
	}
	for _, n := range efforts(o.Runs) {
		if t.Judgement != Close || alone {
			break
		}
		if err := t.more(ctx, l, slo, n, o); err != nil {
			return nil, err
		}
		t.judge(limits(slo, t.Pool.Verdicts), float64(n)/float64(o.Runs))
	}
	t.runs = nil
	return t, nil
}

// judge takes in what the limits say after a share of all the runs that there may be.
//
// Who looks at intervals again and again until one leaves no doubt is wrong more
// often than 5 times in 100. By O'Brien and Fleming (Biometrics 35, 1979) a look at a
// share of what will be known at last takes intervals that are 1/√share as wide.
func (t *Trial) judge(list []Limit, share float64) {
	t.Limits = list
	t.Judgement = judge(list, t.Overloaded, 1/math.Sqrt(share))
	t.Holds = t.Judgement == Holds || t.Judgement == Close && allHold(list)
}

// more makes the runs of t n, and pools them.
func (t *Trial) more(ctx context.Context, l *load, slo *analysis.SLO, n int, o *Options) error {
	have := len(t.runs)
	t.runs = append(t.runs, make([]*analysis.Replication, n-have)...)
	errs := make([]error, n)
	workers.Each(ctx, o.Jobs, n-have, func(i int) bool {
		i += have
		t.runs[i] = analysis.NewReplication(*slo, o.Runs)
		errs[i] = replay(ctx, l.at(t.Rate, t.Replicas, o.Requests, i), t.runs[i])
		return errs[i] == nil
	})
	t.Runs = n
	for _, err := range errs {
		if err != nil {
			return err
		}
	}
	if err := context.Cause(ctx); err != nil {
		return err
	}
	t.Pool = analysis.Replicate(t.runs, nil)
	t.Requests = t.Pool.Requests
	return nil
}

// replay runs p for sink, which gets what is measured.
func replay(ctx context.Context, p *scenario.Plan, sink observe.Sink) error {
	if p.Scenario.Run.WarmUp != nil {
		_, err := p.Simulate(ctx, scenario.Options{OutputEdges: []int32{}, Measured: []observe.Sink{sink}})
		return err
	}
	in, err := p.Open()
	if err != nil {
		return err
	}
	defer workload.CloseSource(in.Source)
	return engine.Run(ctx, p.Engine(in.Source, sink))
}
