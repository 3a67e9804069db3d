package report

import (
	"servesim/analysis"
	"servesim/sim"
)

// A statistic is the mean or a percentile of a distribution, with its interval.
type statistic struct {
	name     string
	value    sim.Duration
	interval analysis.Interval
}

// statistics returns the mean and the percentiles of d, none without data.
func statistics(d *analysis.Distribution) []statistic {
	if !d.OK {
		return nil
	}
	list := []statistic{{"mean", d.Mean, d.MeanInterval}}
	for _, q := range d.Quantiles {
		list = append(list, statistic{q.P.String(), q.Value, q.Interval})
	}
	return list
}
