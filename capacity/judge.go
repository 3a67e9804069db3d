package capacity

import (
	"math"

	"servesim/analysis"
	"servesim/sim"
)

// A Judgement says whether the limits hold at a rate.
type Judgement string

// The judgements.
const (
	// Holds and Fails: the 95 % intervals of a run leave no doubt.
	Holds Judgement = "holds"
	Fails Judgement = "fails"
	// Close: they do even of the longest run.
	Close Judgement = "too close to call"
)

// Limit is how a run did by one of the limits on it.
type Limit struct {
	analysis.Verdict
	// Holds tells that it is kept by its value, whatever its interval is.
	Holds bool
	// Used is what of the limit is used up: the percentile as a share of the longest
	// time allowed, or the share of requests that were not good as a share of that
	// allowed. Above 1 the limit is missed.
	Used float64
}

// settled tells whether v says without doubt that the limit is kept, or missed.
func settled(v *analysis.Verdict) (kept, missed bool) {
	sure := v.ShareInterval.OK || v.Value.Interval.OK || v.Value.Unbounded
	return sure && v.Judgement == analysis.Pass, sure && v.Judgement == analysis.Fail
}

// limits returns how verdicts on slo came about, but for those without data.
func limits(slo *analysis.SLO, verdicts []analysis.Verdict) []Limit {
	var list []Limit
	for i, v := range verdicts {
		if v.Judgement == analysis.NoData {
			continue
		}
		l := Limit{Verdict: v}
		if v.IsGoodput {
			share, _ := v.Share()
			l.Holds = share >= slo.MinGoodput.Fraction()
			l.Used = ratio(1-share, 1-slo.MinGoodput.Fraction())
		} else {
			most := slo.Run[i].Limit
			l.Holds = !v.Value.Unbounded && (v.Value.Value < most.Max || v.Value.Value == most.Max && !most.Strict)
			l.Used = used(&v, most.Max)
		}
		list = append(list, l)
	}
	return list
}

// used returns a percentile as a share of the longest time allowed.
func used(v *analysis.Verdict, most sim.Duration) float64 {
	if v.Value.Unbounded {
		return math.Inf(1)
	}
	return ratio(float64(v.Value.Value), float64(most))
}

// ratio returns a/b, which is +Inf if only b is 0.
func ratio(a, b float64) float64 {
	if b == 0 && a == 0 {
		return 0
	}
	return a / b
}

// binding returns the limit of which the most is used up, the first if several are
// as much, nil if there is none.
func binding(list []Limit) *Limit {
	var most *Limit
	for i := range list {
		if most == nil || list[i].Used > most.Used {
			most = &list[i]
		}
	}
	return most
}

// allHold tells whether every limit is kept by its value.
func allHold(list []Limit) bool {
	for i := range list {
		if !list[i].Holds {
			return false
		}
	}
	return true
}

// judge returns what limits, and whether the queue grew without end, say of a rate.
// last tells that there is no longer run to come.
func judge(list []Limit, overloaded, last bool) Judgement {
	all := true
	for i := range list {
		kept, missed := settled(&list[i].Verdict)
		if missed || overloaded && !list[i].Holds {
			return Fails
		}
		all = all && kept
	}
	switch {
	case all && !overloaded:
		return Holds
	case overloaded && last:
		return Fails
	}
	return Close
}
