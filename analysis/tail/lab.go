package tail

import (
	"errors"
	"fmt"
	"math"
	"slices"

	"servesim/analysis"
	"servesim/sim"
)

// Options say what is worked out of a population.
type Options struct {
	Population *Population
	// Percentiles of gaps and answers, ascending; analysis.DefaultPercentiles if empty.
	Percentiles []analysis.Percentile
	// Answers are the numbers of gaps of an answer, each at least 1; those of
	// DefaultAnswers if empty.
	Answers []int64
	// Limits on TPOT, each the longest that is still good; DefaultLimits if empty.
	Limits []sim.Duration
	// SLOs are named limits on whole answers, whose first token comes after TTFT.
	SLOs []NamedSLO
	TTFT sim.Duration
	// Draws is the number of answers of each length that are drawn.
	Draws int64
	Seed  sim.Seed
}

// NamedSLO is the limits that an answer must meet, all at once, and what to call them.
type NamedSLO struct {
	Name   string
	Limits analysis.Goodput
}

// DefaultAnswers returns 10, 50 and 200 gaps, and all those of a population of counts.
func DefaultAnswers(p *Population) []int64 {
	list := []int64{10, 50, 200}
	if p.Total > 0 && p.Total <= maxAnswer && !slices.Contains(list, p.Total) {
		list = append(list, p.Total)
	}
	slices.Sort(list)
	return list
}

// DefaultLimits returns TPOT limits from 30 down to 15 ms.
func DefaultLimits() []sim.Duration {
	var list []sim.Duration
	for ms := sim.Duration(30); ms >= 15; ms -= 3 {
		list = append(list, ms*sim.Millisecond)
	}
	return list
}

// The most that may be asked for.
const (
	maxAnswer = 1_000_000
	maxWork   = 1_000_000_000 // gaps drawn
)

// Lab is what a population says.
type Lab struct {
	Options Options
	// Mean and Deviation are those of the gaps in ps, and Gaps their percentiles.
	Mean, Deviation float64
	Gaps            []sim.Duration
	// Answers are by length.
	Answers []Answer
}

// Answer is what answers of one length say.
type Answer struct {
	// Gaps is the number of gaps, one less than that of tokens.
	Gaps int64
	// Spiked is the share of answers with a gap of the slowest part.
	Spiked float64
	// Exact tells that TPOT and Within have closed forms; otherwise they are drawn.
	// WorstGap always is exact.
	Exact bool
	// TPOT and WorstGap are percentiles over answers, with intervals where drawn.
	TPOT     []analysis.QuantileValue
	WorstGap []sim.Duration
	// Within is the share of answers within each of the limits on TPOT.
	Within []Share
	// Good is the share of answers that meet each of the SLOs, drawn.
	Good []Share
}

// Share is a share of answers; drawn ones have an interval, if there is one.
type Share struct {
	Share    float64
	Interval analysis.ShareInterval
}

// Run works out o. All faults of o are told at once.
func Run(o Options) (*Lab, error) {
	if err := o.settle(); err != nil {
		return nil, err
	}
	p := o.Population
	lab := &Lab{Options: o, Mean: p.Mean(), Deviation: p.deviation()}
	for _, at := range o.Percentiles {
		lab.Gaps = append(lab.Gaps, p.Quantile(at))
	}
	for _, n := range o.Answers {
		a := Answer{Gaps: n, Spiked: p.Spiked(n)}
		for _, at := range o.Percentiles {
			a.WorstGap = append(a.WorstGap, p.WorstOf(n, at))
		}
		m, exact := p.means(n)
		if a.Exact = exact; exact {
			for _, at := range o.Percentiles {
				a.TPOT = append(a.TPOT, analysis.QuantileValue{P: at, Value: m.quantile(at)})
			}
			for _, l := range o.Limits {
				a.Within = append(a.Within, Share{Share: m.within(l)})
			}
		}
		if !exact || len(o.SLOs) > 0 {
			if err := o.draw(&a); err != nil {
				return nil, err
			}
		}
		lab.Answers = append(lab.Answers, a)
	}
	return lab, nil
}

// settle sets what is absent and tells what is at fault.
func (o *Options) settle() error {
	if o.Population == nil || len(o.Population.Parts) == 0 {
		return errors.New("there is no population")
	}
	if len(o.Percentiles) == 0 {
		o.Percentiles = analysis.DefaultPercentiles()
	}
	if len(o.Answers) == 0 {
		o.Answers = DefaultAnswers(o.Population)
	}
	if len(o.Limits) == 0 {
		o.Limits = DefaultLimits()
	}
	var faults []error
	var work float64
	for _, n := range o.Answers {
		if n < 1 || n > maxAnswer {
			faults = append(faults, fmt.Errorf("an answer of %d gaps; it has from 1 to %d", n, maxAnswer))
		}
		work += float64(float64(n) * float64(o.Draws))
	}
	for _, at := range o.Percentiles {
		if at.Fraction() == 1 && !o.Population.fixed() {
			faults = append(faults, errors.New("a lognormal part has no longest gap; leave max out of the percentiles"))
		}
	}
	for _, l := range o.Limits {
		if l <= 0 || l > maxGap {
			faults = append(faults, fmt.Errorf("a TPOT limit of %v; it is above 0 and up to 1,000 s", l))
		}
	}
	if o.TTFT < 0 || o.TTFT > maxGap {
		faults = append(faults, fmt.Errorf("a first token after %v; it comes after 0 to 1,000 s", o.TTFT))
	}
	if o.Draws < 1 || work > maxWork && len(faults) == 0 {
		faults = append(faults, fmt.Errorf("%d answers drawn of each length are %s gaps; draw from 1 answer to %d gaps in all",
			o.Draws, analysis.Grouped(int64(math.Min(work, 1e18))), maxWork))
	}
	for _, s := range o.SLOs {
		if len(s.Limits) == 0 {
			faults = append(faults, fmt.Errorf("%s has no limit on each answer", s.Name))
		}
	}
	return errors.Join(faults...)
}
