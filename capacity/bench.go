package capacity

import (
	"context"

	"servesim/analysis"
)

// bench tries rates, each once.
type bench struct {
	load    *load
	slo     analysis.SLO
	options *Options
	ctx     context.Context
	trials  map[setup]*Trial
	// requests is the number of those simulated.
	requests int64
}

// setup is what is tried.
type setup struct {
	rate     float64
	replicas int64
}

// newBench returns a bench on which nothing was tried.
func newBench(ctx context.Context, l *load, slo analysis.SLO, o *Options) *bench {
	return &bench{load: l, slo: slo, options: o, ctx: ctx, trials: map[setup]*Trial{}}
}

// get returns the trial of rate requests/s on replicas engines.
func (b *bench) get(rate float64, replicas int64) (*Trial, error) {
	s := setup{rate, replicas}
	if t := b.trials[s]; t != nil {
		return t, nil
	}
	t, err := b.load.try(b.ctx, &b.slo, rate, replicas, b.options)
	if err != nil {
		return nil, err
	}
	b.trials[s] = t
	b.requests += t.Requests
	if b.options.Progress != nil {
		b.options.Progress(t)
	}
	return t, nil
}
