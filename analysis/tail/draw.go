package tail

import (
	"fmt"
	"math/rand/v2"

	"servesim/analysis"
	"servesim/internal/portable"
	"servesim/sim"
	"servesim/sim/observe"

	"gonum.org/v1/gonum/stat/distuv"
)

// draw draws answers of the length of a and sets what isn't exact of it.
func (o *Options) draw(a *Answer) error {
	limits := make([]NamedSLO, 0, len(o.Limits)+len(o.SLOs))
	if !a.Exact {
		for _, l := range o.Limits {
			limits = append(limits, NamedSLO{Limits: analysis.Goodput{{Objective: analysis.TPOT, Max: l}}})
		}
	}
	within := len(limits)
	limits = append(limits, o.SLOs...)
	good := make([]int64, len(limits))
	tallies := make([]analysis.Tally, len(limits))
	var tpot analysis.Sample
	src := o.Seed.Stream(fmt.Sprintf("tail %d", a.Gaps))
	for i := range o.Draws {
		r := o.answer(src, i, a.Gaps)
		tpot.Add(sim.Duration((uint64(r.Last.Sub(r.First)) + uint64(a.Gaps)/2) / uint64(a.Gaps)))
		for k := range limits {
			met := limits[k].Limits.Good(&r)
			tallies[k].Add(met)
			if met {
				good[k]++
			}
		}
	}
	if !a.Exact {
		a.TPOT = tpot.Distribution(o.Percentiles).Quantiles
	}
	for k := range limits {
		s := Share{float64(good[k]) / float64(o.Draws), tallies[k].Interval(float64(o.Draws))} // draws are independent
		if k < within {
			a.Within = append(a.Within, s)
		} else {
			a.Good = append(a.Good, s)
		}
	}
	return nil
}

// answer draws answer i, of n gaps, as the record of a request that came at 0.
func (o *Options) answer(src *rand.PCG, i, n int64) observe.Request {
	r := observe.Request{
		ID: i, Outcome: observe.Completed, Output: int32(n + 1), Wanted: int32(n + 1),
		First: sim.Time(0).Add(o.TTFT), Last: sim.Time(0).Add(o.TTFT),
	}
	for range n {
		gap := o.Population.gap(src)
		r.Last = r.Last.Add(gap)
		r.MaxGap = max(r.MaxGap, gap)
	}
	r.End = r.Last
	return r
}

// gap draws a gap.
func (p *Population) gap(src *rand.PCG) sim.Duration {
	u := float64(src.Uint64()>>11) / (1 << 53)
	part := &p.Parts[len(p.Parts)-1]
	for i := range p.Parts {
		if u -= p.Parts[i].Share; u < 0 {
			part = &p.Parts[i]
			break
		}
	}
	if part.Sigma == 0 {
		return part.Median
	}
	z := distuv.Normal{Mu: 0, Sigma: 1, Src: src}.Rand()
	return min(maxGap, sim.Duration(float64(float64(part.Median)*portable.Exp(float64(z*part.Sigma)))+0.5))
}
